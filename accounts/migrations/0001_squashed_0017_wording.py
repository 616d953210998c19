import uuid

import django.db.models.deletion
import django.db.models.functions.text
from django.conf import settings
from django.db import migrations, models

# A trigger refuses a key or an invitation that outlives the key that made it.
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


class Migration(migrations.Migration):
    replaces = [
        ("accounts", "0001_initial"),
        ("accounts", "0002_audit_is_append_only"),
        ("accounts", "0003_sign_in"),
        ("accounts", "0004_makers_of_keys"),
        ("accounts", "0005_access_by_browser"),
        ("accounts", "0006_counters"),
        ("accounts", "0007_idempotency"),
        ("accounts", "0008_pepper"),
        ("accounts", "0009_leases"),
        ("accounts", "0010_sender_keys"),
        ("accounts", "0011_roles_asked_for_a_second_factor"),
        ("accounts", "0012_lineage"),
        ("accounts", "0013_codes_of_invitations"),
        ("accounts", "0014_makers_of_members"),
        ("accounts", "0015_guards"),
        ("accounts", "0016_audit_seals"),
        ("accounts", "0017_wording"),
    ]

    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Organization",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("slug", models.SlugField(unique=True)),
                ("name", models.CharField(max_length=200)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "second_factor_required",
                    models.BooleanField(
                        default=False,
                        help_text="Owners, admins and approvers confirm their sign-in with an authenticator app.",
                    ),
                ),
                ("onboarding_dismissed", models.BooleanField(default=False)),
                ("onboarding_opened", models.BooleanField(default=False)),
                ("onboarding_verified", models.BooleanField(default=False)),
                (
                    "loosenings",
                    models.JSONField(
                        default=dict, editable=False, help_text="Guards that will loosen: to what, and when."
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="User",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                ("last_login", models.DateTimeField(blank=True, null=True, verbose_name="last login")),
                ("email", models.EmailField(max_length=254, unique=True)),
                ("name", models.CharField(blank=True, max_length=200)),
                ("is_active", models.BooleanField(default=True)),
                (
                    "is_superuser",
                    models.BooleanField(default=False, help_text="Runs the platform; belongs to no organization."),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "totp_counter",
                    models.BigIntegerField(
                        default=0, editable=False, help_text="The last time step a code was used of."
                    ),
                ),
                ("totp_secret", models.TextField(blank=True, editable=False, help_text="Encrypted.")),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("email", django.db.models.functions.text.Lower("email"))),
                        name="email_is_lowercase",
                    )
                ]
            },
        ),
        migrations.CreateModel(
            name="AuditEvent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(auto_now_add=True)),
                ("verb", models.CharField(max_length=64)),
                ("actor_kind", models.CharField(max_length=16)),
                ("actor_id", models.CharField(max_length=64)),
                ("actor_label", models.CharField(max_length=300)),
                ("object_kind", models.CharField(max_length=32)),
                ("object_id", models.CharField(max_length=64)),
                ("detail", models.JSONField(default=dict)),
                (
                    "organization",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="accounts.organization",
                    ),
                ),
            ],
            options={"indexes": [models.Index(fields=["organization", "-at", "-id"], name="audit_newest_first")]},
        ),
        migrations.CreateModel(
            name="ApiKey",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key_id", models.CharField(max_length=16, unique=True)),
                ("digest", models.CharField(max_length=64)),
                ("name", models.CharField(blank=True, max_length=256)),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("owner", "owner"),
                            ("admin", "admin"),
                            ("approver", "approver"),
                            ("editor", "editor"),
                            ("auditor", "auditor"),
                            ("sender", "sender"),
                        ],
                        max_length=16,
                    ),
                ),
                (
                    "created_by",
                    models.CharField(help_text="Who made it, as the audit trail names them.", max_length=300),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("last_used_at", models.DateTimeField(blank=True, null=True)),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="api_keys", to="accounts.organization"
                    ),
                ),
                (
                    "maker",
                    models.CharField(
                        blank=True,
                        help_text="Mail address of the member behind it, also where a key of theirs made it.",
                        max_length=254,
                    ),
                ),
                (
                    "making_key",
                    models.ForeignKey(
                        blank=True,
                        editable=False,
                        help_text="The key that made it. A database trigger keeps it from outliving that one.",
                        null=True,
                        on_delete=django.db.models.deletion.RESTRICT,
                        related_name="made_keys",
                        to="accounts.apikey",
                    ),
                ),
            ],
            options={
                "verbose_name": "API key",
                "indexes": [models.Index(fields=["organization", "-created_at", "-id"], name="key_newest_first")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("role__in", ["owner", "admin", "approver", "editor", "auditor", "sender"])),
                        name="key_role_is_known",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Member",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("owner", "owner"),
                            ("admin", "admin"),
                            ("approver", "approver"),
                            ("editor", "editor"),
                            ("auditor", "auditor"),
                        ],
                        max_length=16,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="members", to="accounts.organization"
                    ),
                ),
                ("onboarding_dismissed", models.BooleanField(default=False)),
                ("onboarding_opened", models.BooleanField(default=False)),
                ("onboarding_verified", models.BooleanField(default=False)),
                (
                    "maker",
                    models.CharField(
                        blank=True,
                        help_text="Mail address of the member who gave the role, also by a key of theirs.",
                        max_length=254,
                    ),
                ),
                (
                    "making_key",
                    models.ForeignKey(
                        blank=True,
                        editable=False,
                        help_text="The key that gave the role, itself or by its invitation.",
                        null=True,
                        on_delete=django.db.models.deletion.RESTRICT,
                        related_name="made_members",
                        to="accounts.apikey",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("organization", "user"), name="one_membership_per_organization"),
                    models.CheckConstraint(
                        condition=models.Q(("role__in", ["owner", "admin", "approver", "editor", "auditor"])),
                        name="member_role_is_known",
                    ),
                ]
            },
        ),
        migrations.CreateModel(
            name="SignedInSession",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("session_key", models.CharField(max_length=40, unique=True)),
                ("client", models.CharField(max_length=45)),
                ("agent", models.CharField(blank=True, max_length=200)),
                ("created_at", models.DateTimeField()),
                ("last_seen_at", models.DateTimeField()),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sessions",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Invite",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("email", models.EmailField(max_length=254)),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("owner", "owner"),
                            ("admin", "admin"),
                            ("approver", "approver"),
                            ("editor", "editor"),
                            ("auditor", "auditor"),
                        ],
                        max_length=16,
                    ),
                ),
                ("digest", models.CharField(blank=True, db_index=True, max_length=64)),
                ("created_by", models.CharField(max_length=300)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField()),
                ("lease_until", models.DateTimeField(editable=False, null=True)),
                ("handled_at", models.DateTimeField(null=True)),
                ("accepted_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="invites", to="accounts.organization"
                    ),
                ),
                ("lease_token", models.UUIDField(editable=False, null=True)),
                ("attempts", models.PositiveIntegerField(default=0, editable=False)),
                ("next_try_at", models.DateTimeField(editable=False, null=True)),
                (
                    "maker",
                    models.CharField(
                        blank=True, help_text="Mail address of the member behind it, as of a key.", max_length=254
                    ),
                ),
                (
                    "making_key",
                    models.ForeignKey(
                        blank=True,
                        editable=False,
                        help_text="The key that made it. A database trigger keeps it from outliving that one.",
                        null=True,
                        on_delete=django.db.models.deletion.RESTRICT,
                        related_name="made_invites",
                        to="accounts.apikey",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["organization", "-created_at", "-id"], name="invites_newest_first"),
                    models.Index(
                        condition=models.Q(("handled_at", None)), fields=["created_at"], name="invites_to_send"
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("accepted_at", None), ("revoked_at", None)),
                        fields=("organization", "email"),
                        name="one_open_invite_per_email",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("role__in", ["owner", "admin", "approver", "editor", "auditor"])),
                        name="invite_role_is_known",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="OneTimeCode",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("email", models.EmailField(max_length=254)),
                ("intent", models.CharField(max_length=64)),
                ("client", models.CharField(help_text="Network address of the request.", max_length=45)),
                ("digest", models.CharField(blank=True, max_length=64)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField()),
                ("lease_until", models.DateTimeField(editable=False, null=True)),
                ("handled_at", models.DateTimeField(null=True)),
                ("tries", models.PositiveSmallIntegerField(default=0)),
                (
                    "tries_noted",
                    models.PositiveSmallIntegerField(default=0, help_text="How many of them the audit trail tells of."),
                ),
                ("used_at", models.DateTimeField(null=True)),
                (
                    "app_tries",
                    models.PositiveSmallIntegerField(default=0, help_text="At the second factor, after this code."),
                ),
                (
                    "browser",
                    models.CharField(
                        help_text="Digest of the cookie of the browser in which the code works.", max_length=64
                    ),
                ),
                ("confirmed_at", models.DateTimeField(help_text="When the second factor followed.", null=True)),
                (
                    "known",
                    models.BooleanField(
                        default=False, help_text="Whether a code of this address was used there before."
                    ),
                ),
                (
                    "new_secret",
                    models.TextField(blank=True, help_text="Of the app to enrol at the second factor. Encrypted."),
                ),
                ("lease_token", models.UUIDField(editable=False, null=True)),
                ("attempts", models.PositiveIntegerField(default=0, editable=False)),
                ("next_try_at", models.DateTimeField(editable=False, null=True)),
                (
                    "invite",
                    models.ForeignKey(
                        help_text="The invitation it accepts.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="codes",
                        to="accounts.invite",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["email", "-created_at"], name="codes_by_email"),
                    models.Index(fields=["client", "-created_at"], name="codes_by_client"),
                    models.Index(condition=models.Q(("handled_at", None)), fields=["created_at"], name="codes_to_send"),
                ]
            },
        ),
        migrations.CreateModel(
            name="RateCounter",
            fields=[
                ("key", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("count", models.PositiveIntegerField(default=0)),
                ("ends_at", models.DateTimeField(db_index=True)),
            ],
        ),
        migrations.CreateModel(
            name="KeptAnswer",
            fields=[
                (
                    "slot",
                    models.CharField(
                        help_text="Of one caller, operation, path and key.",
                        max_length=64,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("sealed", models.TextField(help_text="What was asked and what was answered, encrypted.")),
                ("created_at", models.DateTimeField(db_index=True)),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.organization"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Pepper",
            fields=[
                ("wrapped", models.BinaryField(default=bytes, help_text="Nonce, then AES-256-GCM.")),
                (
                    "wrapped_by",
                    models.CharField(blank=True, editable=False, help_text="Id of the master key.", max_length=32),
                ),
                ("generation", models.PositiveSmallIntegerField(primary_key=True, serialize=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={"abstract": False},
        ),
        migrations.CreateModel(
            name="LooseningMail",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("lease_token", models.UUIDField(editable=False, null=True)),
                ("lease_until", models.DateTimeField(editable=False, null=True)),
                ("attempts", models.PositiveIntegerField(default=0, editable=False)),
                ("next_try_at", models.DateTimeField(editable=False, null=True)),
                ("guard", models.CharField(max_length=200)),
                ("asked_by", models.CharField(max_length=300)),
                ("takes_effect_at", models.DateTimeField()),
                ("page", models.CharField(blank=True, max_length=200)),
                ("handled_at", models.DateTimeField(null=True)),
                (
                    "member",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.member"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("handled_at", None)), fields=["id"], name="loosenings_to_mail")
                ]
            },
        ),
        migrations.CreateModel(
            name="AuditSeal",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "first",
                    models.BigIntegerField(
                        help_text="The first id it covers: the one after the seal before.", unique=True
                    ),
                ),
                ("last", models.BigIntegerField(help_text="The last id it covers.", unique=True)),
                ("digests", models.BinaryField(help_text="Of each event its id, 8 bytes, and 16 bytes of SHA-256.")),
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
        migrations.RunPython(create_triggers),
    ]
