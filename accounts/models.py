import uuid

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _

from accounts.four_eyes import Guarded
from accounts.roles import MEMBER_ROLES, Role
from config.leases import Leased
from config.tenancy import TenantQuerySet
from config.wrapped_secrets import WrappedSecret

ROLES = [(role.value, role.value) for role in Role]
_MEMBER_ROLES = [(role.value, role.value) for role in MEMBER_ROLES]
MAX_KEY_NAME = 256


class FirstSteps(models.Model):
    """The onboarding flags of a member, or of an organization."""

    onboarding_dismissed = models.BooleanField(default=False)
    onboarding_opened = models.BooleanField(default=False)
    onboarding_verified = models.BooleanField(default=False)

    class Meta:
        abstract = True


class Organization(FirstSteps, Guarded):
    """The tenant: every other row belongs to exactly one. Its onboarding flags serve keys without a member."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=200)
    second_factor_required = models.BooleanField(
        default=False, help_text="Owners, admins and approvers confirm their sign-in with an authenticator app."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    GUARDS = {"second_factor_required": "a second factor for everyone who approves or manages"}

    def __str__(self) -> str:
        return self.name

    def is_owners_alone(self, guard: str) -> bool:
        """Whether tightening takes an owner with an app. It does not: no one has an app before this guard asks."""
        return False


class User(AbstractBaseUser):
    """A person, known by an email address. Their memberships give them roles."""

    email = models.EmailField(max_length=254, unique=True)
    name = models.CharField(max_length=200, blank=True)
    is_active = models.BooleanField(default=True)
    is_superuser = models.BooleanField(default=False, help_text="Runs the platform; belongs to no organization.")
    totp_secret = models.TextField(blank=True, editable=False, help_text="Encrypted.")
    totp_counter = models.BigIntegerField(default=0, editable=False, help_text="The last time step a code was used of.")
    created_at = models.DateTimeField(auto_now_add=True)

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"

    objects = BaseUserManager()

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(email=Lower("email")), name="email_is_lowercase")]

    def __str__(self) -> str:
        return self.email

    @cached_property  # a page asks several times, and each request loads its own User
    def loaded_memberships(self) -> list["Member"]:
        """Return the person's memberships with their organizations, oldest first."""
        return list(self.memberships.select_related("organization").order_by("pk"))

    @property
    def is_staff(self) -> bool:
        """Whether the back office lets this person in. Their role decides what they see there."""
        return self.is_superuser or bool(self.loaded_memberships)

    def has_perm(self, perm: str, obj: object = None) -> bool:
        return self.is_superuser

    def has_module_perms(self, app_label: str) -> bool:
        return self.is_active


class Member(FirstSteps):
    """A person in an organization, with a role."""

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="members")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=16, choices=_MEMBER_ROLES)
    maker = models.CharField(
        max_length=254, blank=True, help_text="Mail address of the member who gave the role, also by a key of theirs."
    )
    making_key = models.ForeignKey(
        "ApiKey", on_delete=models.RESTRICT, null=True, blank=True, editable=False, related_name="made_members",
        help_text="The key that gave the role, itself or by its invitation.",
    )  # fmt: skip
    created_at = models.DateTimeField(auto_now_add=True)

    objects = TenantQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "user"], name="one_membership_per_organization"),
            models.CheckConstraint(condition=Q(role__in=list(MEMBER_ROLES)), name="member_role_is_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user} ({self.role})"


class ApiKey(models.Model):
    """A machine's credential. The secret is shown once, at creation; the row has only its HMAC."""

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="api_keys")
    key_id = models.CharField(max_length=16, unique=True)
    digest = models.CharField(max_length=64)
    name = models.CharField(max_length=MAX_KEY_NAME, blank=True)
    role = models.CharField(max_length=16, choices=ROLES)
    created_by = models.CharField(max_length=300, help_text="Who made it, as the audit trail names them.")
    maker = models.CharField(
        max_length=254,
        blank=True,
        help_text="Mail address of the member behind it, also where a key of theirs made it.",
    )
    making_key = models.ForeignKey(
        "self", on_delete=models.RESTRICT, null=True, blank=True, editable=False, related_name="made_keys",
        help_text="The key that made it. A database trigger keeps it from outliving that one.",
    )  # fmt: skip
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = TenantQuerySet.as_manager()

    class Meta:
        verbose_name = _("API key")
        constraints = [models.CheckConstraint(condition=Q(role__in=list(Role)), name="key_role_is_known")]
        indexes = [models.Index(fields=["organization", "-created_at", "-id"], name="key_newest_first")]

    def __str__(self) -> str:
        return f"{self.name} ({self.key_id})"

    @property
    def state(self) -> str:
        if self.revoked_at:
            return "revoked"
        return "expired" if self.expires_at and self.expires_at <= timezone.now() else "active"


