import django.db.models.deletion
from django.db import migrations, models

# The indexes of these columns then find the beginning of a value, too. SQLite sorts by bytes anyway.
POSTGRESQL = """
ALTER TABLE decisions_decision ALTER COLUMN decision_id TYPE varchar(256) COLLATE "C";
ALTER TABLE decisions_decision ALTER COLUMN subject_reference TYPE varchar(256) COLLATE "C";
"""


def sort_by_bytes(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(POSTGRESQL)


class Migration(migrations.Migration):
    replaces = [
        ("decisions", "0001_initial"),
        ("decisions", "0002_reconsiderations"),
        ("decisions", "0003_reconsideration_proxy"),
        ("decisions", "0004_disposals"),
        ("decisions", "0005_keys_of_index_rows"),
        ("decisions", "0006_lists_of_any_size"),
    ]

    initial = True

    dependencies = [("accounts", "0001_squashed_0017_wording"), ("custody", "0001_squashed_0019_failing_disposals")]

    operations = [
        migrations.CreateModel(
            name="Decision",
            fields=[
                (
                    "record",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="custody.entry",
                    ),
                ),
                ("decision_id", models.CharField(max_length=256, null=True)),
                ("kind", models.CharField(max_length=16)),
                ("source", models.CharField(max_length=128)),
                ("received_at", models.DateTimeField()),
                ("decided_at", models.DateTimeField(blank=True, null=True)),
                ("action", models.CharField(blank=True, max_length=256)),
                ("system_name", models.CharField(blank=True, max_length=256)),
                ("system_version", models.CharField(blank=True, max_length=256)),
                ("subject_reference", models.CharField(blank=True, max_length=256)),
                (
                    "organization",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="accounts.organization",
                    ),
                ),
                (
                    "first",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="reconsiderations",
                        to="decisions.decision",
                    ),
                ),
                (
                    "reconsiders",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="decisions.decision",
                    ),
                ),
                ("review_outcome", models.CharField(blank=True, max_length=64)),
                ("reviewer", models.CharField(blank=True, max_length=256)),
                ("reviewer_authority", models.CharField(blank=True, max_length=256)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["organization", "-received_at", "-record"], name="decisions_newest"),
                    models.Index(
                        fields=["organization", "action", "-received_at", "-record"], name="decisions_by_action"
                    ),
                    models.Index(
                        fields=["organization", "system_name", "-received_at", "-record"], name="decisions_by_system"
                    ),
                    models.Index(fields=["organization", "decided_at"], name="decisions_by_time"),
                    models.Index(
                        condition=models.Q(("first__isnull", False)),
                        fields=["first", "-received_at"],
                        name="reconsiderations_of",
                    ),
                    models.Index(fields=["organization", "subject_reference"], name="decisions_by_subject"),
                    models.Index(
                        condition=models.Q(("first__isnull", False)),
                        fields=["organization", "-received_at", "-record"],
                        name="reconsiderations_newest",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("organization", "decision_id"), name="one_record_per_decision_id"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("first", None), ("reconsiders", None)),
                            models.Q(("first__isnull", False), ("reconsiders__isnull", False)),
                            _connector="OR",
                        ),
                        name="a_reconsideration_has_its_chain",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Reconsideration",
            fields=[],
            options={"proxy": True, "indexes": [], "constraints": []},
            bases=("decisions.decision",),
        ),
        migrations.RunPython(sort_by_bytes),
    ]
