"""Common steps of changes to a connector: lock its row, restart it, and write the audit trail."""

from typing import Any

from django.utils import timezone

from accounts import audit
from accounts.callers import Caller
from config import db
from connectors.errors import NoConnector, NotPolled
from connectors.models import Connector


def locked(caller: Caller, connector: Connector) -> Connector:
    """Lock the current row until the transaction ends, and return it. Raises NoConnector."""
    rows = Connector.objects.for_organization(caller.organization_id).select_for_update()
    row = db.only(rows.filter(pk=connector.pk))
    if row is None:
        raise NoConnector
    return row


def require_polled(row: Connector) -> None:
    """Raise NotPolled for a connector that is disabled or has problems."""
    if row.why_not_polled:
        raise NotPolled(row.why_not_polled)


def start(row: Connector) -> None:
    """Clear the failures of a connector, and make it due if it may be polled. The caller saves it."""
    row.next_poll_at = timezone.now() if row.enabled and not row.problems else None
    row.failures, row.stopped_at, row.stopped_because = 0, None, ""
    if not row.enabled:
        row.silent_at = None


STARTED = ("next_poll_at", "failures", "stopped_at", "stopped_because", "silent_at")
"""The columns that `start` sets."""


def record(verb: str, caller: Caller, connector: Connector, **detail: Any) -> None:
    """Record a change in the audit trail, without settings."""
    audit.record(
        f"connector.{verb}",
        actor=caller.actor,
        organization_id=caller.organization_id,
        object_kind="connector",
        object_id=connector.source_id,
        **detail,
    )
