"""What a policy, the laws and the holds together say of families: which are to be disposed of, and why others are not.

All of it is asked about many families at once, and changes nothing.
"""

import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import reduce
from itertools import islice
from operator import or_
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from config import db
from custody import families
from custody import services as custody
from custody.record_types import Families, Floor
from decisions.models import Decision
from decisions.record_types import ROOT, chains
from retention.models import Hold, Policy

NOTICE = timedelta(days=7)
"""How long owners have after they were told of a policy that shortens."""

_FILTERS = {
    "action": "action",
    "system": "system_name",
    "source": "source",
    "subject_reference": "subject_reference",
    "received_from": "received_at__gte",
    "received_to": "received_at__lt",
    "decided_from": "decided_at__gte",
    "decided_to": "decided_at__lt",
}
FILTERS = tuple(_FILTERS)
"""What a hold can be placed by."""
_TOGETHER = 100


class Reason(StrEnum):
    """What becomes of a family, and why."""

    DUE = "due"
    NOT_YET = "not_yet"
    FLOOR = "floor"
    HOLD = "hold"
    OBSTACLE = "obstacle"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What is to become of a family.

    Attributes:
        reason: the first that applies: its day has not come by the policy, or by a law; it is held; something about it
            is unfinished.
        counts_from: from when its days count.
        disposed_from: from when it may be disposed of, if nothing else stands against it.
        floor: the law that keeps it longer than the policy, if one does.
        holds: the numbers of those that cover it.
        obstacles: sentences about what is unfinished.
    """

    reason: Reason
    counts_from: datetime
    disposed_from: datetime
    floor: Floor | None
    holds: tuple[int, ...]
    obstacles: tuple[str, ...]

    @property
    def is_due(self) -> bool:
        return self.reason is Reason.DUE


def lock(organization_id: uuid.UUID) -> None:
    """Let nobody else set a policy, place or lift a hold, or dispose of anything until the transaction ends."""
    db.lock(f"retention {organization_id}")


def newest(organization_id: uuid.UUID) -> Policy | None:
    """The current version of the policy."""
    return Policy.objects.for_organization(organization_id).order_by("-number").first()


def newest_days(organization_id: uuid.UUID) -> int | None:
    """The days of the current version; None without a policy."""
    policy = newest(organization_id)
    return policy.days if policy else None


def policy_in_force(organization_id: uuid.UUID, *, daily: bool) -> Policy | None:
    """The policy to dispose by; None if nothing is to be disposed of.

    Args:
        daily: for the daily run, which begins under a shorter policy only once owners have had a week; one that was
            replaced before never begins. A person at the command line, who is shown what will go, uses the newest.
    """
    current = newest(organization_id)
    if current is None or not daily:
        return current
    rows = Policy.objects.for_organization(organization_id)
    later = rows.filter(number__gt=OuterRef("number"), created_at__lt=OuterRef("begins_at"))
    replaced = Q(Exists(later), shortens=True)  # any other has begun as it was made, also if the clock goes back
    begun = rows.filter(begins_at__lte=timezone.now()).exclude(replaced).order_by("-number").first()
    return max(current, begun, key=lambda policy: policy.days) if begun else None


def cutoff(policy: Policy, now: datetime) -> datetime:
    """What counted from before it is past the policy's days."""
    return now - timedelta(days=policy.days)


def evaluate(asked: Families, policy: Policy, now: datetime) -> dict[uuid.UUID, Verdict]:
    """What is to become of each family. One of which nothing is left is not in the answer."""
    counts_from = families.counts_from(asked)
    known = Families(asked.organization_id, list(counts_from))
    floors, obstacles, holds = families.floors(known), families.obstacles(known), holds_on(known)
    found = {}
    for root, since in counts_from.items():
        longest = max(floors[root], key=lambda floor: floor.days, default=None)
        floor = longest if longest and longest.days > policy.days else None
        ends, disposed_from = days_after(since, policy.days), days_after(since, (floor or policy).days)
        found[root] = Verdict(
            reason=_reason(now, ends, disposed_from, holds[root], obstacles[root]),
            counts_from=since,
            disposed_from=disposed_from,
            floor=floor,
            holds=tuple(hold.number for hold in holds[root]),
            obstacles=tuple(obstacles[root]),
        )
    return found


def verdicts(organization_id: uuid.UUID, policy: Policy, now: datetime) -> Iterator[dict[uuid.UUID, Verdict]]:
    """What is to become of the families whose days are over by the policy alone, a batch at a time."""
    for batch in families.candidates(organization_id, cutoff(policy, now), size=custody.BATCH):
        yield evaluate(batch, policy, now)


def _reason(
    now: datetime, ends: datetime, disposed_from: datetime, holds: Sequence[Hold], obstacles: Sequence[str]
) -> Reason:
    if now < ends:
        return Reason.NOT_YET
    if now < disposed_from:
        return Reason.FLOOR
    if holds:
        return Reason.HOLD
    return Reason.OBSTACLE if obstacles else Reason.DUE


def days_after(since: datetime, days: int) -> datetime:
    """The end of a period. A record may name any year, and the calendar ends."""
    try:
        return since + timedelta(days=days)
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC)


def holds_on(asked: Families) -> dict[uuid.UUID, list[Hold]]:
    """The holds that cover each family: those placed on it, and those by a filter that any of its decisions matches."""
    found: dict[uuid.UUID, list[Hold]] = {root: [] for root in asked.roots}
    in_force = holds_in_force(asked.organization_id).order_by("number")
    for hold in in_force.filter(root__in=asked.roots):
        if hold.root:
            found[hold.root].append(hold)
    for some in together(in_force.filter(root=None)):
        if len(some) > 1 and not chains(asked).filter(covered_by(some)).exists():
            continue
        for hold in some:
            for root in roots_of(chains(asked).filter(covered_by([hold]))):
                found[root].append(hold)
    for holds in found.values():
        holds.sort(key=lambda hold: hold.number)
    return found


def together(holds: Iterable[Hold]) -> Iterator[list[Hold]]:
    """As many at a time as one condition can name: SQLite reads none that is deep, and none is planned fast."""
    each = iter(holds)
    while some := list(islice(each, _TOGETHER)):
        yield some


def covered_by(holds: Iterable[Hold]) -> Q:
    """Which decisions any of some holds covers."""
    return reduce(or_, (Q(pk=hold.root) if hold.root else condition(hold.filter or {}) for hold in holds))


def holds_in_force(organization_id: uuid.UUID) -> QuerySet[Hold]:
    return Hold.objects.for_organization(organization_id).filter(lifted_at=None)


def condition(filter: dict[str, Any]) -> Q:
    """Which decisions a hold's filter covers."""
    return Q(**{_FILTERS[name]: value for name, value in filter.items()})


def is_empty_range(filter: dict[str, Any]) -> bool:
    """Whether no time can be in one of a filter's ranges: a hold by it would keep nothing, and nobody would notice."""
    times = {name: datetime.fromisoformat(value) for name, value in filter.items() if name.endswith(("_from", "_to"))}
    ranges = (("decided_from", "decided_to"), ("received_from", "received_to"))
    return any(times[start] >= times[end] for start, end in ranges if start in times and end in times)


def roots_of(rows: QuerySet[Decision]) -> QuerySet[Decision, uuid.UUID]:
    """The roots of the families that decisions belong to, each once."""
    return rows.order_by().values_list(ROOT, flat=True).distinct()
