"""The ledger of objects and files that were read: neither their times nor their names say which came later."""

import hashlib
from collections.abc import Callable, Iterable

from django.utils import timezone

from connectors.kinds.base import LedgerEntry
from connectors.models import Connector, LedgerRow

_MOST_IN_MEMORY = 200_000


def reader(connector: Connector) -> Callable[[LedgerEntry], bool]:
    """A function that says whether an object was read in this version.

    The rows are loaded when it is first asked. Of a ledger that is too long for that, each is looked up.
    """
    known: set[bytes] | None = None
    rows = LedgerRow.objects.for_organization(connector.organization_id).filter(connector=connector)

    def was_read(entry: LedgerEntry) -> bool:
        nonlocal known
        if known is None:
            newest = rows.order_by("-pk").values_list("name", "version")[:_MOST_IN_MEMORY]
            known = {_digest(LedgerEntry(*row)) for row in newest.iterator()}
        if _digest(entry) in known:
            return True
        return len(known) >= _MOST_IN_MEMORY and rows.filter(name=entry.name, version=entry.version).exists()

    return was_read


def write(connector: Connector, entries: Iterable[LedgerEntry]) -> None:
    """Note objects that were read to their ends. Call it in the transaction that stores the cursor."""
    now = timezone.now()
    newest = {entry.name: entry for entry in entries}
    LedgerRow.objects.bulk_create(
        [LedgerRow(connector=connector, name=e.name, version=e.version, read_at=now) for e in newest.values()],
        update_conflicts=True,
        unique_fields=["connector", "name"],
        update_fields=["version", "read_at"],
    )


def _digest(entry: LedgerEntry) -> bytes:
    return hashlib.sha256(f"{entry.name}\0{entry.version}".encode()).digest()[:16]
