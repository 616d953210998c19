import datetime
import uuid

import django.db.models.deletion
import django.db.models.functions.comparison
from django.db import migrations, models

import custody.models

# Ciphertext and base64 do not compress: trying costs time on every insert.
# With the collation of bytes, the primary key's index finds prefixes as well, without a second index.
POSTGRESQL = """
ALTER TABLE custody_sealedobject ALTER COLUMN body SET STORAGE EXTERNAL;
ALTER TABLE custody_waitingobject ALTER COLUMN body SET STORAGE EXTERNAL;
ALTER TABLE custody_entry ALTER COLUMN statement SET STORAGE EXTERNAL;
ALTER TABLE custody_sealedobject ALTER COLUMN key TYPE varchar(128) COLLATE "C";
"""


def finish_on_postgresql(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(POSTGRESQL)
        indexes = schema_editor.deferred_sql
        indexes[:] = [sql for sql in indexes if "custody_sealedobject_key_f50b2c06_like" not in str(sql)]


class Migration(migrations.Migration):
    replaces = [
        ("custody", "0001_initial"),
        ("custody", "0002_no_compression"),
        ("custody", "0003_newest_entries"),
        ("custody", "0004_installation"),
        ("custody", "0005_wrapped_keys"),
        ("custody", "0006_storage_targets"),
        ("custody", "0007_waiting_objects"),
        ("custody", "0008_clouds"),
        ("custody", "0009_disposals"),
        ("custody", "0010_one_index_of_objects"),
        ("custody", "0011_lists_of_any_size"),
        ("custody", "0012_valid_from"),
        ("custody", "0013_turns_of_waiting_objects"),
        ("custody", "0014_inspections"),
        ("custody", "0015_searched_targets"),
        ("custody", "0016_untried_objects"),
        ("custody", "0017_wording"),
        ("custody", "0018_next_folder"),
        ("custody", "0019_failing_disposals"),
    ]

    initial = True

    dependencies = [("accounts", "0001_squashed_0017_wording")]

    operations = [
        migrations.CreateModel(
            name="SealedObject",
            fields=[
                ("key", models.CharField(max_length=128, primary_key=True, serialize=False)),
                ("body", models.BinaryField()),
            ],
        ),
        migrations.CreateModel(
            name="Key",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "purpose",
                    models.CharField(
                        choices=[("signing", "Signing"), ("wrapping", "Wrapping"), ("index", "Index")], max_length=16
                    ),
                ),
                ("key_id", models.CharField(max_length=64)),
                ("algorithm", models.CharField(max_length=32)),
                ("public_pem", models.TextField(blank=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("retired_at", models.DateTimeField(blank=True, null=True)),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="custody_keys",
                        to="accounts.organization",
                    ),
                ),
                ("wrapped", models.BinaryField(default=bytes, help_text="Nonce, then AES-256-GCM.")),
                (
                    "wrapped_by",
                    models.CharField(blank=True, editable=False, help_text="Id of the master key.", max_length=32),
                ),
                (
                    "configuration",
                    models.JSONField(blank=True, default=dict, help_text="Texts; of secrets only where they are kept."),
                ),
                (
                    "provider",
                    models.CharField(
                        choices=[
                            ("local", "this service"),
                            ("aws", "AWS KMS"),
                            ("gcp", "Google Cloud KMS"),
                            ("azure", "Azure Key Vault"),
                        ],
                        default="local",
                        max_length=8,
                    ),
                ),
                (
                    "valid_from",
                    models.DateTimeField(
                        blank=True,
                        help_text="When the oldest record came in that this key may sign, if that was queued before the key was made.",
                        null=True,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("retired_at", None)),
                        fields=("organization", "purpose"),
                        name="one_active_key_per_purpose",
                    ),
                    models.UniqueConstraint(fields=("organization", "key_id"), name="key_ids_are_unique"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("provider", "local"),
                            models.Q(("wrapped_by", ""), models.Q(("purpose", "index"), _negated=True)),
                            _connector="OR",
                        ),
                        name="secrets_of_others_are_not_here",
                    ),
                ]
            },
        ),
        migrations.CreateModel(
            name="Installation",
            fields=[
                ("only", models.BooleanField(default=True, editable=False, primary_key=True, serialize=False)),
                ("uid", models.UUIDField(default=uuid.uuid4, editable=False)),
            ],
            options={
                "constraints": [models.CheckConstraint(condition=models.Q(("only", True)), name="one_installation")]
            },
        ),
        migrations.CreateModel(
            name="StorageTarget",
            fields=[
                (
                    "id",
                    models.CharField(
                        default=custody.models.new_target_id,
                        editable=False,
                        max_length=16,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                (
                    "provider",
                    models.CharField(
                        choices=[
                            ("database", "database"),
                            ("filesystem", "filesystem"),
                            ("aws", "Amazon S3"),
                            ("gcp", "Google Cloud Storage"),
                            ("azure", "Azure Blob Storage"),
                        ],
                        max_length=16,
                    ),
                ),
                ("configuration", models.JSONField(blank=True, default=dict)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "retired_at",
                    models.DateTimeField(blank=True, help_text="Since when no new records go there.", null=True),
                ),
                (
                    "organization",
                    models.ForeignKey(
                        blank=True,
                        help_text="None: of all.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="accounts.organization",
                    ),
                ),
                (
                    "choices_made",
                    models.PositiveIntegerField(
                        default=0,
                        editable=False,
                        help_text="How often it was chosen. The bucket holds an object for each.",
                    ),
                ),
                (
                    "folders_searched",
                    models.PositiveSmallIntegerField(
                        default=0,
                        editable=False,
                        help_text="Of 256: those that were compared with our rows since it was retired.",
                    ),
                ),
                (
                    "next_folder",
                    models.PositiveSmallIntegerField(
                        default=0,
                        editable=False,
                        help_text="The folder with which its search continues, round and round.",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        django.db.models.functions.comparison.Coalesce(
                            "organization",
                            models.Value(uuid.UUID("00000000-0000-0000-0000-000000000000"), models.UUIDField()),
                        ),
                        condition=models.Q(("retired_at", None)),
                        name="one_target_for_new_records",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("organization__isnull", False),
                            ("provider__in", ["database", "filesystem"]),
                            _connector="OR",
                        ),
                        name="buckets_belong_to_organizations",
                    ),
                ]
            },
        ),
        migrations.CreateModel(
            name="Entry",
            fields=[
                ("record_id", models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ("kind", models.CharField(max_length=16)),
                ("received_at", models.DateTimeField()),
                (
                    "target",
                    models.ForeignKey(
                        db_column="vault",
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="custody.storagetarget",
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "sealed here, not yet signed"),
                            ("reserved", "signed, not yet in the vault"),
                            ("stored", "in the vault"),
                            ("disposed", "destroyed under a retention policy"),
                        ],
                        max_length=8,
                    ),
                ),
                ("statement", models.BinaryField()),
                ("signature", models.BinaryField()),
                ("key_id", models.CharField(max_length=64)),
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
                "verbose_name_plural": "entries",
                "indexes": [
                    models.Index(fields=["organization", "-received_at", "-record_id"], name="entries_newest"),
                    models.Index(
                        condition=models.Q(("state", "reserved")),
                        fields=["organization", "received_at"],
                        name="entries_reserved",
                    ),
                    models.Index(
                        condition=models.Q(("state", "queued")), fields=["received_at"], name="entries_queued"
                    ),
                    models.Index(
                        condition=models.Q(("state", "queued")),
                        fields=["organization", "received_at"],
                        name="entries_to_sign",
                    ),
                    models.Index(
                        condition=models.Q(("state", "disposed")),
                        fields=["organization", "-received_at", "-record_id"],
                        name="entries_disposed",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="WaitingObject",
            fields=[
                ("lease_token", models.UUIDField(editable=False, null=True)),
                ("lease_until", models.DateTimeField(editable=False, null=True)),
                ("attempts", models.PositiveIntegerField(default=0, editable=False)),
                ("next_try_at", models.DateTimeField(editable=False, null=True)),
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
                ("body", models.BinaryField()),
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
                ("queued_at", models.DateTimeField()),
            ],
            options={
                "abstract": False,
                "indexes": [
                    models.Index(
                        models.F("organization"),
                        django.db.models.functions.comparison.Coalesce("lease_until", "next_try_at", "queued_at"),
                        name="waiting_by_turn",
                    ),
                    models.Index(
                        condition=models.Q(("lease_until", None), ("next_try_at", None)),
                        fields=["organization", "queued_at"],
                        name="waiting_untried",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="KeyOutage",
            fields=[
                (
                    "key",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="outage",
                        serialize=False,
                        to="custody.key",
                    ),
                ),
                ("since", models.DateTimeField()),
                ("failures", models.PositiveIntegerField(default=1)),
                ("next_try_at", models.DateTimeField(help_text="Until then the queue leaves it alone.")),
                ("reason", models.CharField(blank=True, max_length=500)),
            ],
        ),
        migrations.CreateModel(
            name="KeyAlert",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("lease_token", models.UUIDField(editable=False, null=True)),
                ("lease_until", models.DateTimeField(editable=False, null=True)),
                ("attempts", models.PositiveIntegerField(default=0, editable=False)),
                ("next_try_at", models.DateTimeField(editable=False, null=True)),
                ("handled_at", models.DateTimeField(null=True)),
                (
                    "member",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.member"
                    ),
                ),
                (
                    "outage",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="alerts", to="custody.keyoutage"
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("outage", "member"), name="one_alert_a_key_outage")]
            },
        ),
        migrations.CreateModel(
            name="StorageOutage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("began_at", models.DateTimeField(auto_now_add=True)),
                ("ended_at", models.DateTimeField(null=True)),
                ("reason", models.CharField(max_length=500)),
                (
                    "target",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="outages", to="custody.storagetarget"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("ended_at", None)), fields=("target",), name="one_storage_outage_at_a_time"
                    )
                ]
            },
        ),
        migrations.CreateModel(
            name="StorageAlert",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("lease_token", models.UUIDField(editable=False, null=True)),
                ("lease_until", models.DateTimeField(editable=False, null=True)),
                ("attempts", models.PositiveIntegerField(default=0, editable=False)),
                ("next_try_at", models.DateTimeField(editable=False, null=True)),
                ("handled_at", models.DateTimeField(null=True)),
                (
                    "member",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.member"
                    ),
                ),
                (
                    "outage",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="custody.storageoutage"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("handled_at", None)), fields=["id"], name="storage_alerts_waiting")
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("outage", "member"), name="one_alert_a_storage_outage")
                ],
            },
        ),
        migrations.CreateModel(
            name="Disposal",
            fields=[
                ("lease_token", models.UUIDField(editable=False, null=True)),
                ("lease_until", models.DateTimeField(editable=False, null=True)),
                ("attempts", models.PositiveIntegerField(default=0, editable=False)),
                ("next_try_at", models.DateTimeField(editable=False, null=True)),
                (
                    "record",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="disposal",
                        serialize=False,
                        to="custody.entry",
                    ),
                ),
                ("root", models.UUIDField(help_text="The record id of the first record of its family.")),
                ("policy", models.PositiveIntegerField(help_text="The number of the retention policy.")),
                ("statement", models.BinaryField()),
                ("signature", models.BinaryField()),
                ("key_id", models.CharField(max_length=64)),
                ("disposed_at", models.DateTimeField()),
                ("journaled", models.BooleanField(default=False)),
                ("finished_at", models.DateTimeField(null=True)),
                (
                    "kept_until",
                    models.DateTimeField(
                        help_text="By the lock of its storage: the object, without its key.", null=True
                    ),
                ),
                (
                    "recoverable_until",
                    models.DateTimeField(help_text="By an administrator of its storage: soft delete.", null=True),
                ),
                (
                    "problem",
                    models.CharField(
                        blank=True, help_text="Why it is not finished, at the last attempt.", max_length=300
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("finished_at", None)), fields=["record"], name="disposals_unfinished"
                    ),
                    models.Index(fields=["root"], name="disposals_by_family"),
                    models.Index(
                        condition=models.Q(("finished_at", None)), fields=["problem"], name="disposals_failing"
                    ),
                ]
            },
        ),
        migrations.CreateModel(
            name="JournalFile",
            fields=[
                ("key", models.CharField(max_length=128, primary_key=True, serialize=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="accounts.organization"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Damage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=16)),
                ("name", models.CharField(help_text="Of a record its id.", max_length=200)),
                ("reason", models.CharField(max_length=300)),
                ("found_at", models.DateTimeField(auto_now_add=True)),
                ("seen_at", models.DateTimeField()),
                (
                    "organization",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.organization",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("organization", "kind", "name"), name="one_row_a_damaged_item"),
                    models.UniqueConstraint(
                        condition=models.Q(("organization", None)),
                        fields=("kind", "name"),
                        name="one_row_a_damaged_part",
                    ),
                ]
            },
        ),
        migrations.CreateModel(
            name="DamageAlert",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("lease_token", models.UUIDField(editable=False, null=True)),
                ("lease_until", models.DateTimeField(editable=False, null=True)),
                ("attempts", models.PositiveIntegerField(default=0, editable=False)),
                ("next_try_at", models.DateTimeField(editable=False, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("handled_at", models.DateTimeField(null=True)),
                (
                    "member",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.member"
                    ),
                ),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.organization"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("handled_at", None)), fields=["id"], name="damage_alerts_waiting")
                ]
            },
        ),
        migrations.CreateModel(
            name="Inspection",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("lease_token", models.UUIDField(editable=False, null=True)),
                ("lease_until", models.DateTimeField(editable=False, null=True)),
                ("attempts", models.PositiveIntegerField(default=0, editable=False)),
                ("next_try_at", models.DateTimeField(editable=False, null=True)),
                ("runner", models.CharField(choices=[("clock", "Clock"), ("command", "Command")], max_length=8)),
                (
                    "stage",
                    models.CharField(
                        blank=True, help_text="Of the check under way; empty before it begins.", max_length=16
                    ),
                ),
                (
                    "after",
                    models.CharField(blank=True, help_text="The last item checked in the stage.", max_length=200),
                ),
                ("counts", models.JSONField(default=dict, help_text="How many items passed, by kind.")),
                ("unchecked", models.PositiveIntegerField(default=0, help_text="Items whose store did not answer.")),
                (
                    "began_at",
                    models.DateTimeField(default=datetime.datetime(1970, 1, 1, 0, 0, tzinfo=datetime.UTC)),
                ),
                (
                    "worked_at",
                    models.DateTimeField(default=datetime.datetime(1970, 1, 1, 0, 0, tzinfo=datetime.UTC)),
                ),
                ("finished_at", models.DateTimeField(null=True)),
                (
                    "due_at",
                    models.DateTimeField(
                        default=datetime.datetime(1970, 1, 1, 0, 0, tzinfo=datetime.UTC),
                        help_text="When the clock begins or goes on.",
                    ),
                ),
                (
                    "organization",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.organization",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("runner", "organization"), name="one_inspection_a_runner"),
                    models.UniqueConstraint(
                        condition=models.Q(("organization", None)),
                        fields=("runner",),
                        name="one_inspection_of_the_installation",
                    ),
                ]
            },
        ),
        migrations.RunPython(finish_on_postgresql),
    ]
