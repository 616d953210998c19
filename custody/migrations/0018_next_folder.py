from django.db import migrations, models
from django.db.models import F


def continue_searches(apps, schema_editor):
    """Continue each search where the earlier version stopped."""
    targets = apps.get_model("custody", "StorageTarget")._base_manager.using(schema_editor.connection.alias)
    targets.filter(folders_searched__gt=0, folders_searched__lt=256).update(next_folder=F("folders_searched"))


class Migration(migrations.Migration):
    dependencies = [
        ("custody", "0017_wording"),
    ]

    operations = [
        migrations.AddField(
            model_name="storagetarget",
            name="next_folder",
            field=models.PositiveSmallIntegerField(
                default=0,
                editable=False,
                help_text="The folder with which its search continues, round and round.",
            ),
        ),
        migrations.RunPython(continue_searches, migrations.RunPython.noop),
    ]
