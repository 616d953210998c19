from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("notices", "0007_disposals")]

    operations = [
        migrations.AddField(
            "approval",
            "acknowledged",
            models.JSONField(
                help_text="The warnings that the approver acknowledged. None: from before there were warnings.",
                null=True,
            ),
        ),
    ]
