"""Reading what is in custody: records, receipts, public keys, and proofs of single fields."""

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from config.api.times import rfc3339
from custody import envelope, fields, sealing, vaults
from custody.fields import Disclosure
from custody.keys import keyring
from custody.models import Entry, Key, SealedObject, object_key
from custody.sealing import Damaged, Opened, Sealed
from custody.vaults import VaultUnavailable


@dataclass(frozen=True, slots=True)
class Receipt:
    """What proves that a record is in custody, and what it commits to.

    `payload_salt` opens the payload commitment: with it, and with nothing else of ours, the holder of the record's
    exact bytes checks that they are the signed ones. It also lets its holder confirm a guess of the whole record, so a
    receipt is for whoever may know the record; the envelope alone tells nothing and can go further.
    """

    record_id: uuid.UUID
    kind: str
    received_at: datetime
    statement: bytes
    signature: bytes
    key_id: str
    payload_salt: bytes

    def as_json(self) -> dict[str, Any]:
        return {
            "record_id": str(self.record_id),
            "kind": self.kind,
            "received_at": rfc3339(self.received_at),
            "key_id": self.key_id,
            "envelope": envelope.envelope(self.statement, self.signature, self.key_id),
            "payload_salt": self.payload_salt.hex(),
            "log": "pending",
        }


@dataclass(frozen=True, slots=True)
class Claims:
    """What a verified statement says about how a record came in."""

    kind: str
    received_at: datetime


def receipt_of(source: Sealed | Entry, payload_salt: bytes) -> Receipt:
    """The receipt of a record that was sealed just now, or of a custody row."""
    return Receipt(
        record_id=source.record_id,
        kind=source.kind,
        received_at=source.received_at,
        statement=bytes(source.statement),
        signature=bytes(source.signature),
        key_id=source.key_id,
        payload_salt=payload_salt,
    )


def receipt(entry: Entry) -> Receipt:
    """The receipt of a stored record.

    Raises:
        VaultUnavailable: the vault does not answer, or the record has not reached it yet.
        ObjectMissing, Damaged: custody itself is harmed.
    """
    if entry.state == Entry.State.RESERVED:
        raise VaultUnavailable("the record has not reached its vault yet")
    return receipt_of(entry, opened(entry).secrets.payload_salt)


def opened(entry: Entry) -> Opened:
    """The record decrypted, byte for byte as it was received, checked against the signed commitment.

    Raises: as `receipt`; a reserved record is readable all the same.
    """
    found = sealing.unseal(keyring(entry.organization_id), entry.record_id, _body(entry))
    header = found.header
    if (header.statement, header.signature, header.key_id) != (
        bytes(entry.statement), bytes(entry.signature), entry.key_id,
    ):  # fmt: skip
        raise Damaged("the custody row and the sealed object do not hold the same statement")
    _require_subject(header.statement, entry.record_id, found)
    return found


def _require_subject(statement: bytes, record_id: uuid.UUID, found: Opened) -> None:
    commitment = sealing.payload_commitment(found.secrets.payload_salt, found.payload).hex()
    if json.loads(statement)["subject"] != [{"name": record_id.urn, "digest": {"hmac-sha256": commitment}}]:
        raise Damaged("the record is not the one that was signed")


def disclosures(entry: Entry, paths: Sequence[str]) -> list[Disclosure]:
    """Proofs of single fields against the record's signed statement, revealing no other field.

    Args:
        paths: dotted paths of scalars, as `custody.fields` spells them.

    Raises:
        KeyError: the record has no scalar at a path. Else as `receipt`.
    """
    found = opened(entry)
    return fields.disclose(fields.leaves(found.payload), found.secrets.field_salt_key, paths)


def verified_claims(organization_id: uuid.UUID, record_id: uuid.UUID, found: Opened) -> Claims:
    """The claims of an object's statement, once its signature verifies under one of the organization's keys.

    Raises:
        Damaged: it does not, or the statement is about another organization, another record or other bytes.
    """
    header = found.header
    try:
        key = Key.objects.get(organization_id=organization_id, key_id=header.key_id, purpose=Key.Purpose.SIGNING)
        public = serialization.load_pem_public_key(key.public_pem.encode())
        if not isinstance(public, Ed25519PublicKey):
            raise Damaged("the signing key is of an unknown algorithm")
        public.verify(header.signature, envelope.pre_authentication_encoding(header.statement))
    except (Key.DoesNotExist, InvalidSignature):
        raise Damaged("the statement's signature does not verify") from None
    predicate = json.loads(header.statement)["predicate"]
    if predicate["organization"] != str(organization_id):
        raise Damaged("the statement is about another organization")
    _require_subject(header.statement, record_id, found)
    return Claims(predicate["kind"], datetime.fromisoformat(predicate["receivedAt"]))


def _body(entry: Entry) -> bytes:
    key = object_key(entry.organization_id, entry.record_id)
    if entry.state == Entry.State.RESERVED:
        waiting = SealedObject.objects.filter(key=key).first()
        if waiting is not None:
            return bytes(waiting.body)
    return vaults.vault(entry.vault).get(key)
