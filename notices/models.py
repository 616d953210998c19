import secrets
import uuid
from datetime import datetime
from typing import ClassVar

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from accounts.models import Member, Organization, User
from config.leases import Leased
from custody.models import Entry
from decisions.models import Decision
from notices.packs import packs
from notices.phrasebook import LONGEST_KEY

_LONGEST_PHRASE = 2000  # characters
_UNAMBIGUOUS = "23456789abcdefghjkmnpqrstuvwxyz"  # nothing that looks like something else on paper


def new_address() -> str:
    """The last part of a letter's short URL: 12 characters, 59 bits, so that nobody finds a letter by trying."""
    return "".join(secrets.choice(_UNAMBIGUOUS) for _ in range(12))


def languages() -> list[str]:
    """Those in which notices are written: every pack's."""
    return sorted({language for pack in packs().values() for language in pack.languages})


class NoticeSettings(models.Model):
    """What an organization's notices are made with, and how strictly they are approved."""

    organization = models.OneToOneField(Organization, on_delete=models.CASCADE, related_name="notice_settings")
    default_pack = models.CharField(max_length=64, default="general")
    placeholders = models.JSONField(
        default=dict, blank=True, help_text="Names and addresses that locked texts need, such as creditor_name."
    )
    require_grants = models.BooleanField(
        default=False, help_text="Only signed-in members with a matching authority grant approve."
    )
    require_other_key = models.BooleanField(
        default=False, help_text="An API key does not approve what it, or another key of its maker, wrote."
    )
    at_risk_days = models.PositiveSmallIntegerField(
        default=7, help_text="A notice is at risk when this many days or fewer are left."
    )

    class Meta:
        verbose_name_plural = "notice settings"

    def __str__(self) -> str:
        return f"notice settings of {self.organization}"


class Phrase(models.Model):
    """An organization's own words for a reason code or a record field, in one language."""

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="phrases")
    language = models.CharField(max_length=8)
    key = models.CharField(max_length=LONGEST_KEY, help_text="A reason code, or the path of a field.")
    sentence = models.TextField(blank=True, help_text="One sentence; {value} stands for the field's value.")
    label = models.CharField(max_length=200, blank=True, help_text="What the field is called.")
    withheld = models.BooleanField(default=False, help_text="The field is not printed.")
    owner = models.CharField(max_length=200, blank=True)
    approved_version = models.CharField(max_length=64, blank=True)
    authors = models.JSONField(
        default=dict, editable=False, help_text="Who wrote sentence and label as they are, and who withheld the field."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "language", "key"], name="one_phrase_per_key"),
        ]

    def __str__(self) -> str:
        return f"{self.key} ({self.language})"

    def clean(self) -> None:
        """A phrase that no draft would use is a mistake. Raises ValidationError."""
        wrong = {}
        if self.language not in languages():
            wrong["language"] = f"Notices are written in {', '.join(languages())}."
        if not (self.sentence.strip() or self.label.strip() or self.withheld):
            wrong["sentence"] = "Give a sentence or a label, or withhold the field."
        if len(self.sentence) > _LONGEST_PHRASE:
            wrong["sentence"] = f"A sentence has at most {_LONGEST_PHRASE:,} characters."
        if wrong:
            raise ValidationError(wrong)


class AuthorityGrant(models.Model):
    """An organization's word that a member may approve notices, by which authority, for which packs, and until when."""

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

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(valid_to=None) | Q(valid_to__gte=F("valid_from")), name="grant_ends_after_it_begins"
            ),
        ]
        indexes = [models.Index(fields=["organization", "-created_at", "-id"], name="grants_newest_first")]

    def __str__(self) -> str:
        return f"{self.user} as {self.authority}"


