"""Notices, their revisions and contributors, and their steps before approval."""

import secrets
import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from accounts.models import Member, Organization
from config import db
from config.tenancy import TenantQuerySet
from custody.models import Disposal
from custody.selectors import DisposedConflict, disposal_of
from decisions.models import Decision, MappingVersion
from notices.checklist import Case
from notices.models.querysets import NoticePartQuerySet
from notices.packs import packs

_UNAMBIGUOUS = "23456789abcdefghjkmnpqrstuvwxyz"  # without look-alikes on paper, such as 0 and o


def new_address() -> str:
    """Return the last part of a letter's short URL: 12 characters, 59 bits, too many to find a letter by guessing."""
    return "".join(secrets.choice(_UNAMBIGUOUS) for _ in range(12))


class NoticeQuerySet(TenantQuerySet["Notice"]):
    def locked(self, notice_id: uuid.UUID) -> "Notice":
        """Lock and return a notice until this transaction ends. Raises DisposedConflict."""
        row = db.only(self.select_for_update(of=("self",)).filter(pk=notice_id))
        if row is None:
            raise DisposedConflict(
                Notice.with_disposed.unscoped("the caller had the notice").get(pk=notice_id).disposal
            )
        return row


class NoticeManager(models.Manager["Notice"]):
    """Notices whose records are not disposed of."""

    def get_queryset(self) -> NoticeQuerySet:
        return NoticeQuerySet(self.model, using=self._db).filter(disposed_at=None)

    def for_organization(self, organization: models.Model | uuid.UUID) -> NoticeQuerySet:
        return self.get_queryset().for_organization(organization)

    def unscoped(self, because: str) -> NoticeQuerySet:
        return self.get_queryset().unscoped(because)


class Notice(models.Model):
    """A notice about a decision. Its revisions hold its words; this row holds its state. After the disposal of its
    decision, the columns that reports count remain, and the address of its public page."""

    class State(models.TextChoices):
        DRAFT = "draft"
        IN_REVIEW = "in_review"
        APPROVED = "approved"
        DELIVERED = "delivered"
        WITHDRAWN = "withdrawn"

    EDITABLE: ClassVar = (State.DRAFT, State.IN_REVIEW)
    FINISHED: ClassVar = (State.APPROVED, State.DELIVERED)
    UNSENT: ClassVar = (*EDITABLE, State.APPROVED)

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organization = models.ForeignKey(Organization, on_delete=models.PROTECT, related_name="+", db_index=False)
    decision = models.ForeignKey(Decision, on_delete=models.PROTECT, related_name="notices")
    pack = models.CharField(max_length=64)
    pack_version = models.CharField(max_length=32)
    pack_digest = models.CharField(max_length=64)
    mapping = models.ForeignKey(
        MappingVersion,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="The version that says what the record's fields mean.",
    )
    language = models.CharField(max_length=8)
    recipient = models.JSONField(default=dict)
    state = models.CharField(max_length=16, choices=State.choices, default=State.DRAFT)
    due_at = models.DateTimeField(null=True, blank=True, help_text="By the strictest clock of the pack.")
    due_clock = models.CharField(max_length=64, blank=True, help_text="The clock that sets it.")
    problems = models.PositiveIntegerField(default=0, help_text="Findings that blocked approval at the last edit.")
    holder = models.ForeignKey(
        Member, on_delete=models.SET_NULL, null=True, blank=True, related_name="+", help_text="Who works on it."
    )
    supersedes = models.ForeignKey("self", on_delete=models.PROTECT, null=True, blank=True, related_name="successors")
    address = models.CharField(max_length=16, unique=True, default=new_address, help_text="Of its public page.")
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.CharField(max_length=300)
    disposed_at = models.DateTimeField(null=True, editable=False)

    case: Case | None = None
    """The case that a new revision was just checked against, so that the answer does not read it again."""

    objects = NoticeManager()
    with_disposed = NoticeQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["draft", "in_review", "approved", "delivered", "withdrawn"]),
                name="notice_state_is_known",
            ),
            models.UniqueConstraint(
                fields=["supersedes"], condition=~Q(state="withdrawn"), name="one_new_version_at_a_time"
            ),
        ]
        indexes = [
            models.Index(fields=["organization", "-created_at", "-id"], name="notices_newest_first"),
            models.Index(fields=["organization", "state", "-created_at", "-id"], name="notices_by_state"),
            models.Index(
                fields=["organization", "due_at"],
                condition=Q(state__in=["draft", "in_review", "approved"]),
                name="notices_by_deadline",
            ),
        ]

    def __str__(self) -> str:
        return str(self.id)

    @property
    def pack_name(self) -> str:
        """The short name of its pack."""
        return packs()[self.pack].short_name

    @property
    def disposal(self) -> Disposal:
        """The disposal of its decision, which included it."""
        return disposal_of(self.organization_id, self.decision_id)

    @property
    def standing(self) -> str:
        """Its state as a sentence, for an error that the state causes."""
        return str(_STANDING[self.State(self.state)])


