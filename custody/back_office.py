"""How the vault is doing, for the pages."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from accounts.back_office import Need, capped_count, may_look
from accounts.models import Organization
from accounts.roles import Permission
from custody.models import Entry

_LATE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class State:
    """The records of an organization: how many wait for their vault and since when, and how many lie in it."""

    waiting: int
    since: datetime | None
    stored: int


def state_of(organization: Organization) -> State:
    """Three queries, none of which counts further than lists do."""
    waiting = _waiting(organization)
    oldest = waiting.order_by("received_at").values_list("received_at", flat=True).first()
    stored = Entry.objects.for_organization(organization).filter(state=Entry.State.STORED)
    return State(capped_count(waiting), oldest, capped_count(stored))


def needs(request: HttpRequest, organization: Organization) -> Iterator[Need]:
    """The needs of the start page."""
    if may_look(request, Permission.READ_DECISIONS):
        yield Need(
            text="records sealed, but not in their vault after a minute",
            one="record sealed, but not in its vault after a minute",
            count=capped_count(_waiting(organization).filter(received_at__lt=timezone.now() - _LATE)),
            url=reverse("admin:custody_entry_changelist") + f"?state={Entry.State.RESERVED}",
            urgent=True,
        )


def _waiting(organization: Organization) -> QuerySet[Entry]:
    return Entry.objects.for_organization(organization).filter(state=Entry.State.RESERVED)
