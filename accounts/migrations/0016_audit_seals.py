from django.db import migrations, models

# `config.triggers` makes triggers after each `migrate` instead, and names those that are missing or changed.
POSTGRESQL = ["DROP FUNCTION IF EXISTS accounts_audit_is_append_only() CASCADE"]
SQLITE = [f"DROP TRIGGER IF EXISTS audit_no_{verb}" for verb in ("update", "delete", "replace")]


def drop_earlier_triggers(apps, schema_editor):
    for statement in SQLITE if schema_editor.connection.vendor == "sqlite" else POSTGRESQL:
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
                ("created_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="AuditSealHead",
            fields=[
                ("only", models.BooleanField(default=True, editable=False, primary_key=True, serialize=False)),
                ("last", models.BigIntegerField(help_text="The last id that a seal covers.")),
                ("seals", models.BigIntegerField(help_text="How many seals there are.")),
                ("mac", models.CharField(max_length=64)),
            ],
            options={
                "constraints": [models.CheckConstraint(condition=models.Q(("only", True)), name="one_audit_seal_head")]
            },
        ),
        migrations.RunPython(drop_earlier_triggers, migrations.RunPython.noop),
    ]
