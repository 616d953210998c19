import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import notices.models.notices

# The names that upgraded databases have.
POSTGRESQL = """
ALTER TABLE notices_approval RENAME CONSTRAINT notices_approval_notice_id_key TO notices_approval_notice_id_88db4325_uniq;
ALTER TABLE notices_notice RENAME CONSTRAINT notices_notice_address_key TO notices_notice_address_dc6028ec_uniq;
"""


def rename_constraints(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(POSTGRESQL)


class Migration(migrations.Migration):
    replaces = [
        ("notices", "0001_initial"),
        ("notices", "0002_letters_and_deadlines"),
        ("notices", "0003_refused_addresses"),
        ("notices", "0004_writers_and_senders"),
        ("notices", "0005_known_writers"),
        ("notices", "0006_leases"),
        ("notices", "0007_disposals"),
        ("notices", "0008_warnings"),
        ("notices", "0009_sensitive_fields"),
        ("notices", "0010_requests_to_be_told"),
        ("notices", "0011_advisory_packs"),
        ("notices", "0012_stored_checks"),
        ("notices", "0013_stored_pdfs"),
        ("notices", "0014_guards"),
        ("notices", "0015_sealed_approvals"),
        ("notices", "0016_wording"),
        ("notices", "0017_deliveries_by_day"),
    ]

    initial = True

    dependencies = [
        ("accounts", "0001_squashed_0017_wording"),
        ("custody", "0001_squashed_0019_failing_disposals"),
        ("decisions", "0001_squashed_0006_lists_of_any_size"),
    ]

    operations = [
        migrations.CreateModel(
            name="Notice",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("pack", models.CharField(max_length=64)),
                ("pack_version", models.CharField(max_length=32)),
                ("pack_digest", models.CharField(max_length=64)),
                ("language", models.CharField(max_length=8)),
                ("recipient", models.JSONField(default=dict)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("draft", "Draft"),
                            ("in_review", "In Review"),
                            ("approved", "Approved"),
                            ("delivered", "Delivered"),
                            ("withdrawn", "Withdrawn"),
                        ],
                        default="draft",
                        max_length=16,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("created_by", models.CharField(max_length=300)),
                (
                    "decision",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="notices", to="decisions.decision"
                    ),
                ),
                (
                    "organization",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="accounts.organization",
                    ),
                ),
                (
                    "address",
                    models.CharField(
                        default=notices.models.notices.new_address,
                        help_text="Of its public page.",
                        max_length=16,
                        unique=True,
                    ),
                ),
                (
                    "due_at",
                    models.DateTimeField(blank=True, help_text="By the strictest clock of the pack.", null=True),
                ),
                ("due_clock", models.CharField(blank=True, help_text="The clock that sets it.", max_length=64)),
                (
                    "holder",
                    models.ForeignKey(
                        blank=True,
                        help_text="Who works on it.",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="accounts.member",
                    ),
                ),
                (
                    "problems",
                    models.PositiveIntegerField(
                        default=0, help_text="Findings that blocked approval at the last edit."
                    ),
                ),
                (
                    "supersedes",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="successors",
                        to="notices.notice",
                    ),
                ),
                ("disposed_at", models.DateTimeField(editable=False, null=True)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["organization", "-created_at", "-id"], name="notices_newest_first"),
                    models.Index(fields=["organization", "state", "-created_at", "-id"], name="notices_by_state"),
                    models.Index(
                        condition=models.Q(("state__in", ["draft", "in_review", "approved"])),
                        fields=["organization", "due_at"],
                        name="notices_by_deadline",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["draft", "in_review", "approved", "delivered", "withdrawn"])),
                        name="notice_state_is_known",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("state", "withdrawn"), _negated=True),
                        fields=("supersedes",),
                        name="one_new_version_at_a_time",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="NoticeRevision",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("content", models.JSONField()),
                ("digest", models.CharField(help_text="SHA-256 of the content's canonical JSON.", max_length=64)),
                ("cited", models.JSONField(help_text="The value of each cited field when the revision was made.")),
                ("author_kind", models.CharField(max_length=16)),
                ("author_id", models.CharField(max_length=64)),
                ("author_label", models.CharField(max_length=300)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "notice",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="revisions",
                        to="notices.notice",
                    ),
                ),
                (
                    "not_applicable",
                    models.JSONField(default=dict, help_text="Elements that do not apply, each with the reason."),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("notice", "number"), name="revisions_are_numbered")]
            },
        ),
        migrations.CreateModel(
            name="NoticeSettings",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("default_pack", models.CharField(default="general", max_length=64)),
                (
                    "placeholders",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="Names and addresses that locked texts need, such as creditor_name.",
                    ),
                ),
                (
                    "organization",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notice_settings",
                        to="accounts.organization",
                    ),
                ),
                (
                    "at_risk_days",
                    models.PositiveSmallIntegerField(
                        default=7, help_text="A notice is at risk when this many days or fewer are left."
                    ),
                ),
                (
                    "require_grants",
                    models.BooleanField(
                        default=False, help_text="Only signed-in members with a matching authority grant approve."
                    ),
                ),
                (
                    "require_other_key",
                    models.BooleanField(
                        default=False,
                        help_text="An API key does not approve what it, or another key of its maker, wrote.",
                    ),
                ),
                (
                    "sensitive_fields",
                    models.JSONField(
                        blank=True,
                        default=list,
                        help_text="Names of fields that letters withhold, beside those of the default list.",
                    ),
                ),
                (
                    "printable_fields",
                    models.JSONField(
                        blank=True,
                        default=list,
                        help_text="Names that the default list has and letters print all the same.",
                    ),
                ),
                (
                    "signatory",
                    models.JSONField(
                        blank=True, default=dict, help_text="Who signs letters: name, function and telephone."
                    ),
                ),
                (
                    "require_acknowledged",
                    models.BooleanField(
                        default=False,
                        help_text="Approval under an advisory pack, too, acknowledges every open warning.",
                    ),
                ),
                (
                    "loosenings",
                    models.JSONField(
                        default=dict, editable=False, help_text="Guards that will loosen: to what, and when."
                    ),
                ),
            ],
            options={"verbose_name_plural": "notice settings"},
        ),
        migrations.CreateModel(
            name="Phrase",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("language", models.CharField(max_length=8)),
                ("key", models.CharField(help_text="A reason code, or the path of a field.", max_length=256)),
                (
                    "sentence",
                    models.TextField(blank=True, help_text="One sentence; {value} becomes the field's value."),
                ),
                ("label", models.CharField(blank=True, help_text="What the field is called.", max_length=200)),
                ("withheld", models.BooleanField(default=False, help_text="The field is not printed.")),
                ("owner", models.CharField(blank=True, max_length=200)),
                ("approved_version", models.CharField(blank=True, max_length=64)),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="phrases", to="accounts.organization"
                    ),
                ),
                (
                    "authors",
                    models.JSONField(
                        default=dict,
                        editable=False,
                        help_text="Who wrote sentence and label as they are, and who withheld the field.",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("organization", "language", "key"), name="one_phrase_per_key")
                ]
            },
        ),
        migrations.CreateModel(
            name="SealedNotice",
            fields=[
                (
                    "record",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="custody.entry",
                    ),
                ),
                (
                    "notice",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT, related_name="sealed", to="notices.notice"
                    ),
                ),
                (
                    "organization",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="accounts.organization",
                    ),
                ),
                ("letter_digest", models.CharField(help_text="SHA-256 of the letter's proof file.", max_length=64)),
            ],
        ),
        migrations.CreateModel(
            name="AuthorityGrant",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "authority",
                    models.CharField(help_text="Such as credit officer, or medical director.", max_length=256),
                ),
                ("packs", models.JSONField(blank=True, default=list, help_text="Ids of packs; none means all.")),
                ("valid_from", models.DateField()),
                (
                    "valid_to",
                    models.DateField(blank=True, help_text="The last day; empty means until revoked.", null=True),
                ),
                ("evidence", models.TextField(blank=True, help_text="Where the authority is written down.")),
                ("granted_by", models.CharField(max_length=300)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="authority_grants",
                        to="accounts.organization",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["organization", "-created_at", "-id"], name="grants_newest_first")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("valid_to", None), ("valid_to__gte", models.F("valid_from")), _connector="OR"
                        ),
                        name="grant_ends_after_it_begins",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Approval",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("approver", models.CharField(max_length=300)),
                ("authority", models.CharField(max_length=256)),
                ("comment", models.TextField(blank=True)),
                (
                    "basis",
                    models.CharField(help_text="'signed in', or 'asserted by key …': how sure it is.", max_length=300),
                ),
                ("actor_kind", models.CharField(max_length=16)),
                ("actor_id", models.CharField(max_length=64)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "notice",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT, related_name="approval", to="notices.notice"
                    ),
                ),
                (
                    "revision",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="notices.noticerevision"
                    ),
                ),
                (
                    "grant",
                    models.ForeignKey(
                        help_text="None: unverified.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="approvals",
                        to="notices.authoritygrant",
                    ),
                ),
                (
                    "sender",
                    models.TextField(
                        help_text="The contact in the letter's head. None: from before it was sealed with the notice.",
                        null=True,
                    ),
                ),
                (
                    "words_named",
                    models.BooleanField(
                        help_text="Whether the approver said which revision they had read. None: from before that was kept.",
                        null=True,
                    ),
                ),
                ("lease_until", models.DateTimeField(editable=False, null=True)),
                ("lease_token", models.UUIDField(editable=False, null=True)),
                ("attempts", models.PositiveIntegerField(default=0, editable=False)),
                ("next_try_at", models.DateTimeField(editable=False, null=True)),
                (
                    "acknowledged",
                    models.JSONField(
                        help_text="The warnings that the approver acknowledged. None: from before there were warnings.",
                        null=True,
                    ),
                ),
                (
                    "signatory",
                    models.JSONField(
                        help_text="Who signs the letter. None: from before letters had a signatory.", null=True
                    ),
                ),
                (
                    "open_warnings",
                    models.JSONField(
                        help_text="Warnings open at approval under an advisory pack, not acknowledged. None: from before it was kept.",
                        null=True,
                    ),
                ),
                (
                    "record_id",
                    models.UUIDField(
                        editable=False,
                        help_text="The sealed notice. None: not sealed yet. Set once, never unset.",
                        null=True,
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("record_id", None)), fields=["id"], name="approvals_to_seal")
                ]
            },
        ),
        migrations.CreateModel(
            name="Delivery",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "channel",
                    models.CharField(
                        choices=[("email", "Email"), ("post", "Post"), ("portal", "Portal"), ("hand", "Hand")],
                        max_length=8,
                    ),
                ),
                ("address", models.TextField(blank=True, help_text="The address used.")),
                (
                    "reference",
                    models.CharField(
                        blank=True, help_text="The provider's, such as a tracking number.", max_length=200
                    ),
                ),
                (
                    "letter_digest",
                    models.CharField(blank=True, help_text="SHA-256 of the file that was mailed.", max_length=64),
                ),
                ("recorded_by", models.CharField(max_length=300)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("lease_until", models.DateTimeField(editable=False, null=True)),
                (
                    "handled_at",
                    models.DateTimeField(help_text="When a mail went out; for other channels at once.", null=True),
                ),
                ("delivered_at", models.DateTimeField(blank=True, null=True)),
                ("returned_at", models.DateTimeField(blank=True, null=True)),
                ("returned_because", models.TextField(blank=True)),
                (
                    "notice",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="deliveries", to="notices.notice"
                    ),
                ),
                ("lease_token", models.UUIDField(editable=False, null=True)),
                ("attempts", models.PositiveIntegerField(default=0, editable=False)),
                ("next_try_at", models.DateTimeField(editable=False, null=True)),
            ],
            options={
                "verbose_name_plural": "deliveries",
                "indexes": [
                    models.Index(
                        condition=models.Q(("handled_at", None)), fields=["created_at"], name="letters_to_mail"
                    ),
                    models.Index(
                        condition=models.Q(("delivered_at__isnull", False)),
                        fields=["handled_at"],
                        name="letters_by_day",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Reminder",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.DateField()),
                ("lease_until", models.DateTimeField(editable=False, null=True)),
                ("handled_at", models.DateTimeField(null=True)),
                (
                    "member",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.member"
                    ),
                ),
                ("lease_token", models.UUIDField(editable=False, null=True)),
                ("attempts", models.PositiveIntegerField(default=0, editable=False)),
                ("next_try_at", models.DateTimeField(editable=False, null=True)),
            ],
            options={"constraints": [models.UniqueConstraint(fields=("member", "day"), name="one_reminder_a_day")]},
        ),
        migrations.CreateModel(
            name="ReviewRequest",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("message", models.TextField(blank=True)),
                ("email", models.EmailField(blank=True, help_text="Where an acknowledgement goes.", max_length=254)),
                ("received_at", models.DateTimeField()),
                ("due_at", models.DateTimeField(blank=True, null=True)),
                ("due_clock", models.CharField(blank=True, max_length=64)),
                ("lease_until", models.DateTimeField(editable=False, null=True)),
                (
                    "handled_at",
                    models.DateTimeField(help_text="When the acknowledgement went out, or was given up.", null=True),
                ),
                ("closed_at", models.DateTimeField(blank=True, null=True)),
                ("closed_by", models.CharField(blank=True, max_length=300)),
                ("closed_because", models.TextField(blank=True)),
                (
                    "notice",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="review_requests", to="notices.notice"
                    ),
                ),
                (
                    "organization",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="accounts.organization",
                    ),
                ),
                (
                    "refused_at",
                    models.DateTimeField(help_text="When the mail server refused the address for good.", null=True),
                ),
                ("lease_token", models.UUIDField(editable=False, null=True)),
                ("attempts", models.PositiveIntegerField(default=0, editable=False)),
                ("next_try_at", models.DateTimeField(editable=False, null=True)),
                (
                    "told_at",
                    models.DateTimeField(help_text="When a letter about the outcome reached the person.", null=True),
                ),
                (
                    "told_by",
                    models.ForeignKey(
                        help_text="That letter.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="told_requests",
                        to="notices.notice",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["organization", "-received_at", "-id"], name="reviews_newest_first"),
                    models.Index(
                        condition=models.Q(("handled_at", None)), fields=["received_at"], name="reviews_to_acknowledge"
                    ),
                    models.Index(
                        condition=models.Q(("closed_at", None), ("told_at", None)),
                        fields=["organization", "due_at"],
                        name="reviews_unfinished",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("closed_at", None), models.Q(("closed_because", ""), _negated=True), _connector="OR"
                        ),
                        name="closing_has_a_reason",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("told_at", None), ("told_by", None)),
                            models.Q(("told_at__isnull", False), ("told_by__isnull", False)),
                            _connector="OR",
                        ),
                        name="telling_has_its_letter",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("told_at", None), ("closed_at", None), _connector="OR"),
                        name="told_or_closed",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Step",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("submitted", "Submitted"),
                            ("changes_requested", "Changes Requested"),
                            ("readdressed", "Readdressed"),
                            ("withdrawn", "Withdrawn"),
                        ],
                        max_length=20,
                    ),
                ),
                ("reason", models.TextField(blank=True)),
                ("actor_label", models.CharField(max_length=300)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "notice",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="steps", to="notices.notice"
                    ),
                ),
                (
                    "revision",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="notices.noticerevision"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("kind", "changes_requested"), ("reason", ""), _negated=True),
                        name="changes_have_a_reason",
                    )
                ]
            },
        ),
        migrations.CreateModel(
            name="Contributor",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "part",
                    models.CharField(
                        choices=[
                            ("words", "drafted or edited it"),
                            ("phrase", "wrote a phrase that it uses"),
                            ("waiver", "said that an element which blocks does not apply"),
                        ],
                        max_length=8,
                    ),
                ),
                ("actor_kind", models.CharField(max_length=16)),
                ("actor_id", models.CharField(max_length=64)),
                (
                    "mail",
                    models.CharField(
                        blank=True, help_text="Of the member behind it, also where it was a key.", max_length=254
                    ),
                ),
                (
                    "notice",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="contributors",
                        to="notices.notice",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("notice", "part", "actor_kind", "actor_id"), name="contributors_once"
                    )
                ]
            },
        ),
        migrations.CreateModel(
            name="StoredCheck",
            fields=[
                (
                    "notice",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="notices.notice",
                    ),
                ),
                ("digest", models.CharField(help_text="Of everything that the result depends on.", max_length=64)),
                ("valid_until", models.DateTimeField(help_text="When a deadline of the checklist passes.", null=True)),
                ("result", models.BinaryField(help_text="As `notices.check_results` packs it.")),
            ],
        ),
        migrations.CreateModel(
            name="StoredPdf",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("paper", models.CharField(max_length=8)),
                ("digest", models.CharField(help_text="Of the letter and what made it.", max_length=64)),
                ("file", models.BinaryField()),
                (
                    "notice",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="notices.notice",
                    ),
                ),
            ],
            options={"constraints": [models.UniqueConstraint(fields=("notice", "paper"), name="one_pdf_of_a_paper")]},
        ),
        migrations.RunPython(rename_constraints),
    ]
