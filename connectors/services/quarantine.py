"""What waits in quarantine: read again, or dismissed."""

from collections.abc import Collection

from django.db import transaction
from django.db.models import BigIntegerField, QuerySet

from accounts.authority import requires
from accounts.callers import Caller
from accounts.roles import Permission
from config.celery import wake
from connectors.models import Connector, Dismissed, Quarantined
from connectors.services import ledger, rows
from connectors.services.connectors import POLL_TASK

_LARGEST_ID = BigIntegerField.MAX_BIGINT


@requires(Permission.MANAGE_CONNECTORS)
def retry_quarantined(*, caller: Caller, connector: Connector, items: Collection[int] | None = None) -> int:
    """Have quarantined items read again: the connector goes back to where the first of them stands.

    Their bytes are kept nowhere, so the source is asked for them. Reading the rest again makes no second record.

    Args:
        items: their ids; None for all.

    Returns:
        How many there were. What is still no record comes back to quarantine.

    Raises:
        NotPolled: it is disabled, or its settings have problems.
        NoConnector
    """
    with transaction.atomic():
        row = rows.locked(caller, connector)
        rows.require_polled(row)
        chosen = list(_chosen(row, items).order_by("pk"))
        if chosen:
            row.cursor = chosen[0].cursor
            ledger.forget(row, {each.origin for each in chosen})
            row.version += 1
            rows.start(row)
            row.save(update_fields=["cursor", "version", *rows.STARTED])
            _remove(row, chosen)
            rows.record("quarantine_retried", caller, row, count=len(chosen))
            wake(POLL_TASK)
    return len(chosen)


@requires(Permission.MANAGE_CONNECTORS)
def dismiss_quarantined(*, caller: Caller, connector: Connector, items: Collection[int] | None = None) -> int:
    """Take items out of quarantine that shall not become records, and keep them out. Returns how many there were.
    Raises NoConnector."""
    with transaction.atomic():
        row = rows.locked(caller, connector)
        chosen = list(_chosen(row, items))
        if chosen:
            Dismissed.objects.bulk_create(
                [Dismissed(connector=row, digest=each.digest) for each in chosen], ignore_conflicts=True
            )
            _remove(row, chosen)
            rows.record("quarantine_dismissed", caller, row, count=len(chosen))
    return len(chosen)


def _chosen(row: Connector, items: Collection[int] | None) -> QuerySet[Quarantined]:
    if items is None:
        return row.quarantine.all()
    return row.quarantine.filter(pk__in=[each for each in items if 0 < each <= _LARGEST_ID])


def _remove(row: Connector, chosen: list[Quarantined]) -> None:
    row.quarantine.filter(pk__in=[each.pk for each in chosen]).delete()
