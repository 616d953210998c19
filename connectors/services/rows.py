"""What every change of a connector does: take its row, and leave a trace."""

from typing import Any

from django.utils import timezone

from accounts import audit
from accounts.callers import Caller
from config import db
from connectors.errors import NoConnector, NotPolled
from connectors.models import Connector


def locked(caller: Caller, connector: Connector) -> Connector:
    """The row as it is now, locked until the transaction ends. Raises NoConnector."""
    rows = Connector.objects.for_organization(caller.organization_id).select_for_update()
    row = db.only(rows.filter(pk=connector.pk))
    if row is None:
        raise NoConnector
    return row


def require_polled(row: Connector) -> None:
    """Raises NotPolled for a connector that is disabled or has problems."""
    if row.why_not_polled:
        raise NotPolled(row.why_not_polled)


def start(row: Connector) -> None:
    """Make a connector due, and forget what stopped it; unless it may not be polled. The caller saves it."""
    row.next_poll_at = timezone.now() if row.enabled and not row.problems else None
    row.failures, row.stopped_at, row.stopped_because = 0, None, ""
    if not row.enabled:
        row.silent_at = None


STARTED = ("next_poll_at", "failures", "stopped_at", "stopped_because", "silent_at")
"""The columns that `start` sets."""


def record(verb: str, caller: Caller, connector: Connector, **detail: Any) -> None:
    """Write into the audit trail what was done, without settings."""
    audit.record(
        f"connector.{verb}",
        actor=caller.actor,
        organization_id=caller.organization_id,
        object_kind="connector",
        object_id=connector.source_id,
        **detail,
    )
