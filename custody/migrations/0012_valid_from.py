from django.db import migrations, models
from django.db.models import Min


def keep_signed_times(apps, schema_editor):
    """A key that was made while records were queued has signed records that are older than it is."""
    keys, entries = (apps.get_model("custody", name).objects for name in ("Key", "Entry"))
    for key in keys.filter(purpose="signing"):
        signed = entries.filter(organization=key.organization_id, key_id=key.key_id)
        oldest = signed.aggregate(oldest=Min("received_at"))["oldest"]
        if oldest:
            keys.filter(pk=key.pk, created_at__gt=oldest).update(valid_from=oldest)


class Migration(migrations.Migration):
    dependencies = [("custody", "0011_lists_of_any_size")]
    operations = [
        migrations.AddField(
            "key",
            "valid_from",
            models.DateTimeField(
                null=True,
                blank=True,
                help_text="When the oldest record came in that this key may sign, if that was queued before the key was "
                "made.",
            ),
        ),
        migrations.RunPython(keep_signed_times, migrations.RunPython.noop),
    ]
