"""Flows of the start page: things that come in or go out, counted by day."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

DAYS = 14
_MAX_TODAY, _MAX_A_DAY = 10_000, 100_000
"""Rows of a day that count at most: those of today are counted at each visit, those of a past day once."""
_SETTLED = timedelta(hours=1)
"""Time after the end of a day in which a running transaction may still add to it."""
_MAX_REMEMBERED = 10_000

Key = tuple[uuid.UUID, str, date | None]
"""A count: the organization, the title of a flow, and the day, or None for the rows of any day."""
_past: dict[Key, int] = {}


@dataclass(frozen=True, slots=True)
class Flow:
    """Things that come in or go out.

    Attributes:
        title: of its section: "Decisions received".
        rows: all rows of the organization.
        column: the time of a row. A later change must not move a row to a past day, whose count is remembered.
        url: the page with more detail.
        is_ingest: whether the rows show that the organization sends records.
    """

    title: str
    rows: QuerySet[Any]
    column: str
    url: str
    is_ingest: bool = False

    def on(self, day: date) -> QuerySet[Any]:
        begins = datetime.combine(day, time(), UTC)
        return self.rows.filter(**{f"{self.column}__gte": begins, f"{self.column}__lt": begins + timedelta(days=1)})


@dataclass(frozen=True, slots=True)
class Column:
    """One day of a flow. Its `height` is in percent of the highest column."""

    day: date
    count: int
    height: float = 0

    @property
    def limit(self) -> int:
        return _limit(self.day)

    @property
    def is_today(self) -> bool:
        return self.limit == _MAX_TODAY

    @property
    def top(self) -> float:
        return 100 - self.height


@dataclass(frozen=True, slots=True)
class CountedFlow:
    """A flow with the counts of the last days, today last."""

    flow: Flow
    days: Sequence[Column]
    has_rows: bool

    @property
    def only_day(self) -> Column | None:
        """The only day with anything, if there is one."""
        busy = [day for day in self.days if day.count]
        return busy[0] if len(busy) == 1 else None

    @property
    def columns(self) -> list[Column]:
        """The days from the first with anything, if at least two have."""
        busy = [number for number, day in enumerate(self.days) if day.count]
        if len(busy) < 2:
            return []
        highest = max(day.count for day in self.days)
        return [replace(day, height=100 * day.count / highest) for day in self.days[busy[0] :]]


def to_count(organization_id: uuid.UUID, flow: Flow) -> dict[Key, tuple[QuerySet[Any], int]]:
    """Return the rows to count, with the limit of each count. Days that this process remembers are left out."""
    days: dict[Key, tuple[QuerySet[Any], int]] = {
        (organization_id, flow.title, day): (flow.on(day), _limit(day)) for day in _last_days()
    }
    unknown = {key: rows for key, rows in days.items() if key not in _past}
    return {(organization_id, flow.title, None): (flow.rows, 0), **unknown}


def counted(organization_id: uuid.UUID, flow: Flow, counts: Mapping[Any, int]) -> CountedFlow:
    """Return a flow with its counts, and remember those of past days."""
    settled = (timezone.now().astimezone(UTC) - _SETTLED).date()
    days = []
    for day in _last_days():
        key = (organization_id, flow.title, day)
        count = counts[key] if key in counts else _past.get(key, 0)
        days.append(Column(day, count))
        if day < settled:
            _remember(key, count)
    return CountedFlow(flow, days, bool(counts[organization_id, flow.title, None]))


def forget() -> None:
    """Forget the counts of past days."""
    _past.clear()


def _remember(key: Key, count: int) -> None:
    if len(_past) >= _MAX_REMEMBERED:
        forget()
    _past[key] = count


def _last_days() -> list[date]:
    today = timezone.now().astimezone(UTC).date()
    return [today - timedelta(days=back) for back in reversed(range(DAYS))]


def _limit(day: date) -> int:
    return _MAX_A_DAY if day < timezone.now().astimezone(UTC).date() else _MAX_TODAY
