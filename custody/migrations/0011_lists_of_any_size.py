from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("custody", "0010_one_index_of_objects"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="entry",
            index=models.Index(
                condition=models.Q(("state", "queued")), fields=["organization", "received_at"], name="entries_to_sign"
            ),
        ),
        migrations.AddIndex(
            model_name="entry",
            index=models.Index(
                condition=models.Q(("state", "disposed")),
                fields=["organization", "-received_at", "-record_id"],
                name="entries_disposed",
            ),
        ),
    ]