class OneTimeCode(Leased):
    """A request to sign in. Every address gets a row: only the mail worker looks for an account and makes the code."""

    email = models.EmailField(max_length=254)
    intent = models.CharField(max_length=64)
    client = models.CharField(max_length=45, help_text="Network address of the request.")
    browser = models.CharField(max_length=64, help_text="Digest of the cookie of the browser in which the code works.")
    known = models.BooleanField(default=False, help_text="Whether a code of this address was used there before.")
    digest = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    handled_at = models.DateTimeField(null=True)
    tries = models.PositiveSmallIntegerField(default=0)
    tries_noted = models.PositiveSmallIntegerField(default=0, help_text="How many of them the audit trail tells of.")
    used_at = models.DateTimeField(null=True)
    app_tries = models.PositiveSmallIntegerField(default=0, help_text="At the second factor, after this code.")
    invite = models.ForeignKey(
        "Invite", on_delete=models.CASCADE, null=True, related_name="codes", help_text="The invitation it accepts."
    )
    new_secret = models.TextField(blank=True, help_text="Of the app to enrol at the second factor. Encrypted.")
    confirmed_at = models.DateTimeField(null=True, help_text="When the second factor followed.")

    class Meta:
        indexes = [
            models.Index(fields=["email", "-created_at"], name="codes_by_email"),
            models.Index(fields=["client", "-created_at"], name="codes_by_client"),
            models.Index(fields=["created_at"], condition=Q(handled_at=None), name="codes_to_send"),
        ]

    def __str__(self) -> str:
        return f"code of {self.created_at}"


class RateCounter(models.Model):
    """A count of tries in one window of time. The key is a digest of the person or address, and of the thing tried."""

    key = models.CharField(max_length=64, primary_key=True)
    count = models.PositiveIntegerField(default=0)
    ends_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.count} until {self.ends_at}"


class Invite(Leased):
    """An offer of membership to an email address. The link in the mail accepts it."""

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="invites")
    email = models.EmailField(max_length=254)
    role = models.CharField(max_length=16, choices=_MEMBER_ROLES)
    digest = models.CharField(max_length=64, blank=True, db_index=True)
    created_by = models.CharField(max_length=300)
    maker = models.CharField(max_length=254, blank=True, help_text="Mail address of the member behind it, as of a key.")
    making_key = models.ForeignKey(
        ApiKey, on_delete=models.RESTRICT, null=True, blank=True, editable=False, related_name="made_invites",
        help_text="The key that made it. A database trigger keeps it from outliving that one.",
    )  # fmt: skip
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    handled_at = models.DateTimeField(null=True)
    accepted_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = TenantQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["organization", "email"],
                condition=Q(accepted_at=None, revoked_at=None),
                name="one_open_invite_per_email",
            ),
            models.CheckConstraint(condition=Q(role__in=list(MEMBER_ROLES)), name="invite_role_is_known"),
        ]
        indexes = [
            models.Index(fields=["organization", "-created_at", "-id"], name="invites_newest_first"),
            models.Index(fields=["created_at"], condition=Q(handled_at=None), name="invites_to_send"),
        ]

    def __str__(self) -> str:
        return f"{self.email} as {self.role}"

    @property
    def status(self) -> str:
        if self.accepted_at:
            return "accepted"
        if self.revoked_at:
            return "revoked"
        return "expired" if self.expires_at <= timezone.now() else "open"


