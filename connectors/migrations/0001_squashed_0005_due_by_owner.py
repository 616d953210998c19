import uuid

import django.db.models.deletion
import django.db.models.expressions
from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [
        ("connectors", "0001_initial"),
        ("connectors", "0002_fair_polls"),
        ("connectors", "0003_notes_of_pages"),
        ("connectors", "0004_waiting_polls"),
        ("connectors", "0005_due_by_owner"),
    ]

    initial = True

    dependencies = [("accounts", "0001_squashed_0017_wording")]

    operations = [
        migrations.CreateModel(
            name="Connector",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("lease_token", models.UUIDField(editable=False, null=True)),
                ("lease_until", models.DateTimeField(editable=False, null=True)),
                ("attempts", models.PositiveIntegerField(default=0, editable=False)),
                ("next_try_at", models.DateTimeField(editable=False, null=True)),
                ("source_id", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("s3", "Amazon S3"),
                            ("gcs", "Google Cloud Storage"),
                            ("azure_blob", "Azure Blob Storage"),
                            ("http_json", "HTTP API"),
                            ("postgres", "PostgreSQL"),
                            ("directory", "Folder"),
                        ],
                        max_length=16,
                    ),
                ),
                ("name", models.CharField(max_length=128)),
                ("config", models.JSONField(default=dict)),
                ("secret_ref", models.CharField(blank=True, max_length=160)),
                ("schedule_seconds", models.PositiveIntegerField(default=300)),
                ("enabled", models.BooleanField(default=True)),
                ("version", models.PositiveIntegerField(default=1)),
                (
                    "problems",
                    models.JSONField(default=list, help_text="What is wrong with the settings; empty for none."),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("created_by", models.CharField(max_length=300)),
                ("cursor", models.JSONField(default=dict)),
                (
                    "next_poll_at",
                    models.DateTimeField(
                        help_text="Empty while it is disabled, stopped, or has problems: then it is not polled.",
                        null=True,
                    ),
                ),
                ("failures", models.PositiveIntegerField(default=0, help_text="Polls in a row that failed.")),
                ("stopped_at", models.DateTimeField(null=True)),
                ("stopped_because", models.CharField(blank=True, max_length=1000)),
                ("seen", models.PositiveBigIntegerField(default=0)),
                ("new", models.PositiveBigIntegerField(default=0)),
                ("repeated", models.PositiveBigIntegerField(default=0)),
                ("quarantined", models.PositiveBigIntegerField(default=0)),
                ("caught_up_at", models.DateTimeField(help_text="When it was last read to its end.", null=True)),
                (
                    "newest_item_at",
                    models.DateTimeField(help_text="Of the newest item read, where the source tells.", null=True),
                ),
                ("last_new_at", models.DateTimeField(help_text="When the last new record came.", null=True)),
                ("longest_gap_seconds", models.PositiveBigIntegerField(default=0)),
                (
                    "silent_at",
                    models.DateTimeField(help_text="When it counts as silent, unless a new record comes.", null=True),
                ),
                (
                    "organization",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="accounts.organization",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("next_poll_at", None), _negated=True),
                        fields=["next_poll_at"],
                        name="connectors_due",
                    ),
                    models.Index(fields=["organization", "-created_at", "-id"], name="connectors_newest"),
                    models.Index(
                        condition=models.Q(("silent_at", None), _negated=True),
                        fields=["silent_at"],
                        name="connectors_silent",
                    ),
                    models.Index(
                        condition=models.Q(("lease_until", None), _negated=True),
                        fields=["lease_until"],
                        name="connectors_leased",
                    ),
                    models.Index(
                        condition=models.Q(("next_poll_at", None), _negated=True),
                        fields=["organization", "next_poll_at"],
                        name="connectors_due_by_owner",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("kind__in", ["s3", "gcs", "azure_blob", "http_json", "postgres", "directory"])
                        ),
                        name="connectors_of_known_kinds",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("name", ""), _negated=True), name="connectors_have_names"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("schedule_seconds__gte", 30), ("schedule_seconds__lte", 86400)),
                        name="connector_schedules_are_bounded",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("next_poll_at", None), models.Q(("enabled", True), ("stopped_at", None)), _connector="OR"
                        ),
                        name="only_running_connectors_are_due",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("stopped_at", None), ("stopped_because", "")),
                            models.Q(("stopped_at__isnull", False), models.Q(("stopped_because", ""), _negated=True)),
                            _connector="OR",
                        ),
                        name="stopped_connectors_say_why",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "seen__gte",
                                django.db.models.expressions.CombinedExpression(
                                    models.F("new"), "+", models.F("repeated")
                                ),
                            )
                        ),
                        name="records_of_connectors_are_seen",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Alert",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("lease_token", models.UUIDField(editable=False, null=True)),
                ("lease_until", models.DateTimeField(editable=False, null=True)),
                ("attempts", models.PositiveIntegerField(default=0, editable=False)),
                ("next_try_at", models.DateTimeField(editable=False, null=True)),
                (
                    "event",
                    models.CharField(
                        choices=[
                            ("stopped", "stopped"),
                            ("silent", "fell silent"),
                            ("quarantine", "has more in quarantine"),
                        ],
                        max_length=16,
                    ),
                ),
                ("day", models.DateField()),
                ("handled_at", models.DateTimeField(null=True)),
                (
                    "member",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.member"
                    ),
                ),
                (
                    "connector",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="alerts", to="connectors.connector"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("handled_at", None)), fields=["id"], name="alerts_waiting")
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("connector", "member", "event", "day"), name="one_alert_a_day"),
                    models.CheckConstraint(
                        condition=models.Q(("event__in", ["stopped", "silent", "quarantine"])),
                        name="alerts_of_known_events",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Dismissed",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.CharField(help_text="SHA-256 of the item's bytes.", max_length=64)),
                ("dismissed_at", models.DateTimeField(auto_now_add=True)),
                (
                    "connector",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="dismissed",
                        to="connectors.connector",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("connector", "digest"), name="dismissed_once_per_digest")
                ]
            },
        ),
        migrations.CreateModel(
            name="LedgerRow",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=1024)),
                ("version", models.CharField(max_length=256)),
                ("read_at", models.DateTimeField()),
                (
                    "connector",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="ledger",
                        to="connectors.connector",
                    ),
                ),
                (
                    "note",
                    models.CharField(blank=True, default="", help_text="How to ask for a page again.", max_length=2048),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("connector", "name"), name="one_ledger_row_per_name")]
            },
        ),
        migrations.CreateModel(
            name="PollRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("started_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField(null=True)),
                (
                    "outcome",
                    models.CharField(
                        choices=[
                            ("running", "under way, or ended by a crash"),
                            ("finished", "read to the end"),
                            ("more", "its time was over; goes on at once"),
                            ("waiting", "pauses until fewer records wait for custody"),
                            ("failed", "failed"),
                            ("overtaken", "the connector was changed, or another worker took over"),
                        ],
                        default="running",
                        max_length=16,
                    ),
                ),
                ("seen", models.PositiveIntegerField(default=0)),
                ("new", models.PositiveIntegerField(default=0)),
                ("repeated", models.PositiveIntegerField(default=0)),
                ("quarantined", models.PositiveIntegerField(default=0)),
                (
                    "cause",
                    models.CharField(blank=True, help_text="Of a failure: config, transient or system.", max_length=16),
                ),
                ("detail", models.CharField(blank=True, max_length=1000)),
                ("fix", models.CharField(blank=True, max_length=1000)),
                (
                    "connector",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="runs",
                        to="connectors.connector",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["connector", "-id"], name="poll_runs_newest")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("cause__in", ["", "config", "transient", "system"])),
                        name="poll_runs_of_known_causes",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("outcome__in", ["running", "finished", "more", "waiting", "failed", "overtaken"])
                        ),
                        name="poll_runs_of_known_outcomes",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Quarantined",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "cause",
                    models.CharField(
                        choices=[
                            ("invalid", "no acceptable record"),
                            ("conflict", "another record of this decision_id is in custody"),
                        ],
                        max_length=16,
                    ),
                ),
                ("position", models.CharField(max_length=512)),
                ("origin", models.CharField(blank=True, max_length=1024)),
                ("reason", models.CharField(max_length=1000)),
                ("digest", models.CharField(help_text="SHA-256 of the item's bytes.", max_length=64)),
                ("cursor", models.JSONField(default=dict, help_text="From which the item is read again.")),
                ("created_at", models.DateTimeField()),
                (
                    "connector",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="quarantine",
                        to="connectors.connector",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "quarantined items",
                "indexes": [models.Index(fields=["connector", "-created_at", "-id"], name="quarantine_newest")],
                "constraints": [
                    models.UniqueConstraint(fields=("connector", "digest"), name="quarantined_once_per_digest"),
                    models.CheckConstraint(
                        condition=models.Q(("cause__in", ["invalid", "conflict"])), name="quarantine_of_known_causes"
                    ),
                ],
            },
        ),
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
    ]
