"""Queries of custody: records, receipts, public keys, and proofs of single fields."""

import hashlib
import time
import uuid
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from threading import BoundedSemaphore
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from config import db
from config.errors import DomainError, Fault
from config.http.timestamps import day_in_words, rfc3339
from custody import objects, vaults
from custody.disposal import disposal_statements
from custody.keys.keyrings import KeyMissing, Keyring, keyring
from custody.models import Disposal, Entry, Key, StorageOutage, StorageTarget, WaitingObject
from custody.sealing import envelope, fields, sealer, statements
from custody.sealing.fields import Disclosure
from custody.sealing.sealer import Damaged, Opened, Sealed
from custody.sealing.statements import Claims
from custody.vaults import VaultUnavailable, storage_targets

_LOOK_SECONDS = 0.2
_READ_AHEAD_SECONDS = 20.0
WAITING_AT_ONCE = 1
"""In a process: it has two threads for requests, and one must stay free."""
_waiters = BoundedSemaphore(WAITING_AT_ONCE)
_ON_ITS_WAY = (Entry.State.QUEUED, Entry.State.RESERVED)


class NotSigned(DomainError):
    """The record is queued: it is stored for good, and will be signed later."""

    code = "not_signed"
    sentence = "The record is here and waits for its signature. Its receipt follows."


class Disposed(DomainError):
    """The record was disposed of: its content is destroyed, and its proof remains."""

    code, status = "disposed", 410

    def __init__(self, disposal: Disposal) -> None:
        super().__init__(
            f"This record was disposed of on {day_in_words(disposal.disposed_at)} under retention policy "
            f"{disposal.policy}. Its receipt and the signed disposal remain."
        )
        self.disposal = disposal
        self.members = {"disposal": disposal_statements.as_json(disposal)}


class DisposedConflict(Disposed):
    """The request adds to a record that was disposed of, or sends the record again."""

    status = 409


@dataclass(frozen=True, slots=True)
class Receipt:
    """Proof that a record is in custody, and of what it commits to.

    `payload_salt` opens the payload commitment: with it, the holder of the record's exact bytes can check that they are
    the signed ones. It also confirms a guess of the whole record, so a receipt is only for people who may know the
    record. The envelope alone reveals nothing and may be passed on.

    After a disposal the salt is destroyed, and `disposal` proves this with a signature.
    """

    record_id: uuid.UUID
    kind: str
    received_at: datetime
    statement: bytes
    signature: bytes
    key_id: str
    payload_salt: bytes | None
    disposal: Disposal | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "record_id": str(self.record_id),
            "kind": self.kind,
            "received_at": rfc3339(self.received_at),
            "key_id": self.key_id,
            "envelope": envelope.envelope(self.statement, self.signature, self.key_id),
            "payload_salt": self.payload_salt.hex() if self.payload_salt else None,
            "log": "pending",
            **(disposal_statements.verdict(self.disposal) if self.disposal else {}),
        }


def receipt_of(source: Sealed | Entry, payload_salt: bytes | None, disposal: Disposal | None = None) -> Receipt:
    """Return the receipt of a newly sealed record, or of a custody row."""
    return Receipt(
        record_id=source.record_id,
        kind=source.kind,
        received_at=source.received_at,
        statement=bytes(source.statement),
        signature=bytes(source.signature),
        key_id=source.key_id,
        payload_salt=payload_salt,
        disposal=disposal,
    )


def receipt(entry: Entry) -> Receipt:
    """Return the receipt of a record that is stored or, after verifying both signatures, of one disposed of.

    Raises:
        NotSigned
        VaultUnavailable: the vault does not answer, or does not have the record yet.
        KmsUnavailable: the record's data key cannot be unwrapped now.
        ObjectMissing, Damaged: custody is damaged.
    """
    if entry.state == Entry.State.QUEUED:
        raise NotSigned
    if entry.state == Entry.State.RESERVED:
        raise VaultUnavailable(
            "The record is here, signed and sealed, and has not reached its vault yet. Its receipt follows; ask again.",
            because="the record has not reached its vault yet",
        )
    if entry.state == Entry.State.DISPOSED:
        statements.verified_row(entry)
        return receipt_of(entry, None, disposal_statements.verified(disposal_of(entry.organization_id, entry.pk)))
    return receipt_of(entry, opened(entry).secrets.payload_salt)


def awaited_receipt(entry: Entry, *, seconds: float) -> Receipt:
    """Return a record's receipt, and wait until the record is stored. Raises as `receipt`.

    Waiting holds a thread of the web server, so only one caller waits at a time. Others get an answer at once.
    """
    if entry.state in _ON_ITS_WAY and seconds and _waiters.acquire(blocking=False):
        try:
            entry = _stored(entry, time.monotonic() + seconds)
        finally:
            _waiters.release()
    return receipt(entry)


def _stored(entry: Entry, until: float) -> Entry:
    """Return the row when it is stored, or its state at the end of the wait."""
    rows = Entry.objects.for_organization(entry.organization_id)
    while entry.state in _ON_ITS_WAY and time.monotonic() < until:
        time.sleep(_LOOK_SECONDS)
        entry = rows.get(pk=entry.pk)
    return entry


