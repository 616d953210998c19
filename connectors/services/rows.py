"""What every change of a connector does: take its row, and leave a trace."""

from typing import Any

from accounts import audit
from accounts.callers import Caller
from connectors.errors import NoConnector, NotPolled
from connectors.models import Connector


def locked(caller: Caller, connector: Connector) -> Connector:
    """The row as it is now, locked until the transaction ends. Raises NoConnector."""
    rows = Connector.objects.for_organization(caller.organization_id).select_for_update()
    row = rows.filter(pk=connector.pk).first()
    if row is None:
        raise NoConnector
    return row


def require_polled(row: Connector) -> None:
    """Raises NotPolled for a connector that is disabled or has problems."""
    if not row.enabled:
        raise NotPolled("This connector is disabled. Enable it first.")
    if row.problems:
        raise NotPolled("This connector's settings have problems. Fix them first.")


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
