"""Copying of records to their organization's current target. The old copies stay where they are."""

import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from typing import TypeVar

import structlog
from django.db import transaction
from django.db.models import QuerySet

from accounts import audit
from accounts.authority import requires
from accounts.callers import Caller
from accounts.roles import Permission
from config.errors import Fault
from custody import objects, selectors, vaults
from custody.models import Entry
from custody.sealing.sealer import Damaged
from custody.services.complete import Put, put
from custody.services.dispose import reopen_disposals
from custody.vaults import ObjectMissing, Vault, VaultUnavailable, lock_periods, storage_targets

log = structlog.get_logger("custody")

_BATCH = 50
_PARALLEL = 8

T = TypeVar("T")
R = TypeVar("R")


class Move(StrEnum):
    MOVED = "moved"
    UNREADABLE = "cannot be read at its old place"
    TAKEN = "cannot be read back: the new place holds another object under its key"
    GONE = "was disposed of meanwhile"


def not_at(target_id: str, organization_id: uuid.UUID) -> QuerySet[Entry]:
    """Return the stored records of an organization that are in other targets."""
    stored = Entry.objects.for_organization(organization_id).filter(state=Entry.State.STORED)
    return stored.exclude(target=target_id)


@requires(Permission.MANAGE_STORAGE)
def move_records(*, caller: Caller) -> Iterator[tuple[uuid.UUID, Move]]:
    """Copy every record to the organization's current target, read the copy back, open it, and then update its entry.
    Nothing is deleted.

    It may be stopped at any moment and run again, also twice at once and beside ingest: a copy that exists is reused,
    and an entry is updated only if it has not changed since it was read. Records that are stored in an old target
    meanwhile are moved too.

    Raises:
        VaultUnavailable: the current target does not answer.
    """
    organization_id = caller.organization_id
    target_id = storage_targets.current(organization_id).pk
    audit.record(
        "custody.move",
        actor=caller.actor,
        organization_id=organization_id,
        object_kind="storage_target",
        object_id=target_id,
    )
    failed: set[uuid.UUID] = set()
    moved = True
    while moved:
        moved = False
        for batch in _batches(not_at(target_id, organization_id)):
            for entry, result in _move([entry for entry in batch if entry.pk not in failed], target_id):
                if result is Move.MOVED:
                    moved = True
                else:
                    failed.add(entry.pk)
                yield entry.pk, result


def _batches(entries: QuerySet[Entry]) -> Iterator[list[Entry]]:
    """Yield batches in the order of ids, which no move changes."""
    last = uuid.UUID(int=0)
    while batch := list(entries.filter(pk__gt=last).order_by("pk")[:_BATCH]):
        yield batch
        last = batch[-1].pk


def _move(entries: Sequence[Entry], target_id: str) -> list[tuple[Entry, Move]]:
    """Copy entries to a target and report each result. Raises VaultUnavailable."""
    new = vaults.of(target_id)
    bodies = _read(entries)
    owners = {entry.organization_id for entry in entries if new.may_lock}
    days = {organization_id: lock_periods.days_of(organization_id) for organization_id in owners}

    def put_and_read_back(entry: Entry) -> tuple[Put, bytes]:
        until = lock_periods.until(entry.received_at, days.get(entry.organization_id))
        result = put(new, entry.organization_id, entry.pk, bodies[entry.pk], retain_until=until)
        try:
            return result, objects.get(new, entry.organization_id, entry.pk) if result is Put.STORED else b""
        except ObjectMissing:  # it is being disposed of
            return result, b""

    readable = [entry for entry in entries if entry.pk in bodies]
    results = {entry.pk: Move.UNREADABLE for entry in entries}
    copied = []
    copies = _run(new, put_and_read_back, readable)
    reopen_disposals([entry.pk for entry in readable])
    for entry, (result, copy) in zip(readable, copies, strict=True):
        if result is Put.UNAVAILABLE:
            raise VaultUnavailable(because="the new place does not answer")
        if result is Put.STORED and _opens(copy, entry):
            copied.append(entry)
            results[entry.pk] = Move.MOVED
        else:
            results[entry.pk] = Move.TAKEN
    _point(copied, target_id)
    results |= {entry.pk: Move.GONE for entry in _disposed_of(entries)}
    return [(entry, results[entry.pk]) for entry in entries]


def _opens(copy: bytes, entry: Entry) -> bool:
    try:
        selectors.opened_from(copy, entry)
    except Damaged as error:
        log.error("a copy is not the record", record_id=str(entry.pk), reason=str(error))
        return False
    return True


def _read(entries: Sequence[Entry]) -> dict[uuid.UUID, bytes]:
    """Return the sealed bytes of the entries that can be read and opened."""
    bodies: dict[uuid.UUID, bytes] = {}
    for target_id in {entry.target_id for entry in entries}:
        of_target = [entry for entry in entries if entry.target_id == target_id]
        for entry, body in zip(of_target, _bodies(target_id, of_target), strict=True):
            try:
                if isinstance(body, Fault):
                    raise body
                selectors.opened_from(body, entry)
            except Fault as error:
                log.error("record cannot be moved", record_id=str(entry.pk), reason=str(error))
            else:
                bodies[entry.pk] = body
    return bodies


def _bodies(target_id: str, entries: Sequence[Entry]) -> list[bytes | Fault]:
    try:
        vault = vaults.of(target_id)
    except VaultUnavailable as error:
        return [error] * len(entries)

    def body(entry: Entry) -> bytes | Fault:
        try:
            return objects.get(vault, entry.organization_id, entry.pk)
        except Fault as error:
            return error

    return _run(vault, body, entries)


def _run(vault: Vault, work: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """Run work in threads, except on the database vault: threads have no connection to the database."""
    if vault.transactional:
        return [work(item) for item in items]
    with ThreadPoolExecutor(_PARALLEL) as pool:
        return list(pool.map(work, items))


def _point(entries: Sequence[Entry], target_id: str) -> None:
    with transaction.atomic():
        for entry in entries:
            same = Entry.objects.for_organization(entry.organization_id).filter(
                pk=entry.pk, target=entry.target_id, state=Entry.State.STORED
            )
            same.update(target=target_id)


def _disposed_of(entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries that are not stored any more."""
    rows = Entry.objects.unscoped("of the organization whose records are moved").filter(state=Entry.State.STORED)
    stored = set(rows.filter(pk__in=[entry.pk for entry in entries]).values_list("pk", flat=True))
    return [entry for entry in entries if entry.pk not in stored]
