from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("custody", "0014_inspections"),
    ]

    operations = [
        migrations.AddField(
            model_name="storagetarget",
            name="choices_made",
            field=models.PositiveIntegerField(
                default=0, editable=False, help_text="How often it was chosen. The bucket holds an object for each."
            ),
        ),
        migrations.AddField(
            model_name="storagetarget",
            name="folders_searched",
            field=models.PositiveSmallIntegerField(
                default=0,
                editable=False,
                help_text="Of 256: those that were compared with our rows since it was retired.",
            ),
        ),
    ]