def read_ahead(entries: Collection[Entry]) -> Callable[[Entry], bytes]:
    """Read the sealed bytes of stored records from remote vaults in parallel.

    Returns:
        A function that returns the bytes of one entry, for `opened`. It raises as `receipt`.
    """
    stored = [entry for entry in entries if entry.state == Entry.State.STORED]
    try:
        opened_vaults = {target_id: vaults.of(target_id) for target_id in {entry.target_id for entry in stored}}
    except VaultUnavailable:  # raised again for each entry
        return _body
    remote = [entry for entry in stored if not opened_vaults[entry.target_id].transactional]
    if len(remote) < 2:
        return _body
    ends = time.monotonic() + _READ_AHEAD_SECONDS

    def read(entry: Entry) -> bytes:  # uses only the vault: threads have no connection to our database
        if time.monotonic() >= ends:
            raise VaultUnavailable(because="the records before it took too long to read")
        return objects.get(opened_vaults[entry.target_id], entry.organization_id, entry.record_id)

    with ThreadPoolExecutor(max(opened_vaults[entry.target_id].parallel_puts for entry in remote)) as pool:
        results = {entry.pk: pool.submit(read, entry) for entry in remote}
    return lambda entry: results[entry.pk].result() if entry.pk in results else _body(entry)


@dataclass(frozen=True, slots=True)
class Fetched:
    """A record's sealed bytes with its row, not opened yet."""

    entry: Entry
    body: bytes

    @property
    def digest(self) -> str:
        """SHA-256 of the bytes and of the row's verified statement. Equal digests open to equal records.

        Raises:
            KeyMissing, Damaged
        """
        statements.verified_row(self.entry)
        whole = hashlib.sha256(bytes(self.entry.statement))
        whole.update(self.entry.record_id.bytes + bytes(self.entry.signature))
        whole.update(self.body)
        return whole.hexdigest()

    def open(self) -> Opened:
        """Decrypt the record, after verifying its statement's signature and comparing it with the row.

        Raises: as `receipt`, and Disposed.
        """
        try:
            return opened_from(self.body, self.entry)
        except Fault:  # it may have been disposed of since its row was read
            require_kept(_fresh(self.entry))
            raise


def opened(entry: Entry, read: Callable[[Entry], bytes] | None = None) -> Opened:
    """Return the decrypted record, byte for byte as it was received. Takes the arguments of `fetched`, and raises as
    `fetched` and `Fetched.open`."""
    return fetched(entry, read).open()


def fetched(entry: Entry, read: Callable[[Entry], bytes] | None = None) -> Fetched:
    """Fetch a record's sealed bytes. Queued and reserved records are readable too.

    Args:
        read: the function of `read_ahead`; None reads the vault now.

    Raises: as `receipt`, and Disposed.
    """
    if entry.state == Entry.State.QUEUED:  # a worker may sign it meanwhile, which changes row and object together
        waiting = _waiting(entry)
        if waiting is not None:
            return Fetched(waiting.record, bytes(waiting.body))
        entry = _fresh(entry)
    require_kept(entry)
    try:
        return Fetched(entry, (read or _body)(entry))
    except Fault:  # it may have been disposed of since its row was read
        require_kept(_fresh(entry))
        raise


def require_kept(entry: Entry) -> None:
    """Raise Disposed if the record was disposed of."""
    if entry.state == Entry.State.DISPOSED:
        raise Disposed(disposal_of(entry.organization_id, entry.pk))


def disposal_of(organization_id: uuid.UUID, record_id: uuid.UUID) -> Disposal:
    """Return the disposal of a record that was disposed of."""
    return Disposal.objects.for_organization(organization_id).select_related("record").get(pk=record_id)


def disposals_of(
    organization_id: uuid.UUID, identities: Collection[str], kinds: Collection[str]
) -> dict[str, Disposal]:
    """Return the disposals of those identities whose records were disposed of. They are matched by record ids,
    which are made from the identities; the identities themselves are destroyed.

    Args:
        identities: identities from `record_types.identity`.
        kinds: kinds of records to consider.
    """
    try:
        keys = keyring(organization_id)
    except KeyMissing:  # without keys, no record id can be made
        return {}
    by_id = {_record_id(keys, identity): identity for identity in identities}
    rows = Disposal.objects.for_organization(organization_id).select_related("record")
    return {by_id[row.pk]: row for row in rows.filter(pk__in=by_id, record__kind__in=kinds)}


def opened_from(body: bytes, entry: Entry) -> Opened:
    """Open a row's record from a copy of its sealed object. Raises Damaged."""
    opened = sealer.unseal(keyring(entry.organization_id), entry.record_id, body)
    header = opened.header
    if (header.statement, header.signature, header.key_id) != (
        bytes(entry.statement), bytes(entry.signature), entry.key_id,
    ):  # fmt: skip
        raise Damaged(because="the custody row and the sealed object do not hold the same statement")
    _require_committed(opened, statements.verified_row(entry))
    return opened


