"""Claims: which due connectors a worker polls next, shared fairly between organizations."""

import uuid
from collections import Counter
from datetime import timedelta

from django.db.models import Count, QuerySet
from django.utils import timezone

from config import leases
from connectors.models import Connector, PollTurn
from connectors.services import unserved

LEASE = timedelta(minutes=4)
"""Longer than anything between two renewals: a batch is read, taken and noted in it."""
MAX_PAGE = 50
SHARE = 8
"""A worker claims one of so many connectors that are due, so that others are left for other workers."""


def due_count(limit: int) -> int:
    """Return how many connectors wait for a worker, counted up to `limit`."""
    return _free().values("pk")[:limit].count()


def others_wait(connector: Connector) -> bool:
    """Whether another connector is due that no worker polls."""
    return _free().exclude(pk=connector.pk).exists()


def claim() -> list[Connector]:
    """Lease connectors of one organization for this worker: those that have waited longest.

    The organization with the fewest workers goes first, then the one whose last poll began earliest. So no organization
    holds more than half of the workers while another waits, and none waits behind a page of another.
    """
    waiting = _free_by_organization()
    for organization_id in _in_turn(waiting):
        # Several workers look at the same rows, and each takes those that no other worker is just taking.
        page = max(1, min(waiting[organization_id] // SHARE, MAX_PAGE))
        mine = _free().filter(organization_id=organization_id)
        if claimed := leases.claim(mine, lasts=LEASE, most=page, order=("next_poll_at", "pk")):
            return claimed
    return []


def release(connector: Connector) -> None:
    """Let go of a connector whose lease is still ours, and change nothing else."""
    rows = Connector.objects.for_organization(connector.organization_id)
    rows.filter(pk=connector.pk, lease_token=connector.lease_token).update(**leases.RELEASED)


def take_turn(connector: Connector) -> None:
    """Note that a poll of this organization begins now."""
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


def _in_turn(waiting: dict[uuid.UUID, int]) -> list[uuid.UUID]:
    """Sort organizations by the number of workers that poll for them now, then by the time of their last poll."""
    if len(waiting) < 2:
        return list(waiting)
    now = timezone.now()
    leased = Connector.objects.unscoped("workers serve every organization").filter(lease_until__gte=now)
    workers = Counter(pk for pk, _ in leased.values_list("organization_id", "lease_token").distinct())
    turns = PollTurn.objects.unscoped("workers serve every organization").filter(polled_at__lte=now)
    polled = dict(turns.values_list("organization_id", "polled_at"))

    def order(organization_id: uuid.UUID) -> tuple[int, float]:
        last = polled.get(organization_id)
        return workers[organization_id], last.timestamp() if last else 0.0

    return sorted(waiting, key=order)
