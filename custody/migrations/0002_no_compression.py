from django.db import migrations

# Ciphertext and base64 do not compress: trying costs time on every insert.
POSTGRESQL = """
ALTER TABLE custody_sealedobject ALTER COLUMN body SET STORAGE EXTERNAL;
ALTER TABLE custody_entry ALTER COLUMN statement SET STORAGE EXTERNAL;
"""


def set_storage(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(POSTGRESQL)


class Migration(migrations.Migration):
    dependencies = [("custody", "0001_initial")]
    operations = [migrations.RunPython(set_storage)]
