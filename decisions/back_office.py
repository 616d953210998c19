"""What decisions place on the start page, and what other apps may place on a decision's page."""

import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Any

from django.db.models import Count
from django.db.models.functions import TruncDate
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from accounts.back_office import Bar, Chart, may_look
from accounts.models import Organization
from accounts.roles import Permission
from decisions import reports
from decisions.models import Decision

_DAYS = 14
_BARS = 10
_NEWEST = 1000


@dataclass(frozen=True, slots=True)
class Panel:
    """A section of a decision's page. `template` sees the page's context, and `context` as `panel`."""

    title: str
    template: str
    context: dict[str, Any]


Panels = Callable[[HttpRequest, Decision], Panel | None]
_PANELS: list[Panels] = []


def register_decision_panel(source: Panels) -> None:
    """Ask `source` for a section whenever a decision's page is shown; apps call this from their `ready()`.

    Args:
        source: takes the request and the decision, which is one the operator may see.
    """
    _PANELS.append(source)


def panels(request: HttpRequest, decision: Decision) -> list[Panel]:
    """The sections of a decision's page, in the order of registration."""
    return [panel for source in _PANELS if (panel := source(request, decision))]


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
            Bar(group.name, round(100 * group.overturn_rate), f"% of {group.reviews}")
            for group in reports.reconsiderations(organization.pk, "system", newest=_NEWEST)[:_BARS]
        ],
        url=reverse("admin:reconsideration-report"),
        description=f"Of the newest {_NEWEST:,} reconsiderations, those that changed the decision, by system.",
        full=100,
    )


def _received(organization_id: uuid.UUID) -> list[Bar]:
    """A bar for each day, today last; none at all if nothing came."""
    today = timezone.now().astimezone(UTC).date()
    days = [today - timedelta(days=back) for back in reversed(range(_DAYS))]
    rows = Decision.with_disposed.for_organization(organization_id).filter(
        received_at__gte=datetime.combine(days[0], time(), UTC)
    )
    counted = rows.values(day=TruncDate("received_at", tzinfo=UTC)).annotate(count=Count("pk"))
    counts = dict(counted.order_by("day").values_list("day", "count"))
    return [Bar(f"{day:%a %d %b}", counts.get(day, 0)) for day in days] if counts else []
