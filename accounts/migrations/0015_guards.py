import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0014_makers_of_members")]

    operations = [
        migrations.AddField(
            "organization",
            "loosenings",
            models.JSONField(default=dict, editable=False, help_text="Guards that will loosen: to what, and when."),
        ),
        migrations.CreateModel(
            name="LooseningMail",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("lease_token", models.UUIDField(editable=False, null=True)),
                ("lease_until", models.DateTimeField(editable=False, null=True)),
                ("attempts", models.PositiveIntegerField(default=0, editable=False)),
                ("next_try_at", models.DateTimeField(editable=False, null=True)),
                ("guard", models.CharField(max_length=200)),
                ("asked_by", models.CharField(max_length=300)),
                ("takes_effect_at", models.DateTimeField()),
                ("page", models.CharField(blank=True, max_length=200)),
                ("handled_at", models.DateTimeField(null=True)),
                (
                    "member",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.member"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("handled_at", None)), fields=["id"], name="loosenings_to_mail")
                ],
            },
        ),
    ]
