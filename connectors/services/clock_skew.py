"""Repair of times that a fast clock set too far in the future."""

from datetime import timedelta

from django.db.models import DurationField, ExpressionWrapper, IntegerField, Q, QuerySet, Value
from django.db.models.functions import Cast
from django.utils import timezone

from config import leases
from connectors import failures, schedule
from connectors.models import Connector
from connectors.services.claims import LEASE

_TOLERANCE = timedelta(minutes=5)
"""The accepted difference between the clocks of machines."""


def repair_times() -> int:
    """Reset leases, polls and silences that no correct clock would have set so late. Return how many.

    Otherwise a clock that is a year ahead for a minute would stop connectors for a year.
    """
    now = timezone.now()
    latest = now + _TOLERANCE
    # SQLite has no interval type, so types are explicit.
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
