"""What a clock that was ahead has put into the future, brought back."""

from datetime import timedelta

from django.db.models import DurationField, ExpressionWrapper, IntegerField, Q, QuerySet, Value
from django.db.models.functions import Cast
from django.utils import timezone

from config import leases
from connectors import failures, schedule
from connectors.models import Connector
from connectors.services.claims import LEASE

_TOLERANCE = timedelta(minutes=5)
"""By how much the clocks of several machines may differ."""


def repair_times() -> int:
    """Bring back leases, polls and silences that no right clock would have set so late. Returns how many there were.

    Otherwise a clock that was a year ahead for a minute would stop connectors for a year.
    """
    now = timezone.now()
    latest = now + _TOLERANCE
    # Types are spelled out for SQLite, which has no intervals of its own.
    seconds = Cast("schedule_seconds", IntegerField()) * Value(timedelta(seconds=1))
    on_schedule = Q(failures=0, next_poll_at__gt=Value(latest) + ExpressionWrapper(seconds, DurationField()))
    after_failures = Q(next_poll_at__gt=latest + failures.MAX_SOURCE_PAUSE)
    return sum(
        (
            _connectors().filter(lease_until__gt=latest + LEASE).update(**leases.RELEASED),
            _connectors().filter(on_schedule | after_failures).update(next_poll_at=now),
            _connectors()
            .filter(silent_at__gt=latest + schedule.MAX_SILENCE)
            .update(silent_at=now + schedule.MAX_SILENCE),
        )
    )


def _connectors() -> QuerySet[Connector]:
    return Connector.objects.unscoped("the clock's sweep serves every organization")
