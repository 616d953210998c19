import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models.functions import Coalesce
from django.utils import timezone

import custody.models

# What the column of entries could hold so far.
VAULTS = ("database", "filesystem")


def name_targets(apps, schema_editor):
    """A target for each vault that holds records. New ones go where CUSTODY_VAULT has sent them so far."""
    entries = apps.get_model("custody", "Entry").objects
    targets = apps.get_model("custody", "StorageTarget").objects
    for name in VAULTS:
        if entries.filter(vault=name).exists():
            retired_at = None if name == settings.CUSTODY_VAULT else timezone.now()
            targets.create(id=name, provider=name, retired_at=retired_at)


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0010_sender_keys"),
        ("custody", "0005_wrapped_keys"),
    ]

    operations = [
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
                    models.CharField(choices=[("database", "database"), ("filesystem", "filesystem")], max_length=16),
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
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        Coalesce("organization", models.Value(uuid.UUID(int=0), models.UUIDField())),
                        condition=models.Q(("retired_at", None)),
                        name="one_target_for_new_records",
                    ),
                ],
            },
        ),
        migrations.RunPython(name_targets, migrations.RunPython.noop),
        # The column stays as it is: what it holds are the ids of these targets. So no row is written, however many there are.
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RemoveField("entry", "vault"),
                migrations.AddField(
                    "entry",
                    "target",
                    models.ForeignKey(
                        db_column="vault",
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="custody.storagetarget",
                    ),
                    preserve_default=False,
                ),
            ],
        ),
    ]
