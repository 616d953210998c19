"""Replay of the journal of disposals in a database that was restored from an older backup."""

import time
import uuid
from collections.abc import Iterator, Sequence

import structlog
from django.db import transaction

from config import db
from config.errors import Fault
from custody.disposal import disposal_statements, families, journal
from custody.disposal.journal import Line
from custody.models import Disposal, Entry, JournalFile
from custody.record_types import Families
from custody.services.dispose import signed_disposals, write_disposals

log = structlog.get_logger("custody")

_FRESH_SECONDS = 60
_replayed_until = 0.0


class NotReplayed(Fault):
    """The journal has disposals that this database has not."""

    code, status = "not_replayed", 503
    sentence = (
        "The database was restored from a backup, and what was disposed of since has yet to be disposed of again."
    )


def replay() -> Iterator[int]:
    """Repeat the disposals that are in the journal and not in the database. It may be stopped at any moment and run
    again, and several may run at once.

    Yields:
        For each file of the journal, how many records were disposed of.

    Raises:
        Fault: at the end, the first reason why a file was not replayed. The other files are replayed first.
    """
    failure: Fault | None = None
    for organization_id, key in journal.unknown():
        try:
            lines = journal.read(organization_id, key)
            yield _replay_file(organization_id, key, lines)
        except Fault as error:
            log.error("a file of the journal cannot be replayed", file=key, reason=str(error))
            failure = failure or error
    if failure:
        raise failure


def require_replayed() -> None:
    """Raises NotReplayed, VaultUnavailable. Used by /readyz; a success counts for a minute."""
    global _replayed_until
    if time.monotonic() < _replayed_until:
        return
    if any(True for _ in journal.unknown()):
        raise NotReplayed
    _replayed_until = time.monotonic() + _FRESH_SECONDS


def forget() -> None:
    """Have this process read the journal again."""
    global _replayed_until
    _replayed_until = 0.0


def _replay_file(organization_id: uuid.UUID, key: str, lines: Sequence[Line]) -> int:
    with transaction.atomic():
        db.lock(f"journal {key}")
        if JournalFile.objects.for_organization(organization_id).filter(pk=key).exists():
            return 0
        again = _dispose_again(organization_id, lines)
        JournalFile.objects.create(key=key, organization_id=organization_id)
    if again:
        log.info("disposed of again, as the journal says", records=again)
    return again


def _dispose_again(organization_id: uuid.UUID, lines: Sequence[Line]) -> int:
    entries = Entry.objects.for_organization(organization_id)
    known = entries.in_bulk([line.entry.pk for line in lines])
    missing = [line for line in lines if line.entry.pk not in known]
    revived = [line for line in lines if line.entry.pk in known and known[line.entry.pk].state != Entry.State.DISPOSED]
    Entry.objects.bulk_create([line.entry for line in missing])
    Disposal.objects.bulk_create([line.disposal for line in missing])
    if revived:
        back = Families(organization_id, {line.disposal.root for line in revived})
        families.lock(back)
        write_disposals(back, [*(line.disposal for line in revived), *_unwritten(back, lines)])
    return len(missing) + len(revived)


def _unwritten(back: Families, lines: Sequence[Line]) -> list[Disposal]:
    """Sign disposals of the families' other records: those whose lines were never written, and those that were added
    since the restore."""
    written = {line.entry.pk for line in lines}
    roots = {pk: root for root, ids in families.members(back).items() for pk in ids if pk not in written}
    rows = Entry.objects.for_organization(back.organization_id).exclude(state=Entry.State.DISPOSED)
    return signed_disposals(list(rows.filter(pk__in=roots)), roots, disposal_statements.order(lines[0].disposal))
