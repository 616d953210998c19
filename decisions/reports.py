"""Reports on reconsiderations: how often reviews overturn decisions, and how long they take."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Avg, Count, DurationField, ExpressionWrapper, F, Q
from django.db.models.functions import Coalesce, Least

from decisions.models import Reconsideration

GROUPINGS = {
    "system": ("System", "first__system_name"),
    "outcome": ("Outcome", "review_outcome"),
    "authority": ("Reviewer's authority", "reviewer_authority"),
}


@dataclass(frozen=True, slots=True)
class Group:
    """Reconsiderations that share a value. `overturned` counts the outcomes overturned and modified; `mean_time` is
    from the original decision, or from its receipt where the record names no time, to the reconsideration."""

    name: str
    reviews: int
    overturned: int
    mean_time: timedelta | None

    @property
    def overturn_rate(self) -> float:
        return self.overturned / self.reviews

    @property
    def mean_days(self) -> float | None:
        return None if self.mean_time is None else self.mean_time / timedelta(days=1)


def reconsiderations(organization_id: uuid.UUID, grouping: str, *, newest: int | None = None) -> Sequence[Group]:
    """One line for each value of a grouping of GROUPINGS, most reviews first. Those that are disposed of count on.

    Args:
        newest: count no more than so many, the latest; None for all.
    """
    _, column = GROUPINGS[grouping]
    rows = Reconsideration.with_disposed.for_organization(organization_id).exclude(first=None)
    if newest:
        rows = rows.filter(pk__in=rows.order_by("-received_at").values("pk")[:newest])
    # A time of decision after the receipt comes from a wrong clock.
    decided = Least(Coalesce("first__decided_at", "first__received_at"), "first__received_at")
    taken = ExpressionWrapper(F("received_at") - decided, output_field=DurationField())
    grouped = rows.values(name=F(column)).annotate(
        reviews=Count("pk"),
        overturned=Count("pk", filter=Q(review_outcome__in=["overturned", "modified"])),
        mean_time=Avg(taken),
    )
    return [
        Group(row["name"] or "not named", row["reviews"], row["overturned"], row["mean_time"])
        for row in grouped.order_by("-reviews", "name")
    ]
