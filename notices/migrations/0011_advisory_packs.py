from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("notices", "0010_requests_to_be_told")]

    operations = [
        migrations.AddField(
            "noticesettings",
            "require_acknowledged",
            models.BooleanField(
                default=False, help_text="Approval under an advisory pack, too, acknowledges every open warning."
            ),
        ),
        migrations.AddField(
            "approval",
            "open_warnings",
            models.JSONField(
                help_text=(
                    "Warnings open at approval under an advisory pack, not acknowledged. None: from before it was kept."
                ),
                null=True,
            ),
        ),
    ]
