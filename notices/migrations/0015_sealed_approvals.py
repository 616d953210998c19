from django.db import migrations, models
from django.db.models import OuterRef, Subquery


def note_records(apps, schema_editor):
    sealed = apps.get_model("notices", "SealedNotice").objects.filter(notice=OuterRef("notice"))
    apps.get_model("notices", "Approval").objects.update(record_id=Subquery(sealed.values("record")[:1]))


class Migration(migrations.Migration):
    dependencies = [("notices", "0014_guards")]

    operations = [
        migrations.AddField(
            "approval",
            "record_id",
            models.UUIDField(
                null=True, editable=False, help_text="The sealed notice. None: not sealed yet. Set once, never unset."
            ),
        ),
        migrations.AddIndex(
            "approval",
            models.Index(condition=models.Q(("record_id", None)), fields=["id"], name="approvals_to_seal"),
        ),
        migrations.RunPython(note_records, migrations.RunPython.noop),
    ]
