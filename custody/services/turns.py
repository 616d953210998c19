"""Turns of organizations whose objects wait for a signature or their vault.

Each organization has one turn in a round, the one with the oldest due object first. A backlog of thousands so delays
another organization's first record by one batch. Each step is a look into one index, however many objects wait.
"""

import time
import uuid
from collections import deque
from collections.abc import Collection, Sequence

from django.db.models import OuterRef, Subquery
from django.utils import timezone

from accounts.models import Organization
from config import leases
from custody import key_outages
from custody.models import Entry, WaitingObject
from custody.new_records import LEASE

_MIN_SHARE = 5
"""Objects in a turn, at least: each turn costs a transaction."""
_SLOW_SECONDS = 5
_MAX_SLOW = 8
"""Objects in a batch of slow organizations: as many as are signed or put at a time, so one call's time ends it."""
_REMEMBERED_SECONDS = 60

_slow: dict[uuid.UUID, float] = {}
"""Organizations whose last batch was slow, and until when they go after the others."""


class Turns:
    """Batches of claimed objects, until none is due."""

    def __init__(self) -> None:
        self._round: deque[uuid.UUID] = deque()
        self._paused: set[uuid.UUID] = set()

    def claim(self, limit: int) -> list[WaitingObject]:
        """Claim a batch, with entries. It is empty once nothing is due."""
        if batch := self._claim(limit):
            return batch
        self._begin_round()
        return self._claim(limit)

    def _claim(self, limit: int) -> list[WaitingObject]:
        """Claim a share for each next organization of the round."""
        if self._round and self._round[0] in _slow:
            limit = min(limit, _MAX_SLOW)
        share = max(_MIN_SHARE, limit // max(1, len(self._round)))
        batch: list[WaitingObject] = []
        while self._round and len(batch) < limit:
            batch += self._claim_of(self._round.popleft(), min(share, limit - len(batch)))
        return batch

    def note_seconds(self, batch: Sequence[WaitingObject], seconds: float) -> None:
        """Have the organizations of a slow batch go after the others for a while."""
        for organization_id in {waiting.organization_id for waiting in batch}:
            if seconds > _SLOW_SECONDS:
                _slow[organization_id] = time.monotonic() + _REMEMBERED_SECONDS

    def _begin_round(self) -> None:
        now = time.monotonic()
        for organization_id in [key for key, until in list(_slow.items()) if until <= now]:
            _slow.pop(organization_id, None)
        self._paused = set(key_outages.paused_signing().values_list("key__organization", flat=True))
        due = _due_organizations()
        self._round.extend([key for key in due if key not in _slow] or due)

    def _claim_of(self, organization_id: uuid.UUID, limit: int) -> list[WaitingObject]:
        """Claim the oldest due objects of an organization. While its signing key is left alone, only signed ones."""
        waiting = WaitingObject.objects.for_organization(organization_id)
        if organization_id in self._paused:
            waiting = waiting.filter(pk__in=_oldest_signed(organization_id))
        rows = waiting.select_related("record").alias(due=WaitingObject.DUE).filter(due__lte=timezone.now())
        return leases.claim(rows, lasts=LEASE, limit=limit, order=(WaitingObject.DUE,))


def forget() -> None:
    """Have this process take no organization for slow."""
    _slow.clear()


def _due_organizations() -> list[uuid.UUID]:
    waiting = WaitingObject.objects.unscoped("each organization is asked for its own").filter(
        organization=OuterRef("pk")
    )
    first = Subquery(waiting.order_by(WaitingObject.DUE).values(due=WaitingObject.DUE)[:1])
    organizations = Organization.objects.annotate(due=first).filter(due__lte=timezone.now())
    return list(organizations.order_by("due", "pk").values_list("pk", flat=True))


def _oldest_signed(organization_id: uuid.UUID) -> Collection[uuid.UUID]:
    entries = Entry.objects.for_organization(organization_id).filter(state=Entry.State.RESERVED)
    return list(entries.order_by("received_at").values_list("pk", flat=True)[:500])
