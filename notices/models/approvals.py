"""Authority grants, approvals, and their sealed records."""

from django.db import models
from django.db.models import F, Q

from accounts.models import Organization, User
from config.leases import Leased
from config.tenancy import TenantQuerySet
from custody.models import Entry
from notices import asserted
from notices.models.notices import Notice, NoticeRevision
from notices.models.querysets import NoticePartQuerySet


class AuthorityGrant(models.Model):
    """An organization's permission for a member to approve notices: its authority, its packs, and its last day."""

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="authority_grants")
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    authority = models.CharField(max_length=256, help_text="Such as credit officer, or medical director.")
    packs = models.JSONField(default=list, blank=True, help_text="Ids of packs; none means all.")
    valid_from = models.DateField()
    valid_to = models.DateField(null=True, blank=True, help_text="The last day; empty means until revoked.")
    evidence = models.TextField(blank=True, help_text="Where the authority is written down.")
    granted_by = models.CharField(max_length=300)
    created_at = models.DateTimeField(auto_now_add=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = TenantQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(valid_to=None) | Q(valid_to__gte=F("valid_from")), name="grant_ends_after_it_begins"
            ),
        ]
        indexes = [models.Index(fields=["organization", "-created_at", "-id"], name="grants_newest_first")]

    def __str__(self) -> str:
        return f"{self.user} as {self.authority}"


class Approval(Leased):
    """The approval of one revision. It ends editing: a later change needs a new version of the notice."""

    notice = models.OneToOneField(Notice, on_delete=models.PROTECT, related_name="approval")
    revision = models.ForeignKey(NoticeRevision, on_delete=models.PROTECT, related_name="+")
    approver = models.CharField(max_length=300)
    authority = models.CharField(max_length=256)
    comment = models.TextField(blank=True)
    basis = models.CharField(max_length=300, help_text="'signed in', or 'asserted by key …': how sure it is.")
    grant = models.ForeignKey(
        AuthorityGrant, on_delete=models.PROTECT, null=True, related_name="approvals", help_text="None: unverified."
    )
    words_named = models.BooleanField(
        null=True, help_text="Whether the approver said which revision they had read. None: from before that was kept."
    )
    sender = models.TextField(
        null=True, help_text="The contact in the letter's head. None: from before it was sealed with the notice."
    )
    signatory = models.JSONField(
        null=True, help_text="Who signs the letter. None: from before letters had a signatory."
    )
    acknowledged = models.JSONField(
        null=True, help_text="The warnings that the approver acknowledged. None: from before there were warnings."
    )
    open_warnings = models.JSONField(
        null=True,
        help_text="Warnings open at approval under an advisory pack, not acknowledged. None: from before it was kept.",
    )
    actor_kind = models.CharField(max_length=16)
    actor_id = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)
    record_id = models.UUIDField(
        null=True, editable=False, help_text="The sealed notice. None: not sealed yet. Set once, never unset."
    )

    objects = NoticePartQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["id"], condition=Q(record_id=None), name="approvals_to_seal")]

    def __str__(self) -> str:
        return f"approved by {self.approver}"

    @property
    def full_basis(self) -> str:
        """The basis of the approval, as pages and the API show it."""
        return asserted.full(self.basis)


class SealedNotice(models.Model):
    """The custody record of an approved notice."""

    record = models.OneToOneField(Entry, on_delete=models.PROTECT, primary_key=True, related_name="+")
    organization = models.ForeignKey(Organization, on_delete=models.PROTECT, related_name="+", db_index=False)
    notice = models.OneToOneField(Notice, on_delete=models.PROTECT, related_name="sealed")
    letter_digest = models.CharField(max_length=64, help_text="SHA-256 of the letter's proof file.")

    objects = TenantQuerySet.as_manager()

    def __str__(self) -> str:
        return str(self.pk)
