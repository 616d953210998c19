from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("custody", "0018_next_folder"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="disposal",
            index=models.Index(condition=models.Q(("finished_at", None)), fields=["problem"], name="disposals_failing"),
        ),
    ]
