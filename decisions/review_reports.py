"""Reports on reconsiderations: how often reviews overturn decisions, and how long they take."""

import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Avg, Count, DurationField, ExpressionWrapper, F, Q
from django.db.models.functions import Coalesce, Least

from decisions.models import Reconsideration

GROUPINGS = {
    "system": ("System", "first__system_name"),
    "outcome": ("Outcome", "review_outcome"),
    "authority": ("Reviewer's authority", "reviewer_authority"),
}

CHANGED = ("overturned", "modified")
NOT_NAMED = "not named"


@dataclass(frozen=True, slots=True)
class Group:
    """Reconsiderations that share a value. `overturned` counts the outcomes overturned and modified. `mean_time` runs
    from the original decision, or from its receipt if the record has no time, to the reconsideration."""

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


def newest_by_system(organization_id: uuid.UUID, limit: int) -> list[tuple[str, int, int]]:
    """Count the newest `limit` reconsiderations by system.

    Returns:
        Each system's name, its reconsiderations, and how many of them changed the decision; most reconsiderations
        first. Disposed reconsiderations still count.
    """
    rows = Reconsideration.with_disposed.for_organization(organization_id).filter(first__isnull=False)
    newest = rows.order_by("-received_at", "-pk").values_list("first__system_name", "review_outcome")[:limit]
    reviews, changed = Counter[str](), Counter[str]()
    for system, outcome in newest:
        reviews[system] += 1
        changed[system] += outcome in CHANGED
    ranked = sorted(reviews, key=lambda system: (-reviews[system], system))
    return [(system or NOT_NAMED, reviews[system], changed[system]) for system in ranked]


def reconsiderations(organization_id: uuid.UUID, grouping: str, since: datetime | None = None) -> Sequence[Group]:
    """Return a group for each value of a grouping, most reviews first. Disposed reconsiderations still count.

    Args:
        since: counts the reconsiderations received from then on. None counts all.
    """
    _, column = GROUPINGS[grouping]
    rows = Reconsideration.with_disposed.for_organization(organization_id).filter(first__isnull=False)
    if since:
        rows = rows.filter(received_at__gte=since)
    # If the decision is later than its receipt, the sender's clock was wrong.
    decided = Least(Coalesce("first__decided_at", "first__received_at"), "first__received_at")
    duration = ExpressionWrapper(F("received_at") - decided, output_field=DurationField())
    grouped = rows.values(name=F(column)).annotate(
        reviews=Count("pk"),
        overturned=Count("pk", filter=Q(review_outcome__in=CHANGED)),
        mean_time=Avg(duration),
    )
    return [
        Group(row["name"] or NOT_NAMED, row["reviews"], row["overturned"], row["mean_time"])
        for row in grouped.order_by("-reviews", "name")
    ]
