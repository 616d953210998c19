from django.db import migrations

POSTGRESQL = """
CREATE FUNCTION accounts_audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit trail is append-only';
END $$;
CREATE TRIGGER audit_rows_stay BEFORE UPDATE OR DELETE ON accounts_auditevent
    FOR EACH ROW EXECUTE FUNCTION accounts_audit_is_append_only();
CREATE TRIGGER audit_table_stays BEFORE TRUNCATE ON accounts_auditevent
    FOR EACH STATEMENT EXECUTE FUNCTION accounts_audit_is_append_only();
"""
SQLITE = [
    f"""
    CREATE TRIGGER audit_no_{verb} BEFORE {verb} ON accounts_auditevent
    BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END
    """
    for verb in ("update", "delete")
] + [
    # REPLACE deletes without firing the trigger above.
    """
    CREATE TRIGGER audit_no_replace BEFORE INSERT ON accounts_auditevent
    WHEN EXISTS (SELECT 1 FROM accounts_auditevent WHERE id = NEW.id)
    BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END
    """
]


def create(apps, schema_editor):
    statements = SQLITE if schema_editor.connection.vendor == "sqlite" else [POSTGRESQL]
    for statement in statements:
        schema_editor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_initial")]
    operations = [migrations.RunPython(create)]
