import uuid

from django.db import models
from django.db.models import Q

from accounts.models import Organization
from custody.models import Entry
from decisions.models import Decision


class NoticeSettings(models.Model):
    """What an organization's notices are made with."""

    organization = models.OneToOneField(Organization, on_delete=models.CASCADE, related_name="notice_settings")
    default_pack = models.CharField(max_length=64, default="general")
    placeholders = models.JSONField(
        default=dict, blank=True, help_text="Names and addresses that locked texts need, such as creditor_name."
    )

    class Meta:
        verbose_name_plural = "notice settings"

    def __str__(self) -> str:
        return f"notice settings of {self.organization}"


class Phrase(models.Model):
    """An organization's own words for a reason code or a record field, in one language."""

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="phrases")
    language = models.CharField(max_length=8)
    key = models.CharField(max_length=256, help_text="A reason code, or the path of a field.")
    sentence = models.TextField(blank=True, help_text="One sentence; {value} stands for the field's value.")
    label = models.CharField(max_length=200, blank=True, help_text="What the field is called.")
    withheld = models.BooleanField(default=False, help_text="The field is not printed.")
    owner = models.CharField(max_length=200, blank=True)
    approved_version = models.CharField(max_length=64, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "language", "key"], name="one_phrase_per_key"),
        ]

    def __str__(self) -> str:
        return f"{self.key} ({self.language})"


class Notice(models.Model):
    """A notice about a decision. What it says is in its revisions; this row says where it stands."""

    class State(models.TextChoices):
        DRAFT = "draft"
        APPROVED = "approved"
        WITHDRAWN = "withdrawn"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organization = models.ForeignKey(Organization, on_delete=models.PROTECT, related_name="+", db_index=False)
    decision = models.ForeignKey(Decision, on_delete=models.PROTECT, related_name="notices")
    pack = models.CharField(max_length=64)
    pack_version = models.CharField(max_length=32)
    pack_digest = models.CharField(max_length=64)
    language = models.CharField(max_length=8)
    recipient = models.JSONField(default=dict)
    state = models.CharField(max_length=16, choices=State.choices, default=State.DRAFT)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.CharField(max_length=300)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["draft", "approved", "withdrawn"]),
                name="notice_state_is_known",
            ),
        ]
        indexes = [
            models.Index(fields=["organization", "-created_at", "-id"], name="notices_newest_first"),
            models.Index(fields=["organization", "state", "-created_at", "-id"], name="notices_by_state"),
        ]

    def __str__(self) -> str:
        return str(self.id)


class NoticeRevision(models.Model):
    """What a notice said from one edit to the next. Never changed: an edit makes the next one."""

    notice = models.ForeignKey(Notice, on_delete=models.PROTECT, related_name="revisions", db_index=False)
    number = models.PositiveIntegerField()
    content = models.JSONField()
    digest = models.CharField(max_length=64, help_text="SHA-256 of the content's canonical JSON.")
    cited = models.JSONField(help_text="The value of each cited field when the revision was made.")
    author_kind = models.CharField(max_length=16)
    author_id = models.CharField(max_length=64)
    author_label = models.CharField(max_length=300)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["notice", "number"], name="revisions_are_numbered")]

    def __str__(self) -> str:
        return f"revision {self.number}"


class Approval(models.Model):
    """Somebody's approval of one revision. An edit voids it; it is kept all the same."""

    notice = models.ForeignKey(Notice, on_delete=models.PROTECT, related_name="approvals")
    revision = models.ForeignKey(NoticeRevision, on_delete=models.PROTECT, related_name="approvals")
    approver = models.CharField(max_length=300)
    authority = models.CharField(max_length=256)
    comment = models.TextField(blank=True)
    basis = models.CharField(max_length=300, help_text="'signed in', or 'asserted by key …': how sure it is.")
    actor_kind = models.CharField(max_length=16)
    actor_id = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)
    voided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["notice"], condition=Q(voided_at=None), name="one_approval_in_force"),
        ]

    def __str__(self) -> str:
        return f"approved by {self.approver}"


class SealedNotice(models.Model):
    """The custody record of an approved notice."""

    record = models.OneToOneField(Entry, on_delete=models.PROTECT, primary_key=True, related_name="+")
    organization = models.ForeignKey(Organization, on_delete=models.PROTECT, related_name="+", db_index=False)
    notice = models.OneToOneField(Notice, on_delete=models.PROTECT, related_name="sealed")

    def __str__(self) -> str:
        return str(self.pk)
