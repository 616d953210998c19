import django.db.models.deletion
from django.db import migrations, models

import custody.models

# Ciphertext does not compress: trying costs time on every insert.
POSTGRESQL = "ALTER TABLE custody_waitingobject ALTER COLUMN body SET STORAGE EXTERNAL"


def set_storage(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(POSTGRESQL)


def let_objects_wait_apart(apps, schema_editor):
    """Those of reserved entries so far lay among the objects of the database vault. There are few of them at any time."""
    entries, sealed, waiting = (
        apps.get_model("custody", name).objects for name in ("Entry", "SealedObject", "WaitingObject")
    )
    for entry in entries.filter(state="reserved").iterator():
        key = custody.models.object_key(entry.organization_id, entry.pk)
        found = sealed.filter(key=key).first()
        if found:
            waiting.create(record_id=entry.pk, body=found.body)
            found.delete()


class Migration(migrations.Migration):
    dependencies = [
        ("custody", "0006_storage_targets"),
    ]

    operations = [
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
            ],
            options={"abstract": False},
        ),
        migrations.RunPython(set_storage, migrations.RunPython.noop),
        migrations.RunPython(let_objects_wait_apart, migrations.RunPython.noop),
        migrations.RemoveIndex("entry", "unfinished_entries"),
        migrations.RemoveField("entry", "lease_until"),
        migrations.AddIndex(
            "entry",
            models.Index(
                condition=models.Q(("state", "reserved")),
                fields=["organization", "received_at"],
                name="entries_reserved",
            ),
        ),
    ]
