"""Disposal of records: the payload is deleted, the proof stays.

First, in one transaction, the records become unreadable: their disposals are saved as signed rows, their clear-text
data is erased, and their objects in the database's own vault are deleted. Then, outside any transaction, their
statements go into the journal, and their data keys and objects are removed from all other storage. If the process is
killed in between, `finish_disposals` takes up the unfinished rows.
"""

import math
import time
import uuid
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

import structlog
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from config import db, leases
from config.errors import Fault
from config.rests import Rests
from custody import objects, vaults
from custody.disposal import disposal_statements, families, journal
from custody.disposal.disposal_statements import Order
from custody.keys.keyrings import keyring
from custody.keys.kms import KmsSigner
from custody.models import (
    Disposal,
    Entry,
    SealedObject,
    StorageTarget,
    WaitingObject,
    data_key_key,
    object_key,
)
from custody.objects import Removal
from custody.record_types import Families
from custody.sealing import envelope
from custody.vaults import Vault, storage_targets

log = structlog.get_logger("custody")

BATCH = 200
"""Families in one transaction: few enough to keep it short, many enough to make its queries cheap."""
_LEASE = timedelta(minutes=5)
_PARALLEL = 8
_rests = Rests()


@dataclass(frozen=True, slots=True)
class Prepared:
    """Families with the signed, unsaved disposals of their records."""

    organization_id: uuid.UUID
    disposals: Mapping[uuid.UUID, Sequence[Disposal]]
    """By the root of each family."""
    next_root: uuid.UUID | None = None
    """The lowest root of a family that was not signed in time."""


def prepare(families_due: Families, order: Order, *, until: float = math.inf) -> Prepared:
    """Sign the disposals of families. Call it outside transactions: the key may be in a key management service.

    Args:
        until: only the families with the lowest roots are signed after this time, a few of them, so that each call
            prepares some.

    Raises:
        KmsUnavailable, KeyMissing: the organization's signing key cannot be used.
    """
    members = families.members(families_due)
    roots = {pk: root for root, ids in members.items() for pk in ids}
    entries: dict[uuid.UUID, list[Entry]] = defaultdict(list)
    for entry in _entries(families_due.organization_id, list(roots)):
        entries[roots[entry.pk]].append(entry)
    disposals: dict[uuid.UUID, list[Disposal]] = {}
    remaining = iter(sorted(members))
    while chosen := list(islice(remaining, _PARALLEL)):
        if disposals and time.monotonic() >= until:
            return Prepared(families_due.organization_id, disposals, chosen[0])
        disposals |= {root: [] for root in chosen}
        for row in signed_disposals([entry for root in chosen for entry in entries[root]], roots, order):
            disposals[row.root].append(row)
    return Prepared(families_due.organization_id, disposals)


def signed_disposals(entries: Sequence[Entry], roots: Mapping[uuid.UUID, uuid.UUID], order: Order) -> list[Disposal]:
    """Return unsaved, signed disposals of records of one organization.

    Args:
        roots: the root of each record's family.

    Raises: as `prepare`.
    """
    if not entries:
        return []
    now = timezone.now()
    statements = [disposal_statements.statement(entry, order, now) for entry in entries]
    key_id, signatures = _sign(entries[0].organization_id, statements)
    return [
        Disposal(
            record=entry,
            root=roots[entry.pk],
            policy=order.policy,
            statement=statement,
            signature=signature,
            key_id=key_id,
            disposed_at=now,
        )
        for entry, statement, signature in zip(entries, statements, signatures, strict=True)
    ]


def dispose(prepared: Prepared, roots: Collection[uuid.UUID]) -> list[Disposal]:
    """Dispose of those families of `prepared` whose roots are given. The caller has locked them in its transaction and
    checked that they are due.

    Returns:
        The disposals. A family that has gained a record since it was prepared is skipped.
    """
    chosen = Families(prepared.organization_id, list(roots))
    members = families.members(chosen)
    unchanged = {
        root
        for root, ids in members.items()
        if ids and set(ids) == {disposal.pk for disposal in prepared.disposals.get(root, ())}
    }
    rows = [disposal for root in unchanged for disposal in prepared.disposals[root]]
    write_disposals(Families(prepared.organization_id, unchanged), rows)
    return rows