class Notice(models.Model):
    """A notice about a decision. What it says is in its revisions; this row says where it stands."""

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
    language = models.CharField(max_length=8)
    recipient = models.JSONField(default=dict)
    state = models.CharField(max_length=16, choices=State.choices, default=State.DRAFT)
    due_at = models.DateTimeField(null=True, blank=True, help_text="By the strictest clock of the pack.")
    due_clock = models.CharField(max_length=64, blank=True, help_text="The clock that sets it.")
    problems = models.PositiveIntegerField(default=0, help_text="What stands in the way of approval, at the last edit.")
    holder = models.ForeignKey(
        Member, on_delete=models.SET_NULL, null=True, blank=True, related_name="+", help_text="Who works on it."
    )
    supersedes = models.ForeignKey("self", on_delete=models.PROTECT, null=True, blank=True, related_name="successors")
    address = models.CharField(max_length=16, unique=True, default=new_address, help_text="Of its public page.")
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.CharField(max_length=300)

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
    def standing(self) -> str:
        """Its state as a sentence, for those who may not do something because of it."""
        return _STANDING[self.State(self.state)]


_STANDING = {
    Notice.State.DRAFT: "The notice is still a draft.",
    Notice.State.IN_REVIEW: "The notice is in review.",
    Notice.State.APPROVED: "The notice is approved.",
    Notice.State.DELIVERED: "The notice is delivered.",
    Notice.State.WITHDRAWN: "The notice is withdrawn.",
}


class NoticeRevision(models.Model):
    """What a notice said from one edit to the next. Never changed: an edit makes the next one."""

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

    class Meta:
        constraints = [models.UniqueConstraint(fields=["notice", "number"], name="revisions_are_numbered")]

    def __str__(self) -> str:
        return f"revision {self.number}"


class Contributor(models.Model):
    """Somebody who had a hand in what a notice says, for ever: what four eyes are judged by."""

    class Part(models.TextChoices):
        WORDS = "words", "drafted or edited it"
        PHRASE = "phrase", "wrote a phrase that it uses"
        WAIVER = "waiver", "said that an element which blocks does not apply"

    notice = models.ForeignKey(Notice, on_delete=models.PROTECT, related_name="contributors", db_index=False)
    part = models.CharField(max_length=8, choices=Part.choices)
    actor_kind = models.CharField(max_length=16)
    actor_id = models.CharField(max_length=64)
    mail = models.CharField(max_length=254, blank=True, help_text="Of the member behind it, also where it was a key.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["notice", "part", "actor_kind", "actor_id"], name="contributors_once")
        ]

    def __str__(self) -> str:
        return f"{self.actor_kind} {self.mail or self.actor_id} {self.get_part_display()}"


class Approval(Leased):
    """Somebody's approval of one revision. It ends editing: what is said after it is a new version."""

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
    actor_kind = models.CharField(max_length=16)
    actor_id = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"approved by {self.approver}"


class Step(models.Model):
    """What else happened to a notice on its way, who did it, and why."""

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

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(kind="changes_requested", reason=""), name="changes_have_a_reason"),
        ]

    def __str__(self) -> str:
        return self.kind


class Delivery(Leased):
    """One sending of an approved notice: recorded, not guessed. A mail waits here until the mail server took it."""

    class Channel(models.TextChoices):
        EMAIL = "email"
        POST = "post"
        PORTAL = "portal"
        HAND = "hand"

    notice = models.ForeignKey(Notice, on_delete=models.PROTECT, related_name="deliveries")
    channel = models.CharField(max_length=8, choices=Channel.choices)
    address = models.TextField(blank=True, help_text="The address used.")
    reference = models.CharField(max_length=200, blank=True, help_text="The provider's, such as a tracking number.")
    letter_digest = models.CharField(max_length=64, blank=True, help_text="SHA-256 of the file that was mailed.")
    recorded_by = models.CharField(max_length=300)
    created_at = models.DateTimeField(auto_now_add=True)
    handled_at = models.DateTimeField(null=True, help_text="When a mail went out; for other channels at once.")
    delivered_at = models.DateTimeField(null=True, blank=True)
    returned_at = models.DateTimeField(null=True, blank=True)
    returned_because = models.TextField(blank=True)

    class Meta:
        verbose_name_plural = "deliveries"
        indexes = [models.Index(fields=["created_at"], condition=Q(handled_at=None), name="letters_to_mail")]

    def __str__(self) -> str:
        return f"{self.channel} on {self.created_at:%Y-%m-%d}"


