"""Storing of records: custody begins here."""

import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import compress

import structlog
from django.db import transaction

from config import db
from config.celery import wake
from config.errors import DomainError, Fault
from config.http import strict_json
from custody import record_types, selectors
from custody.keys.keyrings import Keyring, has_keys, keyring
from custody.models import Entry, WaitingObject
from custody.rows.bulk_insert import NewRecord, insert
from custody.rows.new_records import Place, Submission, new_record, seal_all
from custody.selectors import Disposed, DisposedConflict, Receipt
from custody.services.complete import complete
from custody.vaults import VaultUnavailable

log = structlog.get_logger("custody")

_TASK = "custody.tasks.reconcile"
_WAKE_SECONDS = 5
"""A wake-up that no worker has taken expires after this time, so that few wait before other tasks of the queue."""


class Status(StrEnum):
    CREATED = "created"
    QUEUED = "queued"
    REPLAYED = "replayed"
    CONFLICT = "conflict"
    DISPOSED = "disposed"
    UNAVAILABLE = "unavailable"


TAKEN = frozenset({Status.CREATED, Status.QUEUED, Status.REPLAYED})
"""Statuses of records that are stored for good."""


@dataclass(frozen=True, slots=True)
class StoreResult:
    """Result of a submission. It has a receipt if the record is in custody, and a fault if that is not known or if the
    record was disposed of.

    A queued record is in custody too, and has a receipt once it is signed. `is_new` distinguishes it from a record that
    was queued before.
    """

    status: Status
    record_id: uuid.UUID
    receipt: Receipt | None = None
    fault: DomainError | None = None
    is_new: bool = False


ById = Mapping[uuid.UUID, Mapping[int, Submission]]
"""Submissions by record id and position."""


@dataclass(slots=True)
class Way:
    """The way of new records into an organization's custody: their keys, their place, and the steps of `take` that use
    the database or a vault. These steps run in the caller's thread; a subclass may await them in an event loop."""

    keys: Keyring
    place: Place
    on_insert: Callable[[uuid.UUID], None] | None = None

    async def insert(self, records: Sequence[NewRecord]) -> Sequence[bool]:
        """Insert the records that are new to custody, each id once. Return whether each record was inserted."""
        if self.on_insert is None:
            return insert(records)  # one statement, which needs no transaction
        with transaction.atomic():
            inserted = insert(records)
            for record in compress(records, inserted):
                self.on_insert(record.entry.record_id)
        return inserted

    async def complete(self, waiting: Sequence[WaitingObject]) -> Collection[uuid.UUID]:
        """Put reserved objects into their vault. Return the ids of the records that are stored now."""
        return complete(waiting)

    async def compare(self, submissions: ById, tried: Collection[uuid.UUID]) -> dict[int, StoreResult]:
        """Compare submissions with the records of their ids, after completing unfinished ones that this call has not
        tried.

        Completing takes no lease, because another request may hold it: both put the same bytes, and either may mark
        them stored.
        """
        rows = Entry.objects.for_organization(self.keys.organization_id)
        entries = rows.in_bulk(submissions)
        if unfinished := [e.pk for e in entries.values() if e.state == Entry.State.RESERVED and e.pk not in tried]:
            waiting = WaitingObject.objects.for_organization(self.keys.organization_id).filter(pk__in=unfinished)
            complete(list(waiting.select_related("record")))
            entries = rows.in_bulk(submissions)
        read = selectors.read_ahead(entries.values())
        results: dict[int, StoreResult] = {}
        for record_id, of_one in submissions.items():  # read once, however many submissions have its id
            results |= _judge(of_one, entries[record_id], read)
        return results


