import django.db.models.deletion
import django.db.models.functions.comparison
from django.db import migrations, models

FILL = """
    UPDATE custody_waitingobject SET
        organization_id = (SELECT organization_id FROM custody_entry e WHERE e.record_id = custody_waitingobject.record_id),
        queued_at = (SELECT received_at FROM custody_entry e WHERE e.record_id = custody_waitingobject.record_id)
"""


def owner(**more):
    return models.ForeignKey(
        db_constraint=False,
        db_index=False,
        on_delete=django.db.models.deletion.PROTECT,
        related_name="+",
        to="accounts.organization",
        **more,
    )


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0010_sender_keys"),
        ("custody", "0012_valid_from"),
    ]

    operations = [
        migrations.AddField("waitingobject", "organization", owner(null=True)),
        migrations.AddField("waitingobject", "queued_at", models.DateTimeField(null=True)),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
        migrations.AlterField("waitingobject", "organization", owner()),
        migrations.AlterField("waitingobject", "queued_at", models.DateTimeField()),
        migrations.AddIndex(
            "waitingobject",
            models.Index(
                models.F("organization"),
                django.db.models.functions.comparison.Coalesce("lease_until", "next_try_at", "queued_at"),
                name="waiting_by_turn",
            ),
        ),
    ]
