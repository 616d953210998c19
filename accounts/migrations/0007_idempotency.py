import django.db.models.deletion
from django.db import migrations, models
from django.db.models.functions import Length

MAX_KEY_NAME = 256


def cut_long_names(apps, schema_editor):
    """A name is a label; nothing is found by it."""
    rows = apps.get_model("accounts", "ApiKey").objects
    too_long = rows.annotate(length=Length("name")).filter(length__gt=MAX_KEY_NAME)
    for pk, name in too_long.values_list("pk", "name"):
        rows.filter(pk=pk).update(name=name[:MAX_KEY_NAME])


class Migration(migrations.Migration):
    dependencies = [("accounts", "0006_counters")]

    operations = [
        migrations.RunPython(cut_long_names, migrations.RunPython.noop),
        migrations.AlterField(
            model_name="apikey",
            name="name",
            field=models.CharField(blank=True, max_length=MAX_KEY_NAME),
        ),
        migrations.CreateModel(
            name="KeptAnswer",
            fields=[
                (
                    "slot",
                    models.CharField(
                        help_text="Of one caller, operation, path and key.",
                        max_length=64,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("sealed", models.TextField(help_text="What was asked and what was answered, encrypted.")),
                ("created_at", models.DateTimeField(db_index=True)),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.organization"
                    ),
                ),
            ],
        ),
    ]