async def take(way: Way, submissions: Sequence[Submission]) -> list[StoreResult]:
    """Take custody of records, each exactly once. Every record comes into custody through this function.

    A transactional vault commits everything in one statement. For other vaults the sealed record is first reserved in
    our database; then its object is put, outside any transaction; then one conditional update marks it stored. A record
    that is interrupted in between is finished by `reconcile`, or when it is submitted again. If the organization uses a
    key management service, the sealed record is queued in our database, and `reconcile` does the rest.

    Args:
        submissions: all of one kind.

    Returns:
        The result of each submission, in order. Of several submissions of one id, the first may be stored; the others
        are replays or conflicts.
    """
    sealed = seal_all(way.keys, submissions)
    records = [new_record(item, submission, way.place) for item, submission in zip(sealed, submissions, strict=True)]
    inserted = await way.insert(records)
    new = {record.entry.record_id: record.sealed for record in compress(records, inserted)}
    waiting = [row for row in new.values() if isinstance(row, WaitingObject)]
    if is_queued := way.keys.is_queueing:
        wake(_TASK, expires=_WAKE_SECONDS)
    stored = await way.complete(waiting) if waiting and not is_queued else new.keys()
    results: dict[int, StoreResult] = {}
    others: dict[uuid.UUID, dict[int, Submission]] = {}
    for position, (item, is_new) in enumerate(zip(sealed, inserted, strict=True)):
        if is_new and item.record_id in stored:
            receipt = None if is_queued else selectors.receipt_of(item, item.payload_salt)
            status = Status.QUEUED if is_queued else Status.CREATED
            results[position] = StoreResult(status, item.record_id, receipt, is_new=True)
        else:
            others.setdefault(item.record_id, {})[position] = submissions[position]
    if others:
        results |= await way.compare(others, new.keys())
    return [results[position] for position in range(len(sealed))]


def store_records(
    *,
    organization_id: uuid.UUID,
    submissions: Sequence[Submission],
    on_insert: Callable[[uuid.UUID], None] | None = None,
) -> list[StoreResult]:
    """Take custody of records in this thread.

    Args:
        submissions: as of `take`.
        on_insert: called with the id of each new record, in the transaction that inserts it, so that its writes are
            committed if and only if the record is.

    Returns:
        The result of each submission, in order. CONFLICT: the id has other content. DISPOSED: the id's record was
        disposed of, so its content is unknown. UNAVAILABLE: the vault does not answer now; nothing is lost, and
        submitting the record again is safe.

    Raises:
        django.db.OperationalError: the database does not store; nothing was stored.
        KeyMissing, KmsUnavailable: the organization's keys cannot be used.
    """
    keys = keyring(organization_id)
    steps = take(Way(keys, Place.of_new_records(keys), on_insert), submissions)
    try:
        steps.send(None)  # runs all of them, because no step of a thread suspends
    except StopIteration as end:
        results: list[StoreResult] = end.value
        return results
    raise AssertionError("a step in a thread was suspended")


def foretell(*, organization_id: uuid.UUID, submission: Submission) -> Status:
    """Return the status that `store_records` would give a record now. It stores nothing and makes no key.

    Raises:
        Fault: a record of this identity exists and cannot be read, or the organization's keys cannot be used.
    """
    if not has_keys(organization_id):  # without keys it has no records
        return Status.CREATED
    identity = record_types.identity(submission.kind, submission.identity)
    record_id = selectors.record_id(organization_id, identity)
    entry = db.only(Entry.objects.for_organization(organization_id).filter(pk=record_id))
    if entry is None:
        return Status.QUEUED if keyring(organization_id).is_queueing else Status.CREATED
    result = _judge({0: submission}, entry)[0]
    if result.status is Status.UNAVAILABLE and result.fault:
        raise result.fault
    return result.status


def _judge(
    submissions: Mapping[int, Submission], entry: Entry, read: Callable[[Entry], bytes] | None = None
) -> dict[int, StoreResult]:
    """Compare submissions with the record in custody. Content decides, not spelling, so the record is read back: a
    stored digest would be another secret to keep and to destroy."""
    try:
        stored = selectors.opened(entry, read)
    except Disposed as error:
        gone = DisposedConflict(error.disposal)
        return dict.fromkeys(submissions, StoreResult(Status.DISPOSED, entry.pk, fault=gone))
    except Fault as error:
        log.error("record in custody cannot be read", record_id=str(entry.pk), exc_info=error)
        return dict.fromkeys(submissions, StoreResult(Status.UNAVAILABLE, entry.pk, fault=error))
    same = StoreResult(Status.REPLAYED, entry.pk, selectors.receipt_of(entry, stored.secrets.payload_salt))
    if entry.state == Entry.State.RESERVED:
        same = StoreResult(Status.UNAVAILABLE, entry.pk, fault=VaultUnavailable())
    if entry.state == Entry.State.QUEUED:
        same = StoreResult(Status.QUEUED, entry.pk)
    other = StoreResult(Status.CONFLICT, entry.pk)
    content = cache(strict_json.content)
    return {
        position: same
        if submission.payload == stored.payload or content(submission.payload) == content(stored.payload)
        else other
        for position, submission in submissions.items()
    }
