"""Ledger of the objects and files that were read, because neither times nor names show which came later."""

from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from itertools import chain

from django.db.models import QuerySet
from django.utils import timezone

from config import db
from connectors import ledger_names
from connectors.kinds.base import LedgerEntry
from connectors.models import MAX_LEDGER_NAME, Connector, Kind, LedgerRow
from connectors.texts import identifying

_PAGE = 1000
_NOTED_AGAIN_AFTER = timedelta(days=30)
MAX_PAGES = 10_000
"""Pages of an API that a connector remembers."""
_FORGOTTEN_AFTER = timedelta(days=90)
"""An object that no listing has shown for so long is gone. Should it return, it is read again."""


def reader(connector: Connector) -> Callable[[Sequence[LedgerEntry]], set[LedgerEntry]]:
    """Return a function that finds the unread versions in a listing, with one query for each page."""

    def unread(entries: Sequence[LedgerEntry]) -> set[LedgerEntry]:
        missing: set[LedgerEntry] = set()
        for begin in range(0, len(entries), _PAGE):
            page = entries[begin : begin + _PAGE]
            names = [names_of(connector, entry.name) for entry in page]
            rows = _rows(connector).filter(name__in=chain.from_iterable(names))
            known = dict(rows.values_list("name", "version"))
            read = [{known.get(name) for name in both} for both in names]
            missing |= {entry for entry, versions in zip(page, read, strict=True) if entry.version not in versions}
            _note_again(connector, known)
        return missing

    return unread


def finder(connector: Connector) -> Callable[[str], LedgerEntry | None]:
    """Return a function that finds the entry of a name."""

    def known(name: str) -> LedgerEntry | None:
        row = db.only(_rows(connector).filter(name=ledger_names.name_digest(connector.organization_id, name)))
        return LedgerEntry(name, row.version, row.note) if row else None

    return known


def write(connector: Connector, entries: Iterable[LedgerEntry]) -> None:
    """Record objects that were read to their ends. Call it in the transaction that stores the cursor."""
    now = timezone.now()
    newest = {ledger_names.name_digest(connector.organization_id, entry.name): entry for entry in entries}
    LedgerRow.objects.bulk_create(
        [
            LedgerRow(connector=connector, name=name, version=entry.version, note=entry.note, read_at=now)
            for name, entry in newest.items()
        ],
        update_conflicts=True,
        unique_fields=["connector", "name"],
        update_fields=["version", "note", "read_at"],
    )


def forget(connector: Connector, names: Iterable[str]) -> None:
    """Forget objects, so that they are read again; of an API all pages, because a position does not name its page."""
    rows = _rows(connector)
    if connector.kind != Kind.HTTP_JSON:
        rows = rows.filter(name__in=[known for name in names for known in names_of(connector, name)])
    rows.delete()


def names_of(connector: Connector, name: str) -> tuple[str, str]:
    """Return the names that an object may have in the ledger: the digest, and the name of earlier versions."""
    return ledger_names.name_digest(connector.organization_id, name), identifying(name, MAX_LEDGER_NAME)


def forget_gone(connector: Connector) -> None:
    """Delete entries that the source has not shown for long. Call it after a source was read to its end."""
    rows = _rows(connector)
    rows.filter(read_at__lt=timezone.now() - _FORGOTTEN_AFTER).delete()
    if connector.kind == Kind.HTTP_JSON:  # an endless feed never repeats an address
        for read_at in rows.order_by("-read_at").values_list("read_at", flat=True)[MAX_PAGES : MAX_PAGES + 1]:
            rows.filter(read_at__lte=read_at).delete()


def _rows(connector: Connector) -> QuerySet[LedgerRow]:
    return LedgerRow.objects.for_organization(connector.organization_id).filter(connector=connector)


def _note_again(connector: Connector, names: Iterable[str]) -> None:
    """Set `read_at` to now for listed objects, if it is more than a month old."""
    old = timezone.now() - _NOTED_AGAIN_AFTER
    _rows(connector).filter(name__in=names, read_at__lt=old).update(read_at=timezone.now())
