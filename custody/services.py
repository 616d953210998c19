"""Taking custody of records, and finishing what a crash or an outage left unfinished."""

import uuid
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any, NamedTuple

import structlog
from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.models import Organization
from config.api import strict_json
from config.api.strict_json import spelling
from config.faults import Fault
from custody import kinds, sealing, selectors, vaults
from custody.insertion import NewRecord, insert
from custody.keys import Keyring, keyring
from custody.kinds import Indexing
from custody.models import Entry, SealedObject, object_key
from custody.sealing import Sealed
from custody.selectors import Receipt
from custody.vaults import ObjectMissing, VaultUnavailable

log = structlog.get_logger("custody")

# How long a request may need to finish its own record before the reconciler takes over.
LEASE = timedelta(seconds=60)
_PARALLEL_PUTS = 8


class Status(StrEnum):
    CREATED = "created"
    REPLAYED = "replayed"
    CONFLICT = "conflict"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class Submission:
    """One record to take: its exact bytes, and what `strict_json.read` made of them, numbers as their spelling."""

    kind: str
    identity: str
    payload: bytes
    content: dict[str, Any]
    source: str
    parents: Sequence[bytes] = ()


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of a submission: with a receipt if it is in custody, with a fault if that is not known now."""

    status: Status
    record_id: uuid.UUID
    receipt: Receipt | None = None
    fault: Fault | None = None


def take(*, organization_id: uuid.UUID, submissions: Sequence[Submission]) -> list[Taken]:
    """Take custody of records, each exactly once.

    A transactional vault commits everything in one statement. For the others the record is first reserved, sealed,
    in our own database; then its object is put, outside any transaction; then one conditional update says so. What
    is interrupted between these steps is finished by `reconcile`, or by whoever submits the same record again.

    Args:
        submissions: not empty, all of one kind.

    Returns:
        What became of each, in order. CONFLICT: the id is taken by other content. UNAVAILABLE: the vault does not
        answer now; nothing is lost and submitting the record again is safe.

    Raises:
        django.db.OperationalError: the database does not store; nothing was taken.
        custody.keys.KeyMissing, config.secret_files.InsecureKeyFile: the organization's keys cannot be used.
    """
    sealed = _seal_all(keyring(organization_id), submissions)
    records = [_new_record(one, each) for one, each in zip(sealed, submissions, strict=True)]
    first: dict[uuid.UUID, NewRecord] = {}  # of several submissions of one id, only the first may reach the vault
    for record in records:
        first.setdefault(record.entry.record_id, record)
    created = insert(list(first.values()))
    if vaults.current().transactional:
        stored = set(created)
    else:
        stored = _finish([_unfinished(record) for record_id, record in first.items() if record_id in created])
    outcomes: dict[int, Taken] = {}
    for position, one in enumerate(sealed):
        if one.record_id in stored:  # a second submission of this id in the same call is a replay or a conflict
            stored.discard(one.record_id)
            outcomes[position] = Taken(Status.CREATED, one.record_id, selectors.receipt_of(one, one.payload_salt))
    rest = {position: one.record_id for position, one in enumerate(sealed) if position not in outcomes}
    if rest:
        existing = _existing(set(rest.values()), created)
        outcomes |= {position: _judge(submissions[position], existing[pk]) for position, pk in rest.items()}
    return [outcomes[position] for position in range(len(sealed))]


def _seal_all(keys: Keyring, submissions: Sequence[Submission]) -> list[Sealed]:
    now = timezone.now()
    return [
        sealing.seal(
            keys,
            kind=each.kind,
            identity=each.identity,
            payload=each.payload,
            content=each.content,
            received_at=now,
            parents=each.parents,
        )
        for each in submissions
    ]


def _new_record(sealed: Sealed, submission: Submission) -> NewRecord:
    transactional = vaults.current().transactional
    return NewRecord(
        Entry(
            record_id=sealed.record_id,
            organization_id=sealed.organization_id,
            kind=sealed.kind,
            received_at=sealed.received_at,
            vault=settings.CUSTODY_VAULT,
            state=Entry.State.STORED if transactional else Entry.State.RESERVED,
            lease_until=None if transactional else sealed.received_at + LEASE,
            statement=sealed.statement,
            signature=sealed.signature,
            key_id=sealed.key_id,
        ),
        SealedObject(key=object_key(sealed.organization_id, sealed.record_id), body=sealing.pack(sealed)),
        kinds.index_row(
            Indexing(
                record_id=sealed.record_id,
                organization_id=sealed.organization_id,
                kind=sealed.kind,
                content=submission.content,
                received_at=sealed.received_at,
                source=submission.source,
            )
        ),
    )


def _existing(ids: set[uuid.UUID], tried: set[uuid.UUID]) -> dict[uuid.UUID, Entry]:
    """The custody rows of records that were there before, after helping the unfinished ones that nobody just tried."""
    entries = Entry.objects.in_bulk(ids)
    unfinished = [e for e in entries.values() if e.state == Entry.State.RESERVED and e.pk not in tried]
    if unfinished:
        _finish(_with_bodies(unfinished))
        entries = Entry.objects.in_bulk(ids)
    return entries


def _judge(submission: Submission, entry: Entry) -> Taken:
    """Compare with what is in custody. Content decides, not spelling, and it is read back to decide: a digest kept for
    this would be one more thing to keep secret and to destroy."""
    try:
        found = selectors.opened(entry)
    except Fault as error:
        log.error("record in custody cannot be read", record_id=str(entry.pk), exc_info=error)
        return Taken(Status.UNAVAILABLE, entry.pk, fault=error)
    if not strict_json.same_content(found.payload, submission.payload):
        return Taken(Status.CONFLICT, entry.pk)
    if entry.state == Entry.State.RESERVED:
        return Taken(Status.UNAVAILABLE, entry.pk, fault=VaultUnavailable())
    return Taken(Status.REPLAYED, entry.pk, selectors.receipt_of(entry, found.secrets.payload_salt))


def reconcile(limit: int = 500) -> tuple[int, int]:
    """Finish reserved records whose lease has run out. Several may run at once.

    Returns:
        How many were finished, and how many could not be because their vault does not answer.
    """
    now = timezone.now()
    with transaction.atomic():
        waiting = Entry.objects.filter(state=Entry.State.RESERVED, lease_until__lt=now)
        claimed = list(waiting.select_for_update(skip_locked=True)[:limit])
        Entry.objects.filter(pk__in=[entry.pk for entry in claimed]).update(lease_until=now + LEASE)
    _finish(_with_bodies(claimed))
    remaining = Entry.objects.filter(pk__in=[entry.pk for entry in claimed], state=Entry.State.RESERVED).count()
    if claimed:
        log.info("reconciled", finished=len(claimed) - remaining, remaining=remaining)
    return len(claimed) - remaining, remaining


def adopt_orphans(organization: Organization) -> int:
    """Make the rows of objects that lie in the current vault without one, as after a restore of an older database.

    Returns:
        How many records came back. Objects that do not open under the organization's keys are logged and left.
    """
    vaults.current().discard_drafts()
    adopted, early = _adopt_all(_orphans(organization))
    while early:  # what a record builds on may be an orphan too, and be listed after it
        more, early = _adopt_all(early)
        adopted += more
        if not more:
            log.error("objects build on records that are not here", record_ids=[str(each.record_id) for each in early])
            break
    return adopted


def _orphans(organization: Organization) -> Iterator["_Unfinished"]:
    for key in vaults.current().list(f"{organization.id.hex}/records/"):
        try:
            record_id = uuid.UUID(key.rsplit("/", 1)[1])
        except ValueError:
            log.warning("the vault holds what is no object", key=key)
            continue
        if not Entry.objects.filter(pk=record_id).exists():
            yield _Unfinished(organization.id, record_id, settings.CUSTODY_VAULT, b"")


def _adopt_all(orphans: Iterable["_Unfinished"]) -> tuple[int, list["_Unfinished"]]:
    """How many were adopted, and those that came before the record they build on."""
    adopted, early = 0, []
    for each in orphans:
        try:
            adopted += _adopt(each)
        except IntegrityError:
            early.append(each)
    return adopted, early


class _Unfinished(NamedTuple):
    """A reserved record: sealed in our database, its object not yet known to be in its vault."""

    organization_id: uuid.UUID
    record_id: uuid.UUID
    vault: str
    body: bytes

    @property
    def key(self) -> str:
        return object_key(self.organization_id, self.record_id)


def _unfinished(record: NewRecord) -> _Unfinished:
    entry = record.entry
    return _Unfinished(entry.organization_id, entry.record_id, entry.vault, bytes(record.sealed.body))


def _with_bodies(entries: Sequence[Entry]) -> list[_Unfinished]:
    """Reserved entries with their waiting objects; an entry without one was finished by somebody else meanwhile."""
    keys = {entry.pk: object_key(entry.organization_id, entry.pk) for entry in entries}
    bodies = SealedObject.objects.in_bulk(keys.values())
    return [
        _Unfinished(entry.organization_id, entry.pk, entry.vault, bytes(bodies[keys[entry.pk]].body))
        for entry in entries
        if keys[entry.pk] in bodies
    ]


def _finish(unfinished: Sequence[_Unfinished]) -> set[uuid.UUID]:
    """Put the objects and mark their records stored. Returns the ids that were; the others stay reserved or, where
    the vault already held another object under the key, were settled by that object."""
    if len(unfinished) > 1:
        with ThreadPoolExecutor(_PARALLEL_PUTS) as pool:
            results = list(pool.map(_put, unfinished))
    else:
        results = [_put(each) for each in unfinished]
    stored = [each for each, result in zip(unfinished, results, strict=True) if result is _Put.STORED]
    for each, result in zip(unfinished, results, strict=True):
        if result is _Put.OTHER_OBJECT:
            _adopt(each)
    with transaction.atomic():
        Entry.objects.filter(pk__in=[each.record_id for each in stored], state=Entry.State.RESERVED).update(
            state=Entry.State.STORED, lease_until=None
        )
        SealedObject.objects.filter(key__in=[each.key for each in stored]).delete()
    return {each.record_id for each in stored}


class _Put(StrEnum):
    STORED = "stored"
    OTHER_OBJECT = "another object has this key"
    UNAVAILABLE = "unavailable"


def _put(each: _Unfinished) -> _Put:
    """Runs in threads: touches the vault alone."""
    vault = vaults.vault(each.vault)
    try:
        # "Exists" may be our own earlier attempt whose answer was lost: compare before judging.
        if vault.put_new(each.key, each.body) or vault.get(each.key) == each.body:
            return _Put.STORED
    except (VaultUnavailable, ObjectMissing) as error:
        log.warning("vault unavailable", vault=each.vault, reason=str(error))
        return _Put.UNAVAILABLE
    return _Put.OTHER_OBJECT


def _adopt(each: _Unfinished) -> bool:
    """Let the object in the vault be the record: it was acknowledged once, and the database has forgotten it.

    Its statement, signature, time and content replace what was reserved, or become the missing row.
    """
    keys = keyring(each.organization_id)
    try:
        opened = sealing.unseal(keys, each.record_id, vaults.vault(each.vault).get(each.key))
        claims = selectors.verified_claims(each.organization_id, each.record_id, opened)
        content = strict_json.read(opened.payload, number=spelling, integer=spelling)
    except (sealing.Damaged, ObjectMissing, VaultUnavailable) as error:
        log.error("object in the vault cannot be adopted", record_id=str(each.record_id), reason=str(error))
        return False
    row = {
        "organization_id": each.organization_id,
        "kind": claims.kind,
        "received_at": claims.received_at,
        "vault": each.vault,
        "state": Entry.State.STORED,
        "lease_until": None,
        "statement": opened.header.statement,
        "signature": opened.header.signature,
        "key_id": opened.header.key_id,
    }
    index = kinds.index_row(
        Indexing(
            record_id=each.record_id,
            organization_id=each.organization_id,
            kind=claims.kind,
            content=content,
            received_at=claims.received_at,
            source="vault",
        )
    )
    with transaction.atomic():
        Entry.objects.update_or_create(pk=each.record_id, defaults=row)
        index.save()
        if not vaults.vault(each.vault).transactional:  # there the sealed object is the record, not a waiting copy
            SealedObject.objects.filter(key=each.key).delete()
    log.info("adopted from the vault", record_id=str(each.record_id))
    return True
