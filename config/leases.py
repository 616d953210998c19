"""Leases: a worker holds a row for a limited time, under a random token, and only the holder can finish it.

The committed row is the queue. A message only wakes a worker, which then claims rows. A worker that is killed or
stopped loses its lease when it expires. Once another worker has claimed the row, the first cannot change it any more.
"""

import time
import uuid
from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import reduce
from operator import or_
from typing import Any, TypeVar

from django.db import models
from django.db.models import F, Q, QuerySet
from django.db.models.expressions import Combinable
from django.utils import timezone

from config import db, retries
from config.errors import DomainError


class LeaseLost(DomainError):
    """The lease expired, and another worker has claimed or finished the row."""

    code = "lease_lost"
    sentence = "This took too long, and another worker has taken it over."


class Leased(models.Model):
    """A row that one worker at a time works on."""

    lease_token = models.UUIDField(null=True, editable=False)
    lease_until = models.DateTimeField(null=True, editable=False)
    attempts = models.PositiveIntegerField(default=0, editable=False)
    next_try_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        abstract = True


Row = TypeVar("Row", bound=Leased)
RELEASED: dict[str, Any] = {"lease_token": None, "lease_until": None, "attempts": 0, "next_try_at": None}
"""Columns of a row without a lease or a failed attempt."""


def free() -> Q:
    """Return the condition for rows without a current lease."""
    return Q(lease_until=None) | Q(lease_until__lt=timezone.now())


def due(waiting: QuerySet[Row]) -> QuerySet[Row]:
    """Return the rows without a current lease whose next try is due."""
    return waiting.filter(free(), Q(next_try_at=None) | Q(next_try_at__lte=timezone.now()))


def claim(
    waiting: QuerySet[Row], *, lasts: timedelta, limit: int = 1, order: Sequence[str | Combinable] = ("pk",)
) -> list[Row]:
    """Claim rows without a current lease whose next try is due.

    Args:
        waiting: rows with work to do.
        lasts: longest time until the work completes or renews the lease.
        limit: maximum of rows, which must be finished within `lasts`.
        order: order in which rows are claimed.
    """
    now, token = timezone.now(), uuid.uuid4()
    with db.index_order():
        rows = list(due(waiting).order_by(*order).select_for_update(skip_locked=True, of=("self",))[:limit])
        held = {"lease_token": token, "lease_until": now + lasts}
        waiting.model._base_manager.filter(pk__in=[row.pk for row in rows]).update(**held, attempts=F("attempts") + 1)
    for row in rows:
        row.lease_token, row.lease_until, row.attempts = token, now + lasts, row.attempts + 1
    return rows


def claim_each(waiting: QuerySet[Row], *, lasts: timedelta, seconds: float) -> Iterator[Row]:
    """Yield claimed rows one at a time: the last row of a batch would wait for the others longer than its lease.

    Args:
        seconds: no row is claimed later than this, except the first.
    """
    ends = time.monotonic() + seconds
    while rows := claim(waiting, lasts=lasts):
        yield from rows
        if time.monotonic() >= ends:
            return


def renew(row: Leased, *, lasts: timedelta, **changes: Any) -> None:
    """Extend the lease of a row. Call this before an effect that must not happen twice.

    Args:
        changes: further columns to save.

    Raises:
        LeaseLost
    """
    _change(row, lease_until=timezone.now() + lasts, **changes)


def complete(row: Leased, **changes: Any) -> None:
    """Release a row whose work is done, and save the columns that say so.

    Call this in the transaction of all other changes: then a worker that lost its lease changes nothing. An expired
    lease is lost only once another worker claims or releases the row. Until then the work counts.

    Raises:
        LeaseLost
    """
    _change(row, **RELEASED, **changes)


def unchanged(rows: Sequence[Row]) -> QuerySet[Row]:
    """Lock and return the rows whose lease has not changed since they were read or claimed. All are of one model.

    To finish many rows together, change only these, in the transaction of all other changes.
    """
    held: dict[uuid.UUID | None, list[Any]] = {}
    for row in rows:
        held.setdefault(row.lease_token, []).append(row.pk)
    same = reduce(or_, (Q(lease_token=token, pk__in=pks) for token, pks in held.items()))
    return type(rows[0])._base_manager.filter(same).order_by("pk").select_for_update()


def fail(row: Leased, *, longest: timedelta = retries.MAX_PAUSE) -> None:
    """Release a row whose work failed. The next try is due after `retries.pause`. Raises LeaseLost."""
    next_try_at = timezone.now() + retries.pause(row.attempts, longest)
    _change(row, lease_token=None, lease_until=None, next_try_at=next_try_at)


def _change(row: Leased, **columns: Any) -> None:
    held = type(row)._base_manager.filter(pk=row.pk, lease_token=row.lease_token)
    if row.lease_token is None or not held.update(**columns):
        raise LeaseLost
