from django.db import migrations, models

POSTGRESQL = """
CREATE TRIGGER audit_seals_stay BEFORE UPDATE OR DELETE ON accounts_auditseal
    FOR EACH ROW EXECUTE FUNCTION accounts_audit_is_append_only();
CREATE TRIGGER audit_seal_table_stays BEFORE TRUNCATE ON accounts_auditseal
    FOR EACH STATEMENT EXECUTE FUNCTION accounts_audit_is_append_only();
"""
SQLITE = [
    f"""
    CREATE TRIGGER audit_seal_no_{verb} BEFORE {verb} ON accounts_auditseal
    BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END
    """
    for verb in ("update", "delete")
]


def create(apps, schema_editor):
    statements = SQLITE if schema_editor.connection.vendor == "sqlite" else [POSTGRESQL]
    for statement in statements:
        schema_editor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [("accounts", "0015_guards")]
    operations = [
        migrations.CreateModel(
            name="AuditSeal",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "first",
                    models.BigIntegerField(
                        unique=True, help_text="The first id it covers: the one after the seal before."
                    ),
                ),
                ("last", models.BigIntegerField(unique=True, help_text="The last id it covers.")),
                (
                    "digests",
                    models.BinaryField(help_text="Of each event its id, 8 bytes, and 16 bytes of SHA-256."),
                ),
                ("mac", models.CharField(max_length=64)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.RunPython(create, migrations.RunPython.noop),
    ]
