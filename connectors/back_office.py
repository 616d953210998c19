"""What connectors place on the start page."""

from collections.abc import Iterator

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from accounts.back_office import Need, capped_count, may_look
from accounts.models import Organization
from accounts.roles import Permission
from connectors import selectors
from connectors.models import Connector, Quarantined


def needs(request: HttpRequest, organization: Organization) -> Iterator[Need]:
    """The needs of the start page, one query each."""
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
        url=url,
        urgent=True,
    )
    yield Need(
        text="connectors that fell silent",
        one="connector that fell silent",
        count=capped_count(connectors.filter(enabled=True, silent_at__lte=timezone.now())),
        url=url,
    )
    yield Need(
        text="items in the quarantine of connectors",
        one="item in the quarantine of a connector",
        count=capped_count(Quarantined.objects.for_organization(organization)),
        url=url,
    )
