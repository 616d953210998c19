from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("connectors", "0004_waiting_polls")]

    operations = [
        migrations.AddIndex(
            model_name="connector",
            index=models.Index(
                condition=models.Q(("next_poll_at", None), _negated=True),
                fields=["organization", "next_poll_at"],
                name="connectors_due_by_owner",
            ),
        ),
    ]