_STANDING = {
    Notice.State.DRAFT: _("The notice is still a draft."),
    Notice.State.IN_REVIEW: _("The notice is in review."),
    Notice.State.APPROVED: _("The notice is approved."),
    Notice.State.DELIVERED: _("The notice is delivered."),
    Notice.State.WITHDRAWN: _("The notice is withdrawn."),
}


class NoticeRevision(models.Model):
    """The words of a notice from one edit to the next. A revision never changes: an edit makes the next one."""

    notice = models.ForeignKey(Notice, on_delete=models.PROTECT, related_name="revisions", db_index=False)
    number = models.PositiveIntegerField()
    content = models.JSONField()
    digest = models.CharField(max_length=64, help_text="SHA-256 of the content's canonical JSON.")
    cited = models.JSONField(help_text="The value of each cited field when the revision was made.")
    not_applicable = models.JSONField(default=dict, help_text="Elements that do not apply, each with the reason.")
    author_kind = models.CharField(max_length=16)
    author_id = models.CharField(max_length=64)
    author_label = models.CharField(max_length=300)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = NoticePartQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["notice", "number"], name="revisions_are_numbered")]

    def __str__(self) -> str:
        return f"revision {self.number}"


class Contributor(models.Model):
    """A person or key that contributed to the words of a notice. Four-eyes approval depends on these rows."""

    class Part(models.TextChoices):
        WORDS = "words", _("drafted or edited it")
        PHRASE = "phrase", _("wrote a phrase that it uses")
        MAPPING = "mapping", _("said what the record's fields mean")
        WAIVER = "waiver", _("said that an element which blocks does not apply")

    notice = models.ForeignKey(Notice, on_delete=models.PROTECT, related_name="contributors", db_index=False)
    part = models.CharField(max_length=8, choices=Part.choices)
    actor_kind = models.CharField(max_length=16)
    actor_id = models.CharField(max_length=64)
    mail = models.CharField(max_length=254, blank=True, help_text="Of the member behind it, also where it was a key.")

    objects = NoticePartQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["notice", "part", "actor_kind", "actor_id"], name="contributors_once")
        ]

    def __str__(self) -> str:
        return f"{self.actor_kind} {self.mail or self.actor_id} {self.get_part_display()}"


class Step(models.Model):
    """A step of a notice other than an edit or its approval, with its actor and reason."""

    class Kind(models.TextChoices):
        SUBMITTED = "submitted"
        CHANGES_REQUESTED = "changes_requested"
        READDRESSED = "readdressed"
        WITHDRAWN = "withdrawn"

    notice = models.ForeignKey(Notice, on_delete=models.PROTECT, related_name="steps")
    revision = models.ForeignKey(NoticeRevision, on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=20, choices=Kind.choices)
    reason = models.TextField(blank=True)
    actor_label = models.CharField(max_length=300)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = NoticePartQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(kind="changes_requested", reason=""), name="changes_have_a_reason"),
        ]

    def __str__(self) -> str:
        return self.kind
