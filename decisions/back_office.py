"""What decisions place on the start page, and what other apps may place on a decision's page."""

import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from accounts.back_office import Bar, Chart, capped_counts, may_look
from accounts.models import Organization
from accounts.roles import Permission
from decisions import reports
from decisions.models import Decision

_DAYS = 14
_BARS = 10
_NEWEST = 500
_MOST_TODAY, _MOST_A_DAY = 10_000, 100_000
"""So many decisions of a day are counted for the chart: of one that goes on at each visit, of one that is over once."""
_SETTLED = timedelta(hours=1)
"""After the end of a day no transaction is left that adds to it."""


@dataclass(frozen=True, slots=True)
class Panel:
    """A section of a decision's page. `template` sees the page's context, and `context` as `panel`. One that is
    `urgent` stands above all else: it is what is to be done next."""

    title: str
    template: str
    context: dict[str, Any]
    urgent: bool = False


@dataclass(frozen=True, slots=True)
class Occasion:
    """Why a decision is to be reconsidered: what the form begins with, and what its writer has to see beside it."""

    initial: dict[str, str]
    panel: Panel


Panels = Callable[[HttpRequest, Decision], Panel | None]
Occasions = Callable[[HttpRequest, Decision], Occasion | None]
_PANELS: list[Panels] = []
_OCCASIONS: list[Occasions] = []


def register_decision_panel(source: Panels) -> None:
    """Ask `source` for a section whenever a decision's page is shown; apps call this from their `ready()`.

    Args:
        source: takes the request and the decision, which is one the operator may see.
    """
    _PANELS.append(source)


def panels(request: HttpRequest, decision: Decision) -> list[Panel]:
    """The sections of a decision's page, in the order of registration."""
    return [panel for source in _PANELS if (panel := source(request, decision))]


def register_occasion(source: Occasions) -> None:
    """Ask `source` why a decision is to be reconsidered, whenever the form for that is shown; apps call this from their
    `ready()`.

    Args:
        source: takes the request of an operator who may reconsider the decision, and the decision.
    """
    _OCCASIONS.append(source)


def occasion(request: HttpRequest, decision: Decision) -> Occasion | None:
    """Why a decision is to be reconsidered, if anybody knows a reason."""
    return next((found for source in _OCCASIONS if (found := source(request, decision))), None)


def charts(request: HttpRequest, organization: Organization) -> Iterator[Chart]:
    """The charts of the start page."""
    if not may_look(request, Permission.READ_DECISIONS):
        return
    yield Chart(
        title=f"Decisions received, last {_DAYS} days",
        bars=_received(organization.pk),
        url=reverse("admin:decisions_decision_changelist"),
        description="Reconsiderations included; days are those of UTC.",
    )
    yield Chart(
        title="Decisions that reviews changed",
        bars=[
            Bar(system, round(100 * changed / reviews), f"% of {reviews}")
            for system, reviews, changed in reports.newest_by_system(organization.pk, _NEWEST)[:_BARS]
        ],
        url=reverse("admin:reconsideration-report"),
        description=f"Of the newest {_NEWEST:,} reconsiderations, those that changed the decision, by system.",
        full=100,
    )


def _received(organization_id: uuid.UUID) -> list[Bar]:
    """A bar for each day, today last; none at all if nothing came."""
    now = timezone.now().astimezone(UTC)
    days = [now.date() - timedelta(days=back) for back in reversed(range(_DAYS))]
    bars = [_bar(organization_id, day, is_over=day < (now - _SETTLED).date()) for day in days]
    return bars if any(bar.value for bar in bars) else []


def _bar(organization_id: uuid.UUID, day: date, *, is_over: bool) -> Bar:
    most = _MOST_A_DAY if is_over else _MOST_TODAY
    return Bar.capped(f"{day:%a %d %b}", (_kept if is_over else _counted)(organization_id, day, most), most)


def _counted(organization_id: uuid.UUID, day: date, most: int) -> int:
    begins = datetime.combine(day, time(), UTC)
    rows = Decision.with_disposed.for_organization(organization_id)
    (count,) = capped_counts([rows.filter(received_at__gte=begins, received_at__lt=begins + timedelta(days=1))], most)
    return count


_kept = lru_cache(maxsize=10_000)(_counted)
