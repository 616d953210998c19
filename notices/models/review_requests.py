import uuid
from datetime import datetime

from django.db import models
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from accounts.models import Organization
from config.leases import Leased
from config.tenancy import TenantQuerySet
from decisions.models import Decision
from notices.models.notices import Notice


def _answers() -> QuerySet[Decision]:
    """The reconsiderations in the decision's chain that were recorded after the request."""
    chain = Coalesce(OuterRef("notice__decision__first"), OuterRef("notice__decision"))
    decisions = Decision.objects.unscoped("a chain is of one organization, that of its first decision")
    return decisions.filter(first=chain, received_at__gte=OuterRef("received_at"))


class ReviewRequestQuerySet(TenantQuerySet["ReviewRequest"]):
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
