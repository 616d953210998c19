"""Leases: who works on a row holds it for a while, under a random token, and only the holder finishes it.

The committed row is the queue. A message only wakes a worker, which claims when it starts; whoever is killed or
stopped loses the lease when it runs out, and what they do after another took over changes nothing.
"""

import random
import uuid
from collections.abc import Sequence
from datetime import timedelta
from functools import reduce
from operator import or_
from typing import Any, TypeVar

from django.db import models
from django.db.models import F, Q, QuerySet
from django.db.models.expressions import Combinable
from django.utils import timezone

from config import db
from config.errors import DomainError

_FIRST_PAUSE = timedelta(minutes=1)
_LONGEST_PAUSE = timedelta(hours=1)


class LeaseLost(DomainError):
    """The lease ran out and somebody else took the row over, or finished it."""

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
"""The columns of a row that nobody holds, and whose work did not fail."""


def free() -> Q:
    """The rows that nobody holds now."""
    return Q(lease_until=None) | Q(lease_until__lt=timezone.now())


def pause(failures: int, longest: timedelta = _LONGEST_PAUSE, *, first: timedelta = _FIRST_PAUSE) -> timedelta:
    """How long to wait after so many failures in a row: twice as long each time, from the first to the longest, and by
    up to a quarter less, so that what failed together does not come back together."""
    backoff: timedelta = min(first * 2 ** min(failures - 1, 10), longest) * random.uniform(0.75, 1)  # noqa: S311
    return backoff


def claim(
    waiting: QuerySet[Row], *, lasts: timedelta, limit: int = 1, order: Sequence[str | Combinable] = ("pk",)
) -> list[Row]:
    """Take over rows that nobody holds and whose next try is due.

    Args:
        waiting: the rows on which there is work.
        lasts: how long the work takes at most, or until it renews.
        limit: claim no more rows than can be worked off within `lasts`.
        order: which come first.
    """
    now, token = timezone.now(), uuid.uuid4()
    ready = waiting.filter(free(), Q(next_try_at=None) | Q(next_try_at__lte=now)).order_by(*order)
    with db.index_order():
        rows = list(ready.select_for_update(skip_locked=True, of=("self",))[:limit])
        held = {"lease_token": token, "lease_until": now + lasts}
        waiting.model._base_manager.filter(pk__in=[row.pk for row in rows]).update(**held, attempts=F("attempts") + 1)
    for row in rows:
        row.lease_token, row.lease_until, row.attempts = token, now + lasts, row.attempts + 1
    return rows


def renew(row: Leased, *, lasts: timedelta, **changes: Any) -> None:
    """Hold a row from now on for as long again. Call it before what must not happen twice.

    Args:
        changes: columns to save along.

    Raises:
        LeaseLost
    """
    _change(row, lease_until=timezone.now() + lasts, **changes)


def complete(row: Leased, **changes: Any) -> None:
    """Let go of a row whose work is done, with the columns that say so.

    Call it inside the transaction of all else that the work changes: who lost the lease then changes nothing. A lease
    that ran out is lost once somebody else claims the row or lets go of it; until then the work counts.

    Raises:
        LeaseLost
    """
    _change(row, **RELEASED, **changes)


def unchanged(rows: Sequence[Row]) -> QuerySet[Row]:
    """Those of some rows of one model whose leases are as they were when the rows were read or claimed: since then
    nobody has claimed them, let go of them or finished them.

    Whoever finishes many rows together changes these alone, locked, in the transaction of all else that changes.
    """
    held: dict[uuid.UUID | None, list[Any]] = {}
    for row in rows:
        held.setdefault(row.lease_token, []).append(row.pk)
    same = reduce(or_, (Q(lease_token=token, pk__in=pks) for token, pks in held.items()))
    return type(rows[0])._base_manager.filter(same).order_by("pk").select_for_update()


def fail(row: Leased, *, longest: timedelta = _LONGEST_PAUSE) -> None:
    """Let go of a row that could not be finished, until `pause` is over. Raises LeaseLost."""
    next_try_at = timezone.now() + pause(row.attempts, longest)
    _change(row, lease_token=None, lease_until=None, next_try_at=next_try_at)


def _change(row: Leased, **columns: Any) -> None:
    held = type(row)._base_manager.filter(pk=row.pk, lease_token=row.lease_token)
    if row.lease_token is None or not held.update(**columns):
        raise LeaseLost