class LooseningMailQuerySet(TenantQuerySet["LooseningMail"]):
    organization_path = "member__organization"


class LooseningMail(Leased):
    """A mail that tells an owner which guard of four eyes will loosen."""

    member = models.ForeignKey(Member, on_delete=models.CASCADE, related_name="+")
    guard = models.CharField(max_length=200)
    asked_by = models.CharField(max_length=300)
    takes_effect_at = models.DateTimeField()
    page = models.CharField(max_length=200, blank=True)
    handled_at = models.DateTimeField(null=True)

    objects = LooseningMailQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["id"], condition=Q(handled_at=None), name="loosenings_to_mail")]

    def __str__(self) -> str:
        return f"{self.guard} to {self.member_id}"


class SignedInSession(models.Model):
    """A browser in which a person is signed in. They can list and end their sessions."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="sessions")
    session_key = models.CharField(max_length=40, unique=True)
    client = models.CharField(max_length=45)
    agent = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.user} since {self.created_at}"


class KeptAnswer(models.Model):
    """The answer to a request with an Idempotency-Key, for a day. Only the client's key decrypts it."""

    slot = models.CharField(max_length=64, primary_key=True, help_text="Of one caller, operation, path and key.")
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="+")
    sealed = models.TextField(help_text="What was asked and what was answered, encrypted.")
    created_at = models.DateTimeField(db_index=True)

    objects = TenantQuerySet.as_manager()

    def __str__(self) -> str:
        return self.slot


class AuditEvent(models.Model):
    """One line of the append-only audit trail: database triggers refuse its change and deletion.

    It names actor, action and object, never the object's content.
    """

    organization = models.ForeignKey(Organization, on_delete=models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    verb = models.CharField(max_length=64)
    actor_kind = models.CharField(max_length=16)
    actor_id = models.CharField(max_length=64)
    actor_label = models.CharField(max_length=300)
    object_kind = models.CharField(max_length=32)
    object_id = models.CharField(max_length=64)
    detail = models.JSONField(default=dict)

    objects = TenantQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["organization", "-at", "-id"], name="audit_newest_first"),
            models.Index(fields=["organization", "verb", "-at", "-id"], name="audit_by_verb"),
            models.Index(fields=["organization", "actor_label", "-at", "-id"], name="audit_by_actor"),
            models.Index(fields=["organization", "object_kind", "-at", "-id"], name="audit_by_object_kind"),
        ]

    def __str__(self) -> str:
        return f"{self.verb} {self.object_kind} {self.object_id}"


class AuditSeal(models.Model):
    """Digests of consecutive audit events, which reveal later changes, removals and additions.

    Each seal is chained to the one before by a keyed digest. Database triggers refuse its change and deletion.
    """

    first = models.BigIntegerField(unique=True, help_text="The first id it covers: the one after the seal before.")
    last = models.BigIntegerField(unique=True, help_text="The last id it covers.")
    digests = models.BinaryField(help_text="Of each event its id, 8 bytes, and 16 bytes of SHA-256.")
    mac = models.CharField(max_length=64)
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"audit events {self.first} to {self.last}"


class AuditSealHead(models.Model):
    """Keyed count of the seals: one row, which shows later that the newest seals, or all of them, were removed.

    Database triggers refuse its deletion, and any change but that of one more seal.
    """

    only = models.BooleanField(primary_key=True, default=True, editable=False)
    last = models.BigIntegerField(help_text="The last id that a seal covers.")
    seals = models.BigIntegerField(help_text="How many seals there are.")
    mac = models.CharField(max_length=64)

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(only=True), name="one_audit_seal_head")]

    def __str__(self) -> str:
        return f"{self.seals} seals"


class Pepper(WrappedSecret):
    """A key for the digests of API keys, codes and links, and for the encryption of second factors.

    New digests use the newest pepper. Earlier peppers still verify older digests.
    """

    generation = models.PositiveSmallIntegerField(primary_key=True)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"pepper {self.generation}"

    @property
    def context(self) -> str:
        return f"accounts.Pepper {self.generation}"
