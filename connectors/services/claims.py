"""Claims: which due connectors a worker polls next, shared fairly between organizations."""

import time
import uuid
from collections import Counter, deque
from dataclasses import dataclass, field
from datetime import timedelta
from typing import NamedTuple

from django.db.models import Count, QuerySet
from django.utils import timezone

from config import leases
from connectors.models import Connector, PollTurn
from connectors.services import unserved

LEASE = timedelta(minutes=4)
"""Longer than the work between two renewals, in which a batch is read, taken into custody and noted."""
MAX_PAGE = 50
_FRESH_SECONDS = 2.0
SHARE = 8
"""A worker claims one in so many due connectors, and leaves the others to other workers."""


def due_count(limit: int) -> int:
    """Return how many connectors wait for a worker, counted up to `limit`."""
    return _free().values("pk")[:limit].count()


def others_wait(connector: Connector) -> bool:
    """Whether another connector is due that no worker polls."""
    return _free().exclude(pk=connector.pk).exists()


class _Place(NamedTuple):
    """An organization in the order of claims: its waiting connectors, and the workers that poll for it."""

    organization_id: uuid.UUID
    waiting: int
    workers: int


@dataclass
class _Order:
    """The next organizations, cached because with many organizations a query for them costs more than a claim."""

    places: deque[_Place] = field(default_factory=deque)
    fresh_until: float = 0.0  # time.monotonic()


_order = _Order()


def claim() -> list[Connector]:
    """Lease connectors of one organization for this worker: those that have waited longest.

    The organization with the fewest workers goes first, then the one whose last poll began earliest. So no organization
    holds more than half of the workers while another waits, and none waits behind a page of another.
    """
    if time.monotonic() < _order.fresh_until and (claimed := _claim_next()):
        return claimed
    _order.places = deque(_in_turn(_free_by_organization()))
    _order.fresh_until = time.monotonic() + _FRESH_SECONDS
    return _claim_next()


def forget_order() -> None:
    """Have the next claim query the order again."""
    _order.fresh_until = 0.0


def _claim_next() -> list[Connector]:
    """Claim for the next organization. An organization that another worker has just joined comes last."""
    overtaken = []
    while _order.places:
        place = _order.places.popleft()
        if _order.places and _workers(place.organization_id) > place.workers:
            overtaken.append(place)
        elif claimed := _claim_of(place):
            return claimed
    return next((claimed for place in overtaken if (claimed := _claim_of(place))), [])


def _claim_of(place: _Place) -> list[Connector]:
    # Several workers query the same rows, and each claims rows that no other worker is claiming.
    page = max(1, min(place.waiting // SHARE, MAX_PAGE))
    mine = _free().filter(organization_id=place.organization_id)
    return leases.claim(mine, lasts=LEASE, limit=page, order=("next_poll_at", "pk"))


def _workers(organization_id: uuid.UUID) -> int:
    """Return how many workers poll for an organization now."""
    rows = Connector.objects.for_organization(organization_id).filter(lease_until__gte=timezone.now())
    return rows.order_by().values("lease_token").distinct().count()


def release(connector: Connector) -> None:
    """Release the lease of a connector if it is still ours, and change nothing else."""
    rows = Connector.objects.for_organization(connector.organization_id)
    rows.filter(pk=connector.pk, lease_token=connector.lease_token).update(**leases.RELEASED)


def take_turn(connector: Connector) -> None:
    """Record that a poll for this organization begins now."""
    turn = PollTurn(organization_id=connector.organization_id, polled_at=timezone.now())
    PollTurn.objects.bulk_create(
        [turn], update_conflicts=True, unique_fields=["organization"], update_fields=["polled_at"]
    )


def _free() -> QuerySet[Connector]:
    due = Connector.objects.unscoped("workers serve every organization").due()
    return due.filter(leases.free()).exclude(pk__in=unserved.now())


def _free_by_organization() -> dict[uuid.UUID, int]:
    """Count the connectors that wait for a worker, by organization."""
    counted = _free().order_by().values("organization_id").annotate(count=Count("pk"))
    return dict(counted.values_list("organization_id", "count"))


def _in_turn(waiting: dict[uuid.UUID, int]) -> list[_Place]:
    """Sort organizations by the number of workers that poll for them now, then by the time of their last poll."""
    if len(waiting) < 2:
        return [_Place(organization_id, count, 0) for organization_id, count in waiting.items()]
    now = timezone.now()
    leased = Connector.objects.unscoped("workers serve every organization").filter(lease_until__gte=now)
    workers = Counter(pk for pk, _ in leased.order_by().values_list("organization_id", "lease_token").distinct())
    turns = PollTurn.objects.unscoped("workers serve every organization").filter(polled_at__lte=now)
    polled = dict(turns.values_list("organization_id", "polled_at"))

    def order(place: _Place) -> tuple[int, float]:
        last = polled.get(place.organization_id)
        return place.workers, last.timestamp() if last else 0.0

    return sorted((_Place(pk, count, workers[pk]) for pk, count in waiting.items()), key=order)
