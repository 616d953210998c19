from typing import Any

from django.db import migrations, models

_SEARCHED = ("decision_id", "subject_reference")


def sort_by_bytes(apps: Any, schema_editor: Any) -> None:
    """Let PostgreSQL find the beginning of an id or a reference by the index of its column, which under the collation
    of a language serves whole values alone. SQLite sorts by bytes anyway."""
    if schema_editor.connection.vendor == "postgresql":
        for column in _SEARCHED:
            schema_editor.execute(f'ALTER TABLE decisions_decision ALTER COLUMN {column} TYPE varchar(256) COLLATE "C"')


class Migration(migrations.Migration):
    dependencies = [
        ("decisions", "0005_keys_of_index_rows"),
    ]

    operations = [
        migrations.RunPython(sort_by_bytes, migrations.RunPython.noop),
        migrations.RemoveIndex(model_name="decision", name="reconsiderations_of"),
        migrations.AddIndex(
            model_name="decision",
            index=models.Index(
                condition=models.Q(("first__isnull", False)),
                fields=["first", "-received_at"],
                name="reconsiderations_of",
            ),
        ),
        migrations.AddIndex(
            model_name="decision",
            index=models.Index(fields=["organization", "subject_reference"], name="decisions_by_subject"),
        ),
        migrations.AddIndex(
            model_name="decision",
            index=models.Index(
                condition=models.Q(("first__isnull", False)),
                fields=["organization", "-received_at", "-record"],
                name="reconsiderations_newest",
            ),
        ),
    ]
