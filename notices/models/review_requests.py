import uuid
from datetime import datetime

from django.db import models
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.models import Organization
from config.http.timestamps import day_in_words
from config.leases import Leased
from config.tenancy import TenantQuerySet
from decisions.models import Decision
from notices.models.notices import Notice

UNFINISHED = Q(told_at=None, closed_at=None)


def _answers() -> QuerySet[Decision]:
    """Return the reconsiderations in the decision's chain that were recorded after the request."""
    chain = Coalesce(OuterRef("notice__decision__first"), OuterRef("notice__decision"))
    decisions = Decision.objects.unscoped("a chain is of one organization, that of its first decision")
    return decisions.filter(first=chain, received_at__gte=OuterRef("received_at"))


class ReviewRequestQuerySet(TenantQuerySet["ReviewRequest"]):
    def with_answer(self) -> "ReviewRequestQuerySet":
        """Add `answered_at`, `answer_id` and `answered_by` (the decision id) of the first answer to each request."""
        first = _answers().order_by("received_at", "pk")
        return self.annotate(  # type: ignore[no-redef]
            answered_at=Subquery(first.values("received_at")[:1]),
            answer_id=Subquery(first.values("pk")[:1]),
            answered_by=Subquery(first.values("decision_id")[:1]),
        )

    def unfinished(self) -> "ReviewRequestQuerySet":
        """Return requests in which the person still waits for the reconsideration or the letter about it."""
        return self.filter(UNFINISHED)

    def late(self) -> "ReviewRequestQuerySet":
        """Return unfinished requests past their deadline."""
        return self.unfinished().filter(due_at__lt=timezone.now())

    def waiting(self) -> "ReviewRequestQuerySet":
        """Return requests that no reconsideration has answered yet."""
        return self.unfinished().filter(~Exists(_answers()))

    def to_be_told(self) -> "ReviewRequestQuerySet":
        """Return requests with a reconsideration that the person does not know yet."""
        return self.unfinished().filter(Exists(_answers()))

    def answered(self) -> "ReviewRequestQuerySet":
        """Return requests whose outcome a letter has told the person."""
        return self.exclude(told_at=None)


_STANDING = {
    "open": _("open"),
    "to_be_told": _("to be told"),
    "answered": _("answered"),
    "closed": _("closed"),
}


class ReviewRequest(Leased):
    """An affected person's request for human review of a decision, made on the public page of their letter.

    A later reconsideration of the decision answers the request. The request ends once a letter about the
    reconsideration reaches the person, or a member closes the request with a reason.
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
    told_at = models.DateTimeField(null=True, help_text="When a letter about the outcome reached the person.")
    told_by = models.ForeignKey(
        Notice, on_delete=models.PROTECT, null=True, related_name="told_requests", help_text="That letter."
    )
    closed_at = models.DateTimeField(null=True, blank=True)
    closed_by = models.CharField(max_length=300, blank=True)
    closed_because = models.TextField(blank=True)

    answered_at: datetime | None  # `with_answer` adds these three
    answer_id: uuid.UUID | None
    answered_by: str | None

    objects = ReviewRequestQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(closed_at=None) | ~Q(closed_because=""), name="closing_has_a_reason"),
            models.CheckConstraint(
                condition=Q(told_at=None, told_by=None) | Q(told_at__isnull=False, told_by__isnull=False),
                name="telling_has_its_letter",
            ),
            models.CheckConstraint(condition=Q(told_at=None) | Q(closed_at=None), name="told_or_closed"),
        ]
        indexes = [
            models.Index(fields=["organization", "-received_at", "-id"], name="reviews_newest_first"),
            models.Index(fields=["received_at"], condition=Q(handled_at=None), name="reviews_to_acknowledge"),
            models.Index(fields=["organization", "due_at"], condition=UNFINISHED, name="reviews_unfinished"),
        ]

    def __str__(self) -> str:
        return f"review asked for on {day_in_words(self.received_at)}"

    @property
    def state(self) -> str:
        """`open`, `to_be_told`, `answered` (a letter told the person) or `closed`. Needs a row of `with_answer`."""
        if self.closed_at:
            return "closed"
        return "answered" if self.told_at else "to_be_told" if self.answered_at else "open"

    @property
    def standing(self) -> str:
        """`state` in words."""
        return str(_STANDING[self.state])

    @property
    def is_unfinished(self) -> bool:
        return self.told_at is None and self.closed_at is None