def write_disposals(disposed: Families, rows: Sequence[Disposal]) -> None:
    """Save disposals and delete their records from the database, in the caller's transaction."""
    Disposal.objects.bulk_create(rows)
    ids = [row.pk for row in rows]
    families.erase(disposed)
    Entry.objects.for_organization(disposed.organization_id).filter(pk__in=ids).update(state=Entry.State.DISPOSED)
    WaitingObject.objects.for_organization(disposed.organization_id).filter(pk__in=ids).delete()
    keys = [key_of(disposed.organization_id, pk) for pk in ids for key_of in (object_key, data_key_key)]
    SealedObject.objects.filter(key__in=keys).delete()


def _entries(organization_id: uuid.UUID, ids: Sequence[uuid.UUID]) -> list[Entry]:
    """Return the entries that are not disposed of yet."""
    rows = Entry.objects.for_organization(organization_id).exclude(state=Entry.State.DISPOSED)
    return list(rows.filter(pk__in=ids))


def _sign(organization_id: uuid.UUID, statements: Sequence[bytes]) -> tuple[str, list[bytes]]:
    """Return the key's id, and the signatures in the order of the statements."""
    signer = keyring(organization_id).signer
    messages = [envelope.pre_authentication_encoding(statement) for statement in statements]
    if not isinstance(signer, KmsSigner):
        return signer.key_id, [signer.sign(message) for message in messages]
    with ThreadPoolExecutor(_PARALLEL) as pool:
        return signer.key_id, list(pool.map(signer.sign, messages))


def finish_disposals(
    organization_id: uuid.UUID, *, retry_now: bool = False, seconds: float = math.inf
) -> Iterator[tuple[int, int]]:
    """Finish disposals: write them into the journal and remove their objects from all storage. Several may run at once.

    Args:
        retry_now: retry failed disposals now, without their pause.
        seconds: no batch begins later than this, and no removal after the first ones of a batch. The next call
            continues.

    Yields:
        After each batch, how many disposals were finished, and how many failed. The reason is in their rows.
    """
    unfinished = Disposal.objects.for_organization(organization_id).filter(finished_at=None)
    if retry_now:
        unfinished.exclude(next_try_at=None).update(next_try_at=None)
    rows, until = unfinished.select_related("record"), time.monotonic() + seconds
    while time.monotonic() < until and (claimed := leases.claim(rows, lasts=_LEASE, limit=BATCH, order=("root", "pk"))):
        ends = _Ends(organization_id)
        ends.write_into_journal(claimed)
        ends.remove(claimed, until)
        yield ends.keep(claimed), len(ends.problems)
    db.empty_log()


def finish_all_disposals(*, seconds: float = math.inf) -> bool:
    """Finish the disposals of killed runs and of storage that did not answer. Organizations take turns.

    Args:
        seconds: no batch and no further removal begins later than this.

    Returns:
        Whether disposals are left that can be finished now.
    """
    ends = time.monotonic() + seconds
    unfinished = leases.due(Disposal.objects.unscoped("the queue serves every organization").filter(finished_at=None))
    organization_ids = set(unfinished.values_list("record__organization", flat=True).distinct())
    while organization_ids and time.monotonic() < ends:
        organization_id = _rests.in_turn(organization_ids)[0]
        organization_ids.remove(organization_id)
        try:
            with _rests.turn(organization_id):
                for _ in finish_disposals(organization_id, seconds=ends - time.monotonic()):
                    pass
        except Fault as error:  # of this organization's keys: the others continue
            log.error("disposals cannot be finished", organization=str(organization_id), reason=str(error))
    return time.monotonic() >= ends and unfinished.exists()


def reopen_disposals(record_ids: Collection[uuid.UUID]) -> None:
    """Mark disposals unfinished, so that the records are removed from all storage once more.

    Call it after a put of their copies: a concurrent disposal may have passed that vault already. The disposal then
    loses its lease, so it cannot finish.
    """
    if record_ids:
        rows = Disposal.objects.unscoped("records of several organizations are put together")
        rows.filter(pk__in=record_ids).update(finished_at=None, **leases.RELEASED)


