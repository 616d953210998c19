"""When a connector is polled next, and when it counts as silent."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.utils import timezone

from connectors.models import Connector

_MIN_SILENCE, MAX_SILENCE = timedelta(days=1), timedelta(days=14)


def next_slot(connector: Connector) -> datetime:
    """The next of a connector's own moments: every `schedule_seconds`, at an offset that its id gives.

    So the moments of many connectors lie apart, however they were made, and a poll that was late makes none later.
    """
    every = connector.schedule_seconds
    offset = connector.source_id.int % every
    now = timezone.now().timestamp()
    slot = (now - offset) // every * every + every + offset
    return datetime.fromtimestamp(slot, UTC)


def heard(connector: Connector, now: datetime) -> dict[str, Any]:
    """The columns to change when a new record came.

    It counts as silent after twice its longest gap, a day at least and two weeks at most.
    """
    gap = now - connector.last_new_at if connector.last_new_at else timedelta()
    connector.longest_gap_seconds = max(connector.longest_gap_seconds, int(gap.total_seconds()))
    connector.last_new_at = now
    silence = 2 * timedelta(seconds=connector.longest_gap_seconds)
    return {
        "last_new_at": now,
        "longest_gap_seconds": connector.longest_gap_seconds,
        "silent_at": now + min(max(silence, _MIN_SILENCE), MAX_SILENCE),
    }
