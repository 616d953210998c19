from django.db import migrations, models


def name_makers(apps, schema_editor):
    """From whom the key says made it; whose keys made the others, nobody has kept."""
    rows = apps.get_model("accounts", "ApiKey").objects
    for pk, created_by in rows.filter(created_by__startswith="member ").values_list("pk", "created_by"):
        rows.filter(pk=pk).update(maker=created_by.removeprefix("member "))


class Migration(migrations.Migration):
    dependencies = [("accounts", "0003_sign_in")]

    operations = [
        migrations.AddField(
            model_name="apikey",
            name="maker",
            field=models.CharField(
                blank=True,
                default="",
                help_text="Mail address of the member behind it, also where a key of theirs made it.",
                max_length=254,
            ),
            preserve_default=False,
        ),
        migrations.RunPython(name_makers, migrations.RunPython.noop),
    ]
