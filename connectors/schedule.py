"""Times of the next poll of a connector, and of its silence."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.utils import timezone

from connectors.models import Connector

_MIN_SILENCE, MAX_SILENCE = timedelta(days=1), timedelta(days=14)


def next_slot(connector: Connector) -> datetime:
    """Return the connector's next slot: every `schedule_seconds`, at an offset derived from its id.

    The slots of many connectors are spread out, and a late poll does not delay later ones.
    """
    every = connector.schedule_seconds
    offset = connector.source_id.int % every
    now = timezone.now().timestamp()
    slot = (now - offset) // every * every + every + offset
    return datetime.fromtimestamp(slot, UTC)


def heard(connector: Connector, now: datetime) -> dict[str, Any]:
    """Return the columns to change after a new record.

    The connector counts as silent after twice its longest gap, but at least one day and at most two weeks.
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
