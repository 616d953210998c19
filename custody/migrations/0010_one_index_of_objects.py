from django.db import migrations

# With the collation of bytes, the primary key's index finds prefixes as well. Its rebuilding locks the table.
POSTGRESQL = """
DROP INDEX IF EXISTS custody_sealedobject_key_f50b2c06_like;
ALTER TABLE custody_sealedobject ALTER COLUMN key TYPE varchar(128) COLLATE "C";
"""
REVERSE = """
ALTER TABLE custody_sealedobject ALTER COLUMN key TYPE varchar(128) COLLATE "default";
CREATE INDEX custody_sealedobject_key_f50b2c06_like ON custody_sealedobject (key varchar_pattern_ops);
"""


def drop_second_index(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(POSTGRESQL)


def restore_second_index(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(REVERSE)


class Migration(migrations.Migration):
    dependencies = [("custody", "0009_disposals")]
    operations = [migrations.RunPython(drop_second_index, restore_second_index)]