class _Ends:
    """The end of one batch of disposals."""

    def __init__(self, organization_id: uuid.UUID) -> None:
        self.organization_id = organization_id
        self.problems: dict[uuid.UUID, str] = {}
        self.removals: dict[uuid.UUID, list[Removal]] = defaultdict(list)
        self.postponed: list[uuid.UUID] = []

    def write_into_journal(self, rows: Sequence[Disposal]) -> None:
        if new := [row for row in rows if not row.journaled]:
            try:
                journal.append(self.organization_id, new)
            except Fault as error:
                self._note(new, error, "journal")

    def remove(self, rows: Sequence[Disposal], until: float = math.inf) -> None:
        """Remove records from every target of the organization: a moved record leaves a copy at its old target.

        Args:
            until: only the first records begin after this time, so that each call finishes some.
        """
        open_vaults = dict[str, Vault]()
        for target in storage_targets.all_of(self.organization_id):
            if target.provider == StorageTarget.Provider.DATABASE:
                continue
            where = f"storage {target.pk}"
            try:
                open_vaults[where] = vaults.of(target.pk)
            except Fault as error:
                self._note(rows, error, where)

        def removals(number: int) -> dict[str, Removal | Fault] | None:
            if number >= _PARALLEL and time.monotonic() >= until:
                return None
            return {where: self._removal(vault, rows[number]) for where, vault in open_vaults.items()}

        with ThreadPoolExecutor(_PARALLEL) as pool:
            for row, results in zip(rows, pool.map(removals, range(len(rows))), strict=True):
                if results is None:
                    self.postponed.append(row.pk)
                    continue
                for where, result in results.items():
                    if isinstance(result, Fault):
                        self._note([row], result, where)
                    else:
                        self.removals[row.pk].append(result)

    def _removal(self, vault: Vault, row: Disposal) -> Removal | Fault:
        try:
            return objects.remove(vault, self.organization_id, row.pk)
        except Fault as error:
            return error

    def _note(self, rows: Sequence[Disposal], error: Fault, where: str) -> None:
        log.error("disposal is not finished", where=where, records=len(rows), reason=str(error))
        for row in rows:
            self.problems[row.pk] = f"{where}: {error}"[:300]

    def keep(self, rows: Sequence[Disposal]) -> int:
        """Mark finished disposals whose lease is still ours. Return how many."""
        finished = 0
        with transaction.atomic():
            held = {row.pk: row for row in leases.unchanged(rows)} if rows else {}
            now = timezone.now()
            postponed = [pk for pk in self.postponed if pk in held and pk not in self.problems]
            self._rows(postponed).update(lease_token=None, lease_until=None, attempts=F("attempts") - 1)
            done = [pk for pk in held if pk not in self.problems and pk not in postponed]
            for (kept_until, recoverable_until), ids in self._by_remains(done).items():
                columns = {"kept_until": kept_until, "recoverable_until": recoverable_until, "problem": ""}
                finished += self._rows(ids).update(**columns, finished_at=now, **leases.RELEASED)
            for row in rows:
                if row.pk in self.problems and row.pk in held:
                    self._rows([row.pk]).update(problem=self.problems[row.pk])
                    leases.fail(row)
        return finished

    def _rows(self, ids: Collection[uuid.UUID]) -> QuerySet[Disposal]:
        return Disposal.objects.for_organization(self.organization_id).filter(pk__in=ids)

    def _by_remains(self, ids: Iterable[uuid.UUID]) -> dict[tuple[datetime | None, datetime | None], list[uuid.UUID]]:
        by_remains: dict[tuple[datetime | None, datetime | None], list[uuid.UUID]] = defaultdict(list)
        for pk in ids:
            ends = [removal.kept_until for removal in self.removals[pk] if removal.kept_until]
            recoveries = [removal.recoverable_until for removal in self.removals[pk] if removal.recoverable_until]
            by_remains[max(ends, default=None), max(recoveries, default=None)].append(pk)
        return by_remains
