"""Turns of organizations whose objects wait for a signature or their vault.

Each due organization has one turn in a round; the longest waiting is first. So a backlog of thousands delays
another organization's first record by one batch. Each step reads one index, however many objects wait.

If a batch of several organizations is slow, it does not show which of them is. Each is then served alone for a while.
An organization that is slow alone rests for ten times as long as its batch took.
"""

import time
import uuid
from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.db.models import OuterRef, Q, Subquery
from django.utils import timezone

from accounts.models import Organization
from config import leases
from config.rests import SLOW_SECONDS, Rests
from custody.keys import outages
from custody.models import Entry, WaitingObject
from custody.rows.new_records import LEASE

_MIN_SHARE = 5
"""Minimum of objects in a turn: each turn costs a transaction."""
_MAX_SLOW = 8
"""Objects in a batch of a slow organization: signed or put in parallel, so that it takes as long as one call."""
_MAX_BATCH = 512
_ALONE_SECONDS = 60


@dataclass(slots=True)
class _Pace:
    """An organization's pace in this process, in seconds of `time.monotonic`.

    Attributes:
        alone_until: until then it shares no batch with other organizations.
        max_batch: limit of its objects in a batch. A slow batch lowers it, each fast one doubles it.
    """

    alone_until: float = 0
    max_batch: int = _MAX_BATCH


_paces: dict[uuid.UUID, _Pace] = {}
_rests = Rests()


class Turns:
    """Batches of claimed objects, until none is due."""

    def __init__(self) -> None:
        self._round: deque[uuid.UUID] = deque()
        self._paused: set[uuid.UUID] = set()

    def claim(self, limit: int) -> list[WaitingObject]:
        """Claim a batch, with entries. It is empty if nothing is due."""
        if batch := self._claim(limit):
            return batch
        self._begin_round()
        return self._claim(limit)

    def _claim(self, limit: int) -> list[WaitingObject]:
        """Claim a share for each next organization of the round, or only for the next one if it is served alone."""
        share = max(_MIN_SHARE, limit // max(1, len(self._round)))
        batch: list[WaitingObject] = []
        now = time.monotonic()
        while self._round and len(batch) < limit:
            pace = _paces.setdefault(self._round[0], _Pace())
            is_alone = pace.alone_until > now
            if is_alone and batch:
                break
            _rests.begin(self._round[0])
            batch += self._claim_of(self._round.popleft(), min(share, limit - len(batch), pace.max_batch))
            if is_alone and batch:
                break
        return batch

    def note_seconds(self, batch: Sequence[WaitingObject], seconds: float) -> None:
        """Let an organization rest after a slow batch, or separate the organizations that shared one."""
        owners = {waiting.organization_id for waiting in batch}
        for owner in owners:
            pace = _paces.setdefault(owner, _Pace())
            rest_seconds = _rests.end(owner, seconds if len(owners) == 1 else 0)
            if seconds <= SLOW_SECONDS:
                pace.max_batch = min(2 * pace.max_batch, _MAX_BATCH)
                continue
            pace.alone_until = time.monotonic() + rest_seconds + _ALONE_SECONDS
            if len(owners) == 1:
                pace.max_batch = _MAX_SLOW

    def _begin_round(self) -> None:
        """Begin a round of all due organizations that do not rest, or of the one whose rest ends first."""
        self._paused = set(outages.paused_signing().values_list("key__organization", flat=True))
        self._round.extend(_rests.in_turn(_due_organizations()))
        for key in [key for key in list(_paces) if key not in _rests]:
            _paces.pop(key, None)

    def _claim_of(self, organization_id: uuid.UUID, limit: int) -> list[WaitingObject]:
        """Claim the oldest due objects of an organization; only signed ones while its signing key is paused.

        Objects queued by a machine whose clock is ahead get up to half of the turn, so that the objects of neither
        clock wait for those of the other.
        """
        waiting = WaitingObject.objects.for_organization(organization_id).select_related("record")
        if organization_id in self._paused:
            waiting = waiting.filter(pk__in=_oldest_signed(organization_id))
        now = timezone.now()
        ahead = waiting.filter(WaitingObject.UNTRIED, queued_at__gt=now)
        claimed = leases.claim(ahead, lasts=LEASE, limit=(limit + 1) // 2, order=("queued_at",))
        due = waiting.alias(due=WaitingObject.DUE).filter(due__lte=now)
        return claimed + leases.claim(due, lasts=LEASE, limit=limit - len(claimed), order=(WaitingObject.DUE,))


def forget() -> None:
    """Have this process forget which organizations are slow."""
    _paces.clear()
    _rests.forget()


def _due_organizations() -> list[uuid.UUID]:
    """Return the organizations with objects that are due or untried, independent of the clock that queued them."""
    waiting = WaitingObject.objects.unscoped("each organization is asked for its own").filter(
        organization=OuterRef("pk")
    )
    first = waiting.order_by(WaitingObject.DUE).values(due=WaitingObject.DUE)[:1]
    untried = waiting.filter(WaitingObject.UNTRIED).order_by("queued_at").values("queued_at")[:1]
    organizations = Organization.objects.annotate(due=Subquery(first), untried=Subquery(untried))
    due = organizations.filter(Q(due__lte=timezone.now()) | Q(untried__isnull=False))
    return list(due.order_by("due", "pk").values_list("pk", flat=True))


def _oldest_signed(organization_id: uuid.UUID) -> Collection[uuid.UUID]:
    entries = Entry.objects.for_organization(organization_id).filter(state=Entry.State.RESERVED)
    return list(entries.order_by("received_at").values_list("pk", flat=True)[:500])
