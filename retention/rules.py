"""Rules of disposal: policy, laws and holds decide together which families are due, and why others are kept.

Every function here reads many families at once, and changes nothing.
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
from custody import services as custody
from custody.disposal import families
from custody.record_types import Families, Floor
from decisions.models import Decision
from decisions.record_types import chains
from decisions.selectors import ROOT
from retention.models import Hold, Policy

NOTICE = timedelta(days=7)
"""Time between the mail to owners about a shorter policy and its first daily run."""

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
"""Names of the values in a hold's filter."""
_MAX_HOLDS = 100  # in one condition


class Reason(StrEnum):
    """The outcome for a family: due, or the reason to keep it."""

    DUE = "due"
    NOT_YET = "not_yet"
    FLOOR = "floor"
    HOLD = "hold"
    OBSTACLE = "obstacle"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The decision whether to dispose of a family.

    Attributes:
        reason: the first that applies: the policy's days are not over, a law's days are not over, a hold covers the
            family, or work on it is unfinished.
        counts_from: the start of its retention period.
        disposed_from: the earliest time of disposal, without holds and obstacles.
        floor: the law that keeps it longer than the policy, if there is one.
        holds: the numbers of the holds that cover it.
        obstacles: sentences about unfinished work.
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
    """Lock the organization's policies, holds and disposals until the transaction ends."""
    db.lock(f"retention {organization_id}")


def newest(organization_id: uuid.UUID) -> Policy | None:
    """Return the current version of the policy, or None."""
    return Policy.objects.for_organization(organization_id).order_by("-number").first()


def newest_days(organization_id: uuid.UUID) -> int | None:
    """Return the days of the current version, or None without a policy."""
    policy = newest(organization_id)
    return policy.days if policy else None


def policy_in_force(organization_id: uuid.UUID, *, daily: bool) -> Policy | None:
    """Return the policy for disposals, or None if nothing may be disposed of. See `in_force`."""
    current = newest(organization_id)
    return in_force(current, daily=daily) if current else None


def in_force(current: Policy, *, daily: bool) -> Policy | None:
    """Return the policy for disposals, given the current version.

    Args:
        daily: True for the daily run. It follows a shorter policy only a week after owners got the mail, and never if
            the policy was replaced before. A person at the command line sees the count first, and uses the newest.
    """
    now = timezone.now()
    if not daily or (current.begins_at and current.begins_at <= now):
        return current
    rows = Policy.objects.for_organization(current.organization_id)
    later = rows.filter(number__gt=OuterRef("number"), created_at__lt=OuterRef("begins_at"))
    replaced = Q(Exists(later), shortens=True)  # a longer policy begins when it is made, even if the clock goes back
    begun = rows.filter(begins_at__lte=now).exclude(replaced).order_by("-number").first()
    return max(current, begun, key=lambda policy: policy.days) if begun else None


def cutoff(policy: Policy, now: datetime) -> datetime:
    """Return the time before which retention periods are over under a policy."""
    return now - timedelta(days=policy.days)


def evaluate(
    asked: Families, policy: Policy, now: datetime, *, obstacles_of_all: bool = True
) -> dict[uuid.UUID, Verdict]:
    """Return the verdict on each family. Families without remaining records have none.

    Args:
        obstacles_of_all: whether verdicts name the obstacles also while the policy or a law keeps the family.
    """
    periods = families.retention_of(asked)
    known = Families(asked.organization_id, list(periods))
    floors = {root: _longest_floor(period.floors, policy) for root, period in periods.items()}
    holds = holds_on(known)
    begins = {root: days_after(since, (floors[root] or policy).days) for root, (since, _) in periods.items()}
    checked = [root for root in known.roots if obstacles_of_all or begins[root] <= now]
    obstacles = families.obstacles(Families(known.organization_id, checked)) if checked else {}
    verdicts_by_root = {}
    for root, (since, _) in periods.items():
        ends, sentences = days_after(since, policy.days), obstacles.get(root, [])
        verdicts_by_root[root] = Verdict(
            reason=_reason(now, ends, begins[root], holds[root], sentences),
            counts_from=since,
            disposed_from=begins[root],
            floor=floors[root],
            holds=tuple(hold.number for hold in holds[root]),
            obstacles=tuple(sentences),
        )
    return verdicts_by_root


def _longest_floor(floors: Sequence[Floor], policy: Policy) -> Floor | None:
    """Return the law that keeps a family longest, if longer than the policy."""
    longest = max(floors, key=lambda floor: floor.days, default=None)
    return longest if longest and longest.days > policy.days else None


def verdicts(organization_id: uuid.UUID, policy: Policy, now: datetime) -> Iterator[dict[uuid.UUID, Verdict]]:
    """Yield verdicts on the families whose days are over under the policy, a batch at a time."""
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
    """Return the end of a period, at most the last day of the calendar: a record may name any year."""
    try:
        return since + timedelta(days=days)
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC)


def holds_on(asked: Families) -> dict[uuid.UUID, list[Hold]]:
    """Return the holds on each family: by its root, or by a filter that one of its decisions matches."""
    by_root: dict[uuid.UUID, list[Hold]] = {root: [] for root in asked.roots}
    candidates = holds_in_force(asked.organization_id).filter(Q(root__in=asked.roots) | Q(root=None))
    by_filter = []
    for hold in candidates.order_by("number"):
        if hold.root:
            by_root[hold.root].append(hold)
        else:
            by_filter.append(hold)
    for batch in hold_batches(by_filter):
        if len(batch) > 1 and not chains(asked).filter(covered_by(batch)).exists():
            continue
        for hold in batch:
            for root in roots_of(chains(asked).filter(covered_by([hold]))):
                by_root[root].append(hold)
    for holds in by_root.values():
        holds.sort(key=lambda hold: hold.number)
    return by_root


def hold_batches(holds: Iterable[Hold]) -> Iterator[list[Hold]]:
    """Yield holds in batches for one condition. SQLite refuses deep conditions, and planning them is slow."""
    remaining = iter(holds)
    while batch := list(islice(remaining, _MAX_HOLDS)):
        yield batch


def covered_by(holds: Iterable[Hold]) -> Q:
    """Return the condition for decisions that any of the holds covers."""
    return reduce(or_, (Q(pk=hold.root) if hold.root else condition(hold.filter or {}) for hold in holds))


def holds_in_force(organization_id: uuid.UUID) -> QuerySet[Hold]:
    return Hold.objects.for_organization(organization_id).filter(lifted_at=None)


def condition(filter: dict[str, Any]) -> Q:
    """Return the condition for decisions that a hold's filter covers."""
    return Q(**{_FILTERS[name]: value for name, value in filter.items()})


def is_empty_range(filter: dict[str, Any]) -> bool:
    """Whether one of a filter's time ranges is empty. A hold by it would silently keep nothing."""
    times = {name: datetime.fromisoformat(value) for name, value in filter.items() if name.endswith(("_from", "_to"))}
    ranges = (("decided_from", "decided_to"), ("received_from", "received_to"))
    return any(times[start] >= times[end] for start, end in ranges if start in times and end in times)


def roots_of(rows: QuerySet[Decision]) -> QuerySet[Decision, uuid.UUID]:
    """Return the distinct roots of the families that decisions belong to."""
    return rows.order_by().values_list(ROOT, flat=True).distinct()
