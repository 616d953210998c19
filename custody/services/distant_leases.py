"""Leases and pauses that a wrong clock set far into the future."""

from datetime import timedelta

from django.utils import timezone

from custody.models import WaitingObject
from custody.rows.new_records import LEASE
from custody.services.reconciler import MAX_PAUSE

_TOLERANCE = timedelta(minutes=5)
"""Accepted difference between the clocks of several machines."""


def shorten_distant_leases() -> int:
    """Shorten leases and pauses that are later than a right clock would set them. Return how many rows changed.

    The holder of a shortened lease keeps it, so that a request on a machine whose clock is ahead can finish.
    """
    now = timezone.now()
    waiting = WaitingObject.objects.unscoped("the clock's sweep serves every organization")
    leases = waiting.filter(lease_until__gt=now + LEASE + _TOLERANCE)
    pauses = waiting.filter(lease_until=None, next_try_at__gt=now + MAX_PAUSE + _TOLERANCE)
    return leases.update(lease_until=now + LEASE) + pauses.update(next_try_at=now)
