"""Charts of decisions for the start page, and sections that other apps add to a decision's page."""

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
from decisions import review_reports
from decisions.models import Decision

_DAYS = 14
_BARS = 10
_NEWEST = 500
_MAX_TODAY, _MAX_A_DAY = 10_000, 100_000
"""Decisions of a day that the chart counts at most: the current day is counted at each visit, a past day once."""
_SETTLED = timedelta(hours=1)
"""Time after the end of a day in which a running transaction may still add to it."""


@dataclass(frozen=True, slots=True)
class Panel:
    """A section of a decision's page. `template` sees the page's context, and `context` as `panel`. An `urgent` panel
    is the next thing to do, so it comes first on the page."""

    title: str
    template: str
    context: dict[str, Any]
    urgent: bool = False


@dataclass(frozen=True, slots=True)
class ReviewPrompt:
    """A reason to reconsider a decision: the form's initial values, and the panel that the writer sees beside it."""

    initial: dict[str, str]
    panel: Panel


Panels = Callable[[HttpRequest, Decision], Panel | None]
ReviewPrompts = Callable[[HttpRequest, Decision], ReviewPrompt | None]
_PANELS: list[Panels] = []
_REVIEW_PROMPTS: list[ReviewPrompts] = []


def register_decision_panel(source: Panels) -> None:
    """Ask `source` for a section whenever a decision's page is shown. Apps call this from their `ready()`.

    Args:
        source: takes the request and the decision, which the operator may see.
    """
    _PANELS.append(source)


def panels(request: HttpRequest, decision: Decision) -> list[Panel]:
    """Return the sections of a decision's page, in the order of registration."""
    return [panel for source in _PANELS if (panel := source(request, decision))]


def register_review_prompt(source: ReviewPrompts) -> None:
    """Ask `source` why to reconsider a decision, whenever the form is shown. Apps call this from their `ready()`.

    Args:
        source: takes the request of an operator who may reconsider the decision, and the decision.
    """
    _REVIEW_PROMPTS.append(source)


def review_prompt(request: HttpRequest, decision: Decision) -> ReviewPrompt | None:
    """Return the first registered reason to reconsider a decision, or None."""
    return next((prompt for source in _REVIEW_PROMPTS if (prompt := source(request, decision))), None)


def charts(request: HttpRequest, organization: Organization) -> Iterator[Chart]:
    """Yield the charts of the start page."""
    if not may_look(request, Permission.READ_DECISIONS):
        return
    yield Chart(
        title=f"Decisions received, last {_DAYS} days",
        bars=_received(organization.pk),
        url=reverse("admin:decisions_decision_changelist"),
        description="Includes reconsiderations. Days in UTC.",
    )
    yield Chart(
        title="Decisions changed on review",
        bars=[
            Bar(system, round(100 * changed / reviews), f"% of {reviews}")
            for system, reviews, changed in review_reports.newest_by_system(organization.pk, _NEWEST)[:_BARS]
        ],
        url=reverse("admin:reconsideration-report"),
        description=f"Of the newest {_NEWEST:,} reconsiderations, those that changed the decision, by system.",
        full=100,
    )


def _received(organization_id: uuid.UUID) -> list[Bar]:
    """Return a bar for each day, today last; no bars if no decision was received."""
    now = timezone.now().astimezone(UTC)
    days = [now.date() - timedelta(days=back) for back in reversed(range(_DAYS))]
    bars = [_bar(organization_id, day, is_over=day < (now - _SETTLED).date()) for day in days]
    return bars if any(bar.value for bar in bars) else []


def _bar(organization_id: uuid.UUID, day: date, *, is_over: bool) -> Bar:
    limit = _MAX_A_DAY if is_over else _MAX_TODAY
    return Bar.capped(f"{day:%a %d %b}", (_cached_count if is_over else _count)(organization_id, day, limit), limit)


def _count(organization_id: uuid.UUID, day: date, limit: int) -> int:
    begins = datetime.combine(day, time(), UTC)
    rows = Decision.with_disposed.for_organization(organization_id)
    (count,) = capped_counts([rows.filter(received_at__gte=begins, received_at__lt=begins + timedelta(days=1))], limit)
    return count


_cached_count = lru_cache(maxsize=10_000)(_count)