class SealedNotice(models.Model):
    """The custody record of an approved notice."""

    record = models.OneToOneField(Entry, on_delete=models.PROTECT, primary_key=True, related_name="+")
    organization = models.ForeignKey(Organization, on_delete=models.PROTECT, related_name="+", db_index=False)
    notice = models.OneToOneField(Notice, on_delete=models.PROTECT, related_name="sealed")
    letter_digest = models.CharField(max_length=64, help_text="SHA-256 of the letter's proof file.")

    def __str__(self) -> str:
        return str(self.pk)


def _answers() -> QuerySet[Decision]:
    """The reconsiderations in the decision's chain that were recorded after the request."""
    chain = Coalesce(OuterRef("notice__decision__first"), OuterRef("notice__decision"))
    return Decision.objects.filter(first=chain, received_at__gte=OuterRef("received_at"))


class ReviewRequestQuerySet(models.QuerySet["ReviewRequest"]):
    def with_answer(self) -> "ReviewRequestQuerySet":
        """Adds `answered_at` and `answer_id`, of the first answer."""
        first = _answers().order_by("received_at", "pk")
        return self.annotate(  # type: ignore[no-redef]
            answered_at=Subquery(first.values("received_at")[:1]), answer_id=Subquery(first.values("pk")[:1])
        )

    def waiting(self) -> "ReviewRequestQuerySet":
        """Those that somebody still has to answer."""
        return self.filter(~Exists(_answers()), closed_at=None)

    def answered(self) -> "ReviewRequestQuerySet":
        """Those that a reconsideration has answered, and nobody has closed."""
        return self.filter(Exists(_answers()), closed_at=None)


class ReviewRequest(Leased):
    """An affected person's request that a human look at the decision again, made on the public page of their letter.

    It counts as answered once a reconsideration of the decision is recorded after it.
    """

    organization = models.ForeignKey(Organization, on_delete=models.PROTECT, related_name="+", db_index=False)
    notice = models.ForeignKey(Notice, on_delete=models.PROTECT, related_name="review_requests")
    message = models.TextField(blank=True)
    email = models.EmailField(max_length=254, blank=True, help_text="Where an acknowledgement goes.")
    received_at = models.DateTimeField()
    due_at = models.DateTimeField(null=True, blank=True)
    due_clock = models.CharField(max_length=64, blank=True)
    handled_at = models.DateTimeField(null=True, help_text="When the acknowledgement went out, or was given up.")
    refused_at = models.DateTimeField(null=True, help_text="When the mail server refused the address for good.")
    closed_at = models.DateTimeField(null=True, blank=True)
    closed_by = models.CharField(max_length=300, blank=True)
    closed_because = models.TextField(blank=True)

    answered_at: datetime | None  # these two are what `with_answer` adds
    answer_id: uuid.UUID | None

    objects = ReviewRequestQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(closed_at=None) | ~Q(closed_because=""), name="closing_has_a_reason"),
        ]
        indexes = [
            models.Index(fields=["organization", "-received_at", "-id"], name="reviews_newest_first"),
            models.Index(fields=["received_at"], condition=Q(handled_at=None), name="reviews_to_acknowledge"),
        ]

    def __str__(self) -> str:
        return f"review asked for on {self.received_at:%Y-%m-%d}"

    @property
    def state(self) -> str:
        """`open`, `answered` or `closed`; only for rows of `with_answer`."""
        return "closed" if self.closed_at else "answered" if self.answered_at else "open"


class Reminder(Leased):
    """A day's mail to one member about what is late or soon will be."""

    member = models.ForeignKey(Member, on_delete=models.CASCADE, related_name="+")
    day = models.DateField()
    handled_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["member", "day"], name="one_reminder_a_day")]

    def __str__(self) -> str:
        return f"reminder of {self.day}"
