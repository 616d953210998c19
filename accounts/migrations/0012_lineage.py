"""The key that made a key or an invitation, and a trigger that keeps it from outliving that key."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models.functions import Substr

TABLES = ("accounts_apikey", "accounts_invite")
MESSAGE = "a key makes nothing that outlives it, or is of another organization"
POSTGRESQL = [
    f"""
    CREATE FUNCTION accounts_within_maker() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF NEW.making_key_id IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM accounts_apikey maker
            WHERE maker.id = NEW.making_key_id AND maker.organization_id = NEW.organization_id
            AND (maker.expires_at IS NULL OR NEW.expires_at <= maker.expires_at)
        ) THEN
            RAISE EXCEPTION '{MESSAGE}' USING ERRCODE = 'check_violation';
        END IF;
        RETURN NEW;
    END $$
    """,  # noqa: S608 - constants
    *(
        f"""
        CREATE TRIGGER within_maker BEFORE INSERT OR UPDATE OF making_key_id, organization_id, expires_at ON {table}
        FOR EACH ROW EXECUTE FUNCTION accounts_within_maker()
        """
        for table in TABLES
    ),
]
SQLITE = [
    f"""
    CREATE TRIGGER {table}_{name} BEFORE {event} ON {table}
    WHEN NEW.making_key_id IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM accounts_apikey maker
        WHERE maker.id = NEW.making_key_id AND maker.organization_id = NEW.organization_id
        AND (maker.expires_at IS NULL OR NEW.expires_at <= maker.expires_at)
    )
    BEGIN SELECT RAISE(ABORT, '{MESSAGE}'); END
    """  # noqa: S608 - constants
    for table in TABLES
    for name, event in (("made", "INSERT"), ("changed", "UPDATE OF making_key_id, organization_id, expires_at"))
]


def create_triggers(apps, schema_editor):
    for statement in SQLITE if schema_editor.connection.vendor == "sqlite" else POSTGRESQL:
        schema_editor.execute(statement)


def name_makers(apps, schema_editor):
    """Take the member from what the invitation says. Which key made one is not known: names of keys are not unique."""
    made = apps.get_model("accounts", "Invite").objects.filter(created_by__startswith="member ")
    made.update(maker=Substr("created_by", len("member ") + 1))


class Migration(migrations.Migration):
    dependencies = [("accounts", "0011_roles_asked_for_a_second_factor")]

    operations = [
        migrations.AddField(
            model_name="apikey",
            name="making_key",
            field=models.ForeignKey(
                blank=True,
                editable=False,
                help_text="The key that made it. A database trigger keeps it from outliving that one.",
                null=True,
                on_delete=django.db.models.deletion.RESTRICT,
                related_name="made_keys",
                to="accounts.apikey",
            ),
        ),
        migrations.AddField(
            model_name="invite",
            name="maker",
            field=models.CharField(
                blank=True,
                default="",
                help_text="Mail address of the member behind it, as of a key.",
                max_length=254,
            ),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="invite",
            name="making_key",
            field=models.ForeignKey(
                blank=True,
                editable=False,
                help_text="The key that made it. A database trigger keeps it from outliving that one.",
                null=True,
                on_delete=django.db.models.deletion.RESTRICT,
                related_name="made_invites",
                to="accounts.apikey",
            ),
        ),
        migrations.RunPython(create_triggers),
        migrations.RunPython(name_makers),
    ]
