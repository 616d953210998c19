from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("notices", "0008_warnings")]

    operations = [
        migrations.AddField(
            "noticesettings",
            "sensitive_fields",
            models.JSONField(
                blank=True,
                default=list,
                help_text="Names of fields that letters withhold, beside those of the default list.",
            ),
        ),
        migrations.AddField(
            "noticesettings",
            "printable_fields",
            models.JSONField(
                blank=True,
                default=list,
                help_text="Names that the default list has and letters print all the same.",
            ),
        ),
        migrations.AddField(
            "noticesettings",
            "signatory",
            models.JSONField(blank=True, default=dict, help_text="Who signs letters: name, function and telephone."),
        ),
        migrations.AddField(
            "approval",
            "signatory",
            models.JSONField(
                help_text="Who signs the letter. None: from before letters were signed by somebody.", null=True
            ),
        ),
    ]
