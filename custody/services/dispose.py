"""Disposing of records: the payload goes, the proof stays.

First, in one transaction, the records become unreadable: their disposals are signed rows, what is kept about them in
the clear is erased, and what the database's own vault holds is gone. Then, outside of any, their statements go into the
journal, and their data keys and objects leave all other storage. Whoever is killed in between leaves rows that
`finish_disposals` takes up.
"""

import uuid
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from config import leases
from config.errors import Fault
from custody import disposal_statements, envelope, families, journal, objects, storage_targets, vaults
from custody.disposal_statements import Order
from custody.keys import keyring
from custody.kms_signer import KmsSigner
from custody.models import Disposal, Entry, SealedObject, StorageTarget, WaitingObject, object_key
from custody.objects import Removal
from custody.record_types import Families
from custody.vaults import Vault

log = structlog.get_logger("custody")

BATCH = 200
"""Families at a time: few enough that a transaction is short, many enough that its queries cost little."""
_LEASE = timedelta(minutes=5)
_PARALLEL = 8


@dataclass(frozen=True, slots=True)
class Prepared:
    """Families with the signed disposals of their records, of which nothing is written yet."""

    organization_id: uuid.UUID
    disposals: Mapping[uuid.UUID, Sequence[Disposal]]
    """By the root of each family."""


def prepare(families_due: Families, order: Order) -> Prepared:
    """Sign the disposals of families. Call it outside of transactions, for the key may lie in a key management service.

    Raises:
        KmsUnavailable, KeyMissing: the organization's signing key cannot be used.
    """
    now = timezone.now()
    members = families.members(families_due)
    entries = _entries(families_due.organization_id, [pk for ids in members.values() for pk in ids])
    rows = {
        entry.pk: Disposal(
            record=entry,
            root=root,
            policy=order.policy,
            statement=disposal_statements.statement(entry, order, now),
            disposed_at=now,
        )
        for root, ids in members.items()
        for entry in (entries[pk] for pk in ids if pk in entries)
    }
    _sign(families_due.organization_id, list(rows.values()))
    return Prepared(
        families_due.organization_id,
        {root: [rows[pk] for pk in ids if pk in rows] for root, ids in members.items()},
    )


def dispose(prepared: Prepared, roots: Collection[uuid.UUID]) -> list[Disposal]:
    """Dispose of those families of `prepared` whose roots are given, inside the caller's transaction, in which they are
    locked and found to be due.

    Returns:
        The disposals. A family to which a record was added since it was prepared is left alone.
    """
    chosen = Families(prepared.organization_id, list(roots))
    now_there = families.members(chosen)
    unchanged = {
        root
        for root, ids in now_there.items()
        if ids and set(ids) == {disposal.pk for disposal in prepared.disposals.get(root, ())}
    }
    rows = [disposal for root in unchanged for disposal in prepared.disposals[root]]
    write_disposals(Families(prepared.organization_id, unchanged), rows)
    return rows


def write_disposals(disposed: Families, rows: Sequence[Disposal]) -> None:
    """Make disposals true in the database, in the caller's transaction."""
    _forget_for_good()
    Disposal.objects.bulk_create(rows)
    ids = [row.pk for row in rows]
    families.erase(disposed)
    Entry.objects.for_organization(disposed.organization_id).filter(pk__in=ids).update(state=Entry.State.DISPOSED)
    WaitingObject.objects.for_organization(disposed.organization_id).filter(pk__in=ids).delete()
    SealedObject.objects.filter(key__in=[object_key(disposed.organization_id, pk) for pk in ids]).delete()


