import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0010_sender_keys"),
        ("connectors", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="PollTurn",
            fields=[
                (
                    "organization",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="accounts.organization",
                    ),
                ),
                ("polled_at", models.DateTimeField()),
            ],
        ),
        migrations.AddIndex(
            model_name="connector",
            index=models.Index(
                condition=models.Q(("lease_until", None), _negated=True),
                fields=["lease_until"],
                name="connectors_leased",
            ),
        ),
    ]
