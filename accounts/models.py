import uuid

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower

from accounts.roles import Role

ROLES = [(role.value, role.value) for role in Role]


class Organization(models.Model):
    """The tenant: every other row belongs to exactly one."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name


class User(AbstractBaseUser):
    """A person, known by a mail address. What they may do comes from their memberships."""

    email = models.EmailField(max_length=254, unique=True)
    name = models.CharField(max_length=200, blank=True)
    is_active = models.BooleanField(default=True)
    is_superuser = models.BooleanField(default=False, help_text="Runs the platform; belongs to no organization.")
    created_at = models.DateTimeField(auto_now_add=True)

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"

    objects = BaseUserManager()

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(email=Lower("email")), name="email_is_lowercase")]

    def __str__(self) -> str:
        return self.email


class Member(models.Model):
    """A person in an organization, with a role."""

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="members")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=16, choices=ROLES)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "user"], name="one_membership_per_organization"),
            models.CheckConstraint(condition=Q(role__in=list(Role)), name="member_role_is_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user} ({self.role})"


class ApiKey(models.Model):
    """A machine's credential. Only an HMAC of the secret is kept; the secret is shown once, at creation."""

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="api_keys")
    key_id = models.CharField(max_length=16, unique=True)
    digest = models.CharField(max_length=64)
    name = models.TextField()
    role = models.CharField(max_length=16, choices=ROLES)
    created_by = models.CharField(max_length=300, help_text="Who made it, as the audit trail names them.")
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "API key"
        constraints = [models.CheckConstraint(condition=Q(role__in=list(Role)), name="key_role_is_known")]
        indexes = [models.Index(fields=["organization", "-created_at", "-id"], name="key_newest_first")]

    def __str__(self) -> str:
        return f"{self.name} ({self.key_id})"


class AuditEvent(models.Model):
    """One line of the append-only audit trail: database triggers refuse its change and deletion.

    It names who did what to which object, never what the object says.
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

    class Meta:
        indexes = [models.Index(fields=["organization", "-at", "-id"], name="audit_newest_first")]

    def __str__(self) -> str:
        return f"{self.verb} {self.object_kind} {self.object_id}"
