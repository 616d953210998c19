"""Taking custody of records."""

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
"""After so long a wake-up that no worker took expires, so that other tasks of the queue wait behind few."""


class Status(StrEnum):
    CREATED = "created"
    QUEUED = "queued"
    REPLAYED = "replayed"
    CONFLICT = "conflict"
    DISPOSED = "disposed"
    UNAVAILABLE = "unavailable"


TAKEN = frozenset({Status.CREATED, Status.QUEUED, Status.REPLAYED})
"""What is here for good."""


@dataclass(frozen=True, slots=True)
class StoreResult:
    """What became of a submission: with a receipt if it is in custody, with a fault if that is not known now, or if
    its record was disposed of.

    A queued one is taken as well and has its receipt once it is signed; `is_new` tells it from one that was queued
    before.
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

    A transactional vault commits everything in one statement. For the others the record is first reserved, sealed,
    in our own database; then its object is put, outside any transaction; then one conditional update says so. What
    is interrupted between these steps is finished by `reconcile`, or by whoever submits the same record again.
    Where a key lies in a key management service, the record is queued, sealed, in our own database, and `reconcile`
    does all the rest.

    Args:
        submissions: not empty, all of one kind.
        on_insert: called with the id of each record that is new, in the transaction that makes it ours: what it writes
            is there if and only if the record is.

    Returns:
        What became of each, in order. CONFLICT: the id is taken by other content. DISPOSED: the id is that of a record
        which was disposed of, and whose content nobody knows. UNAVAILABLE: the vault does not answer now; nothing is
        lost and submitting the record again is safe.

    Raises:
        django.db.OperationalError: the database does not store; nothing was taken.
        KeyMissing, KmsUnavailable: the organization's keys cannot be used.
    """
    keys = keyring(organization_id)
    sealed = seal_all(keys, submissions)
    recall_earlier(organization_id, {one.record_id for one in sealed})
    place = Place.of_new_records(keys)
    records = [new_record(one, each, place) for one, each in zip(sealed, submissions, strict=True)]
    first: dict[uuid.UUID, NewRecord] = {}  # of several submissions of one id, only the first may reach the vault
    for record in records:
        first.setdefault(record.entry.record_id, record)
    created = _insert(list(first.values()), on_insert)
    objects = [each.sealed for pk, each in first.items() if pk in created]
    waiting = [each for each in objects if isinstance(each, WaitingObject)]
    if keys.is_queueing:
        wake(_TASK, expires=_WAKE_SECONDS)
    stored = complete(waiting) if waiting and not keys.is_queueing else set(created)
    outcomes: dict[int, StoreResult] = {}
    for position, one in enumerate(sealed):
        if one.record_id in stored:  # a second submission of this id in the same call is a replay or a conflict
            stored.discard(one.record_id)
            outcomes[position] = _taken(one, is_queued=keys.is_queueing)
    rest = {position: one.record_id for position, one in enumerate(sealed) if position not in outcomes}
    if rest:
        existing = _existing(organization_id, set(rest.values()), created)
        read = selectors.read_ahead(existing.values())
        for pk in set(rest.values()):  # each is read once, however many submissions are of its id
            of_one = {position: submissions[position] for position, of in rest.items() if of == pk}
            outcomes |= _judge(of_one, existing[pk], read)
    return [outcomes[position] for position in range(len(sealed))]


def foretell(*, organization_id: uuid.UUID, submission: Submission) -> Status:
    """What `store_records` would say of a record now. It stores nothing, makes no key and finishes nothing.

    Raises:
        Fault: a record of this identity is there and cannot be read, or the organization's keys cannot be used.
    """
    if not has_keys(organization_id):  # then no record is there either
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
        return insert(records)  # one statement, with no transaction to begin and end around it
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
    """The custody rows of records that were there before, after helping the unfinished ones that nobody just tried.

    Helping takes no lease, for another request may well hold it: both put the same bytes, and either may say so.
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
    """Compare with what is in custody. Content decides, not spelling, and it is read back to decide: a digest kept for
    this would be one more thing to keep secret and to destroy."""
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
        position: same if each.payload == stored.payload or content(each.payload) == content(stored.payload) else other
        for position, each in submissions.items()
    }
