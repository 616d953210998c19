"""Quarantine: polls add and remove items, and members retry or dismiss them."""

from collections.abc import Collection
from typing import Any

from django.db import transaction
from django.db.models import BigIntegerField, QuerySet
from django.utils import timezone

from accounts.authority import requires
from accounts.callers import Caller
from accounts.roles import Permission
from config.celery import wake
from connectors.formats import Item
from connectors.kinds.base import Batch
from connectors.models import MAX_LEDGER_NAME, MAX_POSITION, Connector, Dismissed, Quarantined
from connectors.services import ledger, rows
from connectors.services.connectors import POLL_TASK
from connectors.services.intake import Intake
from connectors.texts import identifying, storable

_MAX_ID = BigIntegerField.MAX_BIGINT


@requires(Permission.MANAGE_CONNECTORS)
def retry_quarantined(*, caller: Caller, connector: Connector, items: Collection[int] | None = None) -> int:
    """Read quarantined items again: the connector goes back to the position of the first item.

    The service does not store the bytes of items, so it reads the source again. That creates no duplicate records.

    Args:
        items: the ids; None for all.

    Returns:
        The number of items. An item that still cannot be a record returns to quarantine.

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
            ledger.forget(row, {item.origin for item in chosen})
            row.version += 1
            rows.start(row)
            row.save(update_fields=["cursor", "version", *rows.STARTED])
            _remove(row, chosen)
            rows.record("quarantine_retried", caller, row, count=len(chosen))
            wake(POLL_TASK)
    return len(chosen)


@requires(Permission.MANAGE_CONNECTORS)
def dismiss_quarantined(*, caller: Caller, connector: Connector, items: Collection[int] | None = None) -> int:
    """Dismiss quarantined items for good. Return how many. Raises NoConnector."""
    with transaction.atomic():
        row = rows.locked(caller, connector)
        chosen = list(_chosen(row, items))
        if chosen:
            Dismissed.objects.bulk_create(
                [Dismissed(connector=row, digest=item.digest) for item in chosen], ignore_conflicts=True
            )
            _remove(row, chosen)
            rows.record("quarantine_dismissed", caller, row, count=len(chosen))
    return len(chosen)


def _chosen(row: Connector, items: Collection[int] | None) -> QuerySet[Quarantined]:
    if items is None:
        return row.quarantine.all()
    return row.quarantine.filter(pk__in=[item for item in items if 0 < item <= _MAX_ID])


def _remove(row: Connector, chosen: list[Quarantined]) -> None:
    row.quarantine.filter(pk__in=[item.pk for item in chosen]).delete()


def note(connector: Connector, batch: Batch, intake: Intake, cursor: dict[str, Any]) -> int:
    """Update the quarantine after a batch: add new bad items, and remove items whose place now holds a record.

    Args:
        cursor: where to read the batch again.

    Returns:
        The number of new items.
    """
    bad = {item.digest: item for item in intake.bad}
    _close_fixed(connector, batch, intake, bad)
    rows = {row.digest: row for row in connector.quarantine.filter(digest__in=bad)}
    for digest, row in rows.items():
        position, origin = _place(bad[digest].item)
        if (row.position, row.origin) != (position, origin):
            connector.quarantine.filter(pk=row.pk).update(position=position, origin=origin, cursor=cursor)
    dismissed = set(connector.dismissed.filter(digest__in=bad).values_list("digest", flat=True))
    fresh = [item for digest, item in bad.items() if digest not in rows and digest not in dismissed]
    now = timezone.now()
    Quarantined.objects.bulk_create(
        Quarantined(
            connector=connector,
            cause=item.cause,
            position=_place(item.item)[0],
            origin=_place(item.item)[1],
            reason=storable(item.reason),
            digest=item.digest,
            cursor=cursor,
            created_at=now,
        )
        for item in fresh
    )
    return len(fresh)


def _close_fixed(connector: Connector, batch: Batch, intake: Intake, bad: Collection[str]) -> None:
    """Remove items whose place now holds a record. The place of an unreadable object is the object itself."""
    good = {_place(item) for item in intake.good}
    good |= {_place(Item(b"", entry.name, origin=entry.name)) for entry in batch.ledger}
    if good and connector.quarantine.exists():
        rows = connector.quarantine.filter(position__in={position for position, _ in good}).exclude(digest__in=bad)
        fixed = [pk for pk, *place in rows.values_list("pk", "position", "origin") if tuple(place) in good]
        connector.quarantine.filter(pk__in=fixed).delete()


def _place(item: Item) -> tuple[str, str]:
    """Return the position and the origin of an item as the database keeps them."""
    return storable(item.position)[:MAX_POSITION], identifying(item.origin, MAX_LEDGER_NAME)
