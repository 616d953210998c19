"""What connectors place on the start page."""

from collections.abc import Iterable, Iterator
from datetime import datetime

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from accounts.back_office import Bar, Chart, Need, capped_count, may_look
from accounts.models import Organization
from accounts.roles import Permission
from connectors import selectors
from connectors.models import Connector, Quarantined

_MOST_NAMED = 20


def needs(request: HttpRequest, organization: Organization) -> Iterator[Need]:
    """What stopped, fell silent or waits."""
    if may_look(request, Permission.READ_DECISIONS):
        yield Need(
            text="systems that used to send decisions and stopped",
            one="system that used to send decisions and stopped",
            count=len(selectors.stopped_systems(organization.pk)),
            url=reverse("admin:decisions_decision_changelist"),
        )
    if not may_look(request, Permission.MANAGE_CONNECTORS):
        return
    connectors, url = Connector.objects.for_organization(organization), reverse("admin:connectors_connector_changelist")
    yield Need(
        text="connectors that stopped",
        one="connector that stopped",
        count=capped_count(connectors.exclude(stopped_at=None)),
        url=f"{url}?state=stopped",
        urgent=True,
    )
    yield Need(
        text="connectors that fell silent",
        one="connector that fell silent",
        count=capped_count(connectors.silent()),
        url=f"{url}?state=silent",
    )
    yield Need(
        text="items in the quarantine of connectors",
        one="item in the quarantine of a connector",
        count=capped_count(Quarantined.objects.for_organization(organization)),
        url=f"{url}?state=quarantine",
    )


def charts(request: HttpRequest, organization: Organization) -> Iterator[Chart]:
    """What used to send and stopped, by name."""
    if may_look(request, Permission.READ_DECISIONS):
        systems = selectors.stopped_systems(organization.pk)
        page = reverse("admin:decisions_decision_changelist")
        yield Chart("Systems that stopped sending", _days(systems.items()), page, "Since the last record of each.")
    if may_look(request, Permission.MANAGE_CONNECTORS):
        silent = Connector.objects.for_organization(organization).silent().exclude(last_new_at=None)
        newest = ((row.name, row.last_new_at) for row in silent.order_by("last_new_at")[:_MOST_NAMED])
        page = reverse("admin:connectors_connector_changelist")
        yield Chart("Silent connectors", _days(newest), f"{page}?state=silent", "Since the last new record of each.")


def _days(newest: Iterable[tuple[str, datetime | None]]) -> list[Bar]:
    """The longest silences."""
    now = timezone.now()
    bars = [Bar(name, (now - at).days, "days") for name, at in newest if at]
    return sorted(bars, key=lambda bar: -bar.value)[:_MOST_NAMED]