def _forget_for_good() -> None:
    """Have SQLite overwrite what it deletes: its file would hold it until something else takes the place."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA secure_delete = ON")


def _entries(organization_id: uuid.UUID, ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, Entry]:
    """Those that are not disposed of yet."""
    rows = Entry.objects.for_organization(organization_id).exclude(state=Entry.State.DISPOSED)
    return {entry.pk: entry for entry in rows.filter(pk__in=ids)}


def _sign(organization_id: uuid.UUID, rows: Sequence[Disposal]) -> None:
    signer = keyring(organization_id).signer
    messages = [envelope.pre_authentication_encoding(bytes(row.statement)) for row in rows]
    if isinstance(signer, KmsSigner):
        with ThreadPoolExecutor(_PARALLEL) as pool:
            signatures = list(pool.map(signer.sign, messages))
    else:
        signatures = [signer.sign(message) for message in messages]
    for row, signature in zip(rows, signatures, strict=True):
        row.signature, row.key_id = signature, signer.key_id


def finish_disposals(organization_id: uuid.UUID, *, retry_now: bool = False) -> tuple[int, int]:
    """Bring what is disposed of to its end: into the journal, and out of all storage. Several may run at once.

    Args:
        retry_now: do not wait for the pauses after failures to end.

    Returns:
        How many were finished, and how many could not be: why, their rows say.
    """
    unfinished = unfinished_disposals(organization_id)
    if retry_now:
        unfinished.exclude(next_try_at=None).update(next_try_at=None)
    finished = failed = 0
    while claimed := leases.claim(unfinished.select_related("record"), lasts=_LEASE, most=BATCH):
        ends = _Ends(organization_id)
        ends.write_into_journal(claimed)
        ends.remove(claimed)
        finished += ends.keep(claimed)
        failed += len(claimed) - len([row for row in claimed if row.pk not in ends.problems])
    return finished, failed


def unfinished_disposals(organization_id: uuid.UUID) -> QuerySet[Disposal]:
    return Disposal.objects.for_organization(organization_id).filter(finished_at=None)


class _Ends:
    """The end of one batch of disposals."""

    def __init__(self, organization_id: uuid.UUID) -> None:
        self.organization_id = organization_id
        self.problems: dict[uuid.UUID, str] = {}
        self.removals: dict[uuid.UUID, list[Removal]] = defaultdict(list)

    def write_into_journal(self, rows: Sequence[Disposal]) -> None:
        if new := [row for row in rows if not row.journaled]:
            try:
                journal.append(self.organization_id, new)
            except Fault as error:
                self._note(new, error, "journal")

    def remove(self, rows: Sequence[Disposal]) -> None:
        """From every place where records of the organization may lie: some were moved, and copies remained."""
        for target in storage_targets.all_of(self.organization_id):
            if target.provider == StorageTarget.Provider.DATABASE:
                continue
            try:
                self._remove_from(vaults.of(target.pk), rows)
            except Fault as error:
                self._note(rows, error, f"storage {target.pk}")

    def _remove_from(self, vault: Vault, rows: Sequence[Disposal]) -> None:
        def removal(row: Disposal) -> Removal | Fault:
            try:
                return objects.remove(vault, self.organization_id, row.pk)
            except Fault as error:
                return error

        with ThreadPoolExecutor(_PARALLEL) as pool:
            for row, result in zip(rows, pool.map(removal, rows), strict=True):
                if isinstance(result, Fault):
                    self._note([row], result, "storage")
                else:
                    self.removals[row.pk].append(result)

    def _note(self, rows: Sequence[Disposal], error: Fault, where: str) -> None:
        log.error("disposal is not finished", where=where, records=len(rows), reason=str(error))
        for row in rows:
            self.problems[row.pk] = f"{where}: {error}"[:300]

    def keep(self, rows: Sequence[Disposal]) -> int:
        """Write down what is finished, where the lease is as it was. Returns how many are."""
        done = [row for row in rows if row.pk not in self.problems]
        finished = 0
        with transaction.atomic():
            held = {row.pk: row for row in leases.unchanged(rows)} if rows else {}
            now = timezone.now()
            for (kept, recoverable), ids in self._by_remains(
                pk for pk in (row.pk for row in done) if pk in held
            ).items():
                columns = {"kept_until": kept, "recoverable_until": recoverable, "problem": "", "finished_at": now}
                finished += self._rows(ids).update(**columns, **leases.RELEASED)
            for row in rows:
                if row.pk in self.problems and row.pk in held:
                    self._rows([row.pk]).update(problem=self.problems[row.pk])
                    leases.fail(row)
        return finished

    def _rows(self, ids: Collection[uuid.UUID]) -> QuerySet[Disposal]:
        return Disposal.objects.for_organization(self.organization_id).filter(pk__in=ids)

    def _by_remains(self, ids: Iterable[uuid.UUID]) -> dict[tuple[datetime | None, datetime | None], list[uuid.UUID]]:
        found: dict[tuple[datetime | None, datetime | None], list[uuid.UUID]] = defaultdict(list)
        for pk in ids:
            kept = [each.kept_until for each in self.removals[pk] if each.kept_until]
            recoverable = [each.recoverable_until for each in self.removals[pk] if each.recoverable_until]
            found[max(kept, default=None), max(recoverable, default=None)].append(pk)
        return found
