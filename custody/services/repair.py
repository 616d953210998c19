"""Search for stored records in their vaults, and repair of missing ones from copies."""

import uuid
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

import structlog
from django.db.models import QuerySet

from config import db
from custody import objects, selectors, vaults
from custody.models import Entry, SealedObject, object_key
from custody.rows.lost_records import without_object
from custody.sealing.sealer import Damaged
from custody.services.complete import Put, put
from custody.services.dispose import reopen_disposals
from custody.vaults import VaultUnavailable, lock_periods

_BATCH = 500
log = structlog.get_logger("custody")


class Found(StrEnum):
    THERE = "in its vault"
    REPAIRED = "put back into its vault"
    MISSING = "missing from its vault"


def outside_the_database() -> QuerySet[Entry]:
    """Return the records that are stored in vaults outside the database."""
    entries = Entry.objects.unscoped("vaults serve every organization")
    return entries.filter(state=Entry.State.STORED, target__in=vaults.external())


def stored_records() -> QuerySet[Entry]:
    """Return the records that have an object in some vault."""
    return Entry.objects.unscoped("vaults serve every organization").filter(state=Entry.State.STORED)


def repair_vaults(*, stray: Path | None = None) -> Iterator[tuple[uuid.UUID, Found]]:
    """Look for the object of each stored record. Outside the database, put missing objects back: from a waiting copy,
    or from the directory that took them while the vault's disk was not mounted.

    Args:
        stray: a directory laid out like a vault. A file is taken from it only if it opens as a record under the signed
            statement of its row.

    Raises:
        VaultUnavailable: at the end, if a vault does not answer. The records of the other vaults are checked first.
    """
    stored = outside_the_database()
    silent: dict[str, VaultUnavailable] = {}
    for record_id, organization_id, target_id in stored.values_list("pk", "organization_id", "target_id").iterator():
        if target_id in silent:
            continue
        try:
            is_there = objects.has(vaults.of(target_id), organization_id, record_id)
        except VaultUnavailable as error:
            silent[target_id] = error
            continue
        if is_there:
            yield record_id, Found.THERE
        else:
            entry = db.only(stored.filter(pk=record_id))
            if entry:  # else it was disposed of meanwhile
                yield record_id, Found.REPAIRED if _put_back(entry, stray) else Found.MISSING
    yield from _in_the_database()
    for failure in silent.values():
        raise failure


def _in_the_database() -> Iterator[tuple[uuid.UUID, Found]]:
    """Look for the objects of the database vault, a batch with each query."""
    entries = Entry.objects.unscoped("vaults serve every organization")
    rows = entries.filter(state=Entry.State.STORED).exclude(target__in=vaults.external()).order_by("pk")
    last = uuid.UUID(int=0)
    while batch := list(rows.filter(pk__gt=last).values_list("pk", "organization_id")[:_BATCH]):
        missing = without_object(batch)
        gone = set(rows.filter(pk__in=missing).values_list("pk", flat=True))  # without those disposed of meanwhile
        yield from ((record_id, Found.MISSING if record_id in gone else Found.THERE) for record_id, _ in batch)
        last = batch[-1][0]


def _put_back(entry: Entry, stray: Path | None) -> bool:
    key, vault = object_key(entry.organization_id, entry.pk), vaults.of(entry.target_id)
    until = lock_periods.until(entry.received_at, lock_periods.days_of(entry.organization_id))
    for body in _copies(key, stray):
        try:
            selectors.opened_from(body, entry)
        except Damaged as error:
            log.error("a copy is not the record", record_id=str(entry.pk), reason=str(error))
        else:
            if put(vault, entry.organization_id, entry.pk, body, retain_until=until) is Put.STORED:
                reopen_disposals([entry.pk])
                return outside_the_database().filter(pk=entry.pk).exists()
    return False


def _copies(key: str, stray: Path | None) -> Iterator[bytes]:
    left = SealedObject.objects.filter(key=key).first()  # earlier versions kept waiting objects here
    if left:
        yield bytes(left.body)
    if stray and (stray / key).is_file():
        yield (stray / key).read_bytes()
