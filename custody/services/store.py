"""Storing of records: custody begins here."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

import structlog
from django.db import transaction

from config import db
from config.celery import wake
from config.errors import DomainError, Fault
from config.http import strict_json
from custody import record_types, selectors
from custody.keys.keyrings import has_keys, keyring
from custody.models import Entry, WaitingObject
from custody.rows.bulk_insert import NewRecord, insert
from custody.rows.new_records import Place, Submission, new_record, seal_all
from custody.sealing.sealer import Sealed
from custody.selectors import Disposed, DisposedConflict, Receipt
from custody.services.complete import complete
from custody.services.recalling import recall_earlier
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


def store_records(
    *,
    organization_id: uuid.UUID,
    submissions: Sequence[Submission],
    on_insert: Callable[[uuid.UUID], None] | None = None,
) -> list[StoreResult]:
    """Take custody of records, each exactly once.

    A transactional vault commits everything in one statement. For other vaults the sealed record is first reserved in
    our database; then its object is put, outside any transaction; then one conditional update marks it stored. A record
    that is interrupted in between is finished by `reconcile`, or when it is submitted again. If the organization uses a
    key management service, the sealed record is queued in our database, and `reconcile` does the rest.

    Args:
        submissions: at least one, all of one kind.
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
    sealed = seal_all(keys, submissions)
    recall_earlier(organization_id, {item.record_id for item in sealed})
    place = Place.of_new_records(keys)
    records = [new_record(record, submission, place) for record, submission in zip(sealed, submissions, strict=True)]
    first: dict[uuid.UUID, NewRecord] = {}  # only the first submission of an id may reach the vault
    for record in records:
        first.setdefault(record.entry.record_id, record)
    created = _insert(list(first.values()), on_insert)
    objects = [record.sealed for pk, record in first.items() if pk in created]
    waiting = [row for row in objects if isinstance(row, WaitingObject)]
    if keys.is_queueing:
        wake(_TASK, expires=_WAKE_SECONDS)
    stored = complete(waiting) if waiting and not keys.is_queueing else set(created)
    outcomes: dict[int, StoreResult] = {}
    for position, item in enumerate(sealed):
        if item.record_id in stored:  # a second submission of this id in this call is a replay or a conflict
            stored.discard(item.record_id)
            outcomes[position] = _taken(item, is_queued=keys.is_queueing)
    known_ids = {position: item.record_id for position, item in enumerate(sealed) if position not in outcomes}
    if known_ids:
        existing = _existing(organization_id, set(known_ids.values()), created)
        read = selectors.read_ahead(existing.values())
        for pk in set(known_ids.values()):  # read once, however many submissions have its id
            of_one = {position: submissions[position] for position, of in known_ids.items() if of == pk}
            outcomes |= _judge(of_one, existing[pk], read)
    return [outcomes[position] for position in range(len(sealed))]


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


def _insert(records: list[NewRecord], on_insert: Callable[[uuid.UUID], None] | None) -> set[uuid.UUID]:
    if on_insert is None:
        return insert(records)  # one statement, which needs no transaction
    with transaction.atomic():
        created = insert(records)
        for record_id in created:
            on_insert(record_id)
    return created


def _taken(sealed: Sealed, *, is_queued: bool) -> StoreResult:
    if is_queued:
        return StoreResult(Status.QUEUED, sealed.record_id, is_new=True)
    receipt = selectors.receipt_of(sealed, sealed.payload_salt)
    return StoreResult(Status.CREATED, sealed.record_id, receipt, is_new=True)


def _existing(organization_id: uuid.UUID, ids: set[uuid.UUID], tried: set[uuid.UUID]) -> dict[uuid.UUID, Entry]:
    """Return the rows of existing records, after completing the unfinished ones that this call has not tried.

    Completing takes no lease, because another request may hold it: both put the same bytes, and either may mark them
    stored.
    """
    rows = Entry.objects.for_organization(organization_id)
    entries = rows.in_bulk(ids)
    if unfinished := [e.pk for e in entries.values() if e.state == Entry.State.RESERVED and e.pk not in tried]:
        waiting = WaitingObject.objects.for_organization(organization_id).filter(pk__in=unfinished)
        complete(list(waiting.select_related("record")))
        entries = rows.in_bulk(ids)
    return entries


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