def statement_digest(entry: Entry) -> bytes:
    """Return the SHA-256 of a record's statement, which names it in records that build on it. Needs no vault.

    Raises:
        Damaged: the statement is not the signed one, or the row contradicts it.
    """
    statements.verified_row(entry)
    return hashlib.sha256(bytes(entry.statement)).digest()


def public_keys(organization_id: uuid.UUID) -> list[dict[str, Any]]:
    """Return the organization's public signing keys with their periods of use, as the API lists them."""
    keys = Key.objects.for_organization(organization_id).filter(purpose=Key.Purpose.SIGNING)
    return [
        {
            "key_id": key.key_id,
            "algorithm": key.algorithm,
            "public_key_pem": key.public_pem,
            "created_at": rfc3339(key.created_at),
            "valid_from": rfc3339(min(filter(None, (key.valid_from, key.created_at)))),
            "retired_at": rfc3339(key.retired_at),
        }
        for key in keys.order_by("pk")
    ]


def queue_lag_seconds() -> int:
    """Return how long the oldest queued record has waited for its signature; 0 if none waits."""
    queued = Entry.objects.unscoped("operators watch one queue").filter(state=Entry.State.QUEUED)
    oldest = queued.order_by("received_at").values_list("received_at", flat=True).first()
    return max(0, round((timezone.now() - oldest).total_seconds())) if oldest else 0


def queue_is_full(organization_id: uuid.UUID) -> bool:
    """Whether an organization has reached the limit of records that connectors may queue."""
    waiting = WaitingObject.objects.for_organization(organization_id).order_by(WaitingObject.DUE)
    return waiting[settings.MAX_QUEUED_RECORDS - 1 : settings.MAX_QUEUED_RECORDS].exists()


def record_id(organization_id: uuid.UUID, identity: str) -> uuid.UUID:
    """Return the id that a record of this identity, from `record_types.identity`, has or would have.

    Raises:
        KeyMissing: the organization's keys are not in place.
    """
    return _record_id(keyring(organization_id), identity)


def identifies(identity: str, entry: Entry) -> bool:
    """Whether a record's id is made from this identity."""
    return record_id(entry.organization_id, identity) == entry.record_id


def _record_id(keys: Keyring, identity: str) -> uuid.UUID:
    return sealer.record_id(sealer.reference(keys, identity))


@dataclass(frozen=True, slots=True)
class Storage:
    """An organization's storage: the target of new records, its outage if it fails, and former targets."""

    current: StorageTarget
    outage: StorageOutage | None
    earlier: list[StorageTarget]


def storage_of(organization_id: uuid.UUID) -> Storage:
    """Read an organization's storage from the database, so that a choice made in any process shows at once."""
    current = storage_targets.own(organization_id) or storage_targets.current()
    outage = outages().filter(target=current).first()
    earlier = [target for target in storage_targets.all_of(organization_id) if target != current]
    return Storage(current, outage, earlier)


def outages() -> QuerySet[StorageOutage]:
    """Return the outages that last, of targets in use."""
    lasting = StorageOutage.objects.unscoped("the operator watches the storage of every organization").filter(
        ended_at=None
    )
    return lasting.filter(target__retired_at=None)


def require_no_outage() -> None:
    """Raise VaultUnavailable while the storage of an organization fails. Used by /readyz."""
    if outages().exists():
        raise VaultUnavailable(because="the storage of an organization fails")


def _require_committed(opened: Opened, claims: Claims) -> None:
    if sealer.payload_commitment(opened.secrets.payload_salt, opened.payload).hex() != claims.payload_commitment:
        raise Damaged(because="the record differs from the signed one")


def disclosures(opened: Opened, paths: Sequence[str]) -> list[Disclosure]:
    """Prove single fields against the record's signed statement, without revealing any other field.

    Args:
        paths: dotted paths of scalars, in the spelling of `custody.sealing.fields`.

    Raises:
        KeyError: the record has no scalar at a path.
    """
    return fields.disclose(fields.leaves(opened.payload), opened.secrets.field_salt_key, paths)


def verified_claims(organization_id: uuid.UUID, record_id: uuid.UUID, opened: Opened) -> Claims:
    """Return the claims of an object's own statement, to make its row. Raises Damaged."""
    claims = statements.verified(organization_id, record_id, opened.header)
    _require_committed(opened, claims)
    return claims


def _fresh(entry: Entry) -> Entry:
    return Entry.objects.for_organization(entry.organization_id).get(pk=entry.pk)


def _body(entry: Entry) -> bytes:
    if entry.state == Entry.State.RESERVED:
        waiting = _waiting(entry)
        if waiting is not None:
            return bytes(waiting.body)
    return objects.get(vaults.of(entry.target_id), entry.organization_id, entry.record_id)


def _waiting(entry: Entry) -> WaitingObject | None:
    waiting = WaitingObject.objects.for_organization(entry.organization_id).select_related("record")
    return db.only(waiting.filter(pk=entry.pk))
