"""Comparison of the decision ids that a source holds for a period with those in custody."""

import uuid
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from django.db.models import Q, QuerySet

from config.errors import Invalid
from custody.rows.lost_records import lost
from decisions import selectors
from decisions.models import Decision
from decisions.records import KIND

_PAGE = 500
MAX_LISTED = 1000


@dataclass(frozen=True, slots=True)
class Completeness:
    """Agreement between the decisions of a source and ours. Each list has at most 1,000 ids."""

    expected: int
    present: int
    missing: list[str]
    unknown: list[str]
    unknown_count: int

    @property
    def missing_count(self) -> int:
        return self.expected - self.present

    @property
    def share(self) -> float:
        """Return the share of the source's decisions that are in custody; 1 only if all are."""
        return 1.0 if self.present == self.expected else min(round(self.present / self.expected, 6), 0.999999)


def compare(
    *, organization_id: uuid.UUID, system: str, begin: datetime, end: datetime, ids: Iterable[str]
) -> Completeness:
    """Compare the ids that a source holds with what is in custody.

    Args:
        system: the `system.name` of the records.
        begin, end: of the period, by the decision's own time, else by its receipt; `end` is outside.
        ids: the source's decision ids of that period. Duplicates count once.

    Returns:
        `missing` has the ids that were not disposed of and have no intact record, under any system and time.
        `unknown` has our ids of this system and period that the source did not name.

    Raises:
        Invalid: the period ends before it begins.
    """
    if end <= begin:
        message = "Value error, the period ends before it begins"
        raise Invalid([{"type": "value_error", "loc": ["query", "to"], "msg": message}])
    ours = Decision.objects.for_organization(organization_id)
    period = Q(decided_at__gte=begin, decided_at__lt=end) | Q(
        decided_at=None, received_at__gte=begin, received_at__lt=end
    )
    of_period = ours.filter(period, system_name=system, kind=KIND)
    named: set[str] = set()
    missing: list[str] = []
    present = known = 0
    waiting = iter(ids)
    while page := set(islice(waiting, _PAGE)):
        page -= named
        named |= page
        rows = dict(ours.filter(decision_id__in=page).values_list("decision_id", "pk"))
        unreadable = lost(organization_id, rows.values())
        here = {decision_id for decision_id, record_id in rows.items() if record_id not in unreadable}
        here |= set(selectors.disposals(organization_id, page - here))
        present += len(here)
        missing += sorted(page - here)[: MAX_LISTED - len(missing)]
        known += of_period.filter(decision_id__in=page).count()
    unknown_count = of_period.count() - known
    unknown = list(islice(_unknown(of_period, named), MAX_LISTED)) if unknown_count else []
    return Completeness(len(named), present, missing, unknown, max(unknown_count, len(unknown)))


def _unknown(of_period: QuerySet[Decision], named: Set[str]) -> Iterator[str]:
    """Yield our ids that the source did not name, in the order of receipt."""
    rows = of_period.order_by("received_at", "pk").values_list("decision_id", flat=True)
    return (decision_id for decision_id in rows.iterator(chunk_size=_PAGE) if decision_id not in named)
