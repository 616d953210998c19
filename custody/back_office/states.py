"""State of an organization's custody, for pages."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet, Subquery
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.back_office import Need, capped_counts, lists, may_look
from accounts.models import Organization
from accounts.roles import Permission
from custody.models import Damage, Entry, Inspection

_LATE = timedelta(minutes=1)
_ON_THE_WAY = (Entry.State.QUEUED, Entry.State.RESERVED, Entry.State.STORED)


@dataclass(frozen=True, slots=True)
class State:
    """Numbers of an organization's records: waiting for a signature or for their vault, with the oldest one's time, and
    stored."""

    queued: int
    queued_since: datetime | None
    waiting: int
    since: datetime | None
    stored: int


def state_of(organization: Organization) -> State:
    """Return the state, from two queries that count no further than lists do."""
    queued, waiting, stored = (_in_state(organization, state) for state in _ON_THE_WAY)
    counts = capped_counts([queued, waiting, stored], lists.MAX_ROWS)
    since = Organization.objects.values_list(_oldest(queued), _oldest(waiting)).get(pk=organization.pk)
    return State(counts[0], since[0], counts[1], since[1], counts[2])


def needs(request: HttpRequest, organization: Organization) -> Iterator[Need]:
    """Yield the needs on the start page."""
    if may_look(request, Permission.READ_DECISIONS):
        yield Need(
            text=_("records sealed, but not in their vault after a minute"),
            one=_("record sealed, but not in its vault after a minute"),
            count=late(Entry.objects.for_organization(organization)),
            url=reverse("admin:custody_entry_changelist") + "?state=late",
            urgent=True,
        )
        yield Need(
            text=_("damaged items in custody: have them restored from a backup"),
            one=_("damaged item in custody: have it restored from a backup"),
            count=Damage.objects.for_organization(organization),
            url=reverse("admin:custody_entry_changelist"),
            urgent=True,
        )


def damage_of(organization: Organization) -> dict[str, Any]:
    """Return the damage of the last checks, and when everything was checked."""
    damaged = Damage.objects.for_organization(organization).order_by("kind", "name")
    checks = Inspection.objects.for_organization(organization).exclude(finished_at=None)
    return {
        "damaged": list(damaged[:20]),
        "checked_at": checks.order_by("-finished_at").values_list("finished_at", flat=True).first(),
    }


def waiting(entries: QuerySet[Entry]) -> QuerySet[Entry]:
    """Return the entries that are not in their vault yet, by a query that uses the index of each state."""
    return entries.filter(Q(state=Entry.State.QUEUED) | Q(state=Entry.State.RESERVED))


def late(entries: QuerySet[Entry]) -> QuerySet[Entry]:
    """Return the entries that are not in their vault after a minute."""
    return waiting(entries).filter(received_at__lt=timezone.now() - _LATE)


def _in_state(organization: Organization, state: Entry.State) -> QuerySet[Entry]:
    return Entry.objects.for_organization(organization).filter(state=state)


def _oldest(entries: QuerySet[Entry]) -> Subquery:
    return Subquery(entries.order_by("received_at").values("received_at")[:1])
