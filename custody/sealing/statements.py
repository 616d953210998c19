"""Claims of signed statements. No claim is used before its statement's signature verifies."""

import json
import uuid
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from custody import signers
from custody.keys.keyrings import keyring
from custody.models import Entry, Key
from custody.sealing import envelope
from custody.sealing.sealer import Damaged, SealedHeader


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims of a verified statement: kind, time of receipt, and commitment to the record's bytes."""

    kind: str
    received_at: datetime
    payload_commitment: str


def verified(organization_id: uuid.UUID, record_id: uuid.UUID, signed: Entry | SealedHeader) -> Claims:
    """Return the claims of a statement, after verifying that one of the organization's keys signed it.

    Raises:
        Damaged: none signed it, or it is about another organization or another record.
    """
    require_signed(organization_id, signed.key_id, bytes(signed.signature), bytes(signed.statement))
    return _claims(organization_id, record_id, bytes(signed.statement))


def require_signed(organization_id: uuid.UUID, key_id: str, signature: bytes, statement: bytes) -> None:
    """Raise Damaged unless one of the organization's keys has signed the statement."""
    try:
        algorithm, public_pem = _public_key(organization_id, key_id)
    except Key.DoesNotExist:
        raise Damaged(because="the statement names a signing key that is not the organization's") from None
    message = envelope.pre_authentication_encoding(statement)
    if not signers.verifies(algorithm, public_pem, signature, message):
        raise Damaged(because="the statement's signature does not verify")


def _claims(organization_id: uuid.UUID, record_id: uuid.UUID, statement: bytes) -> Claims:
    document = json.loads(statement)
    (subject,), predicate = document["subject"], document["predicate"]
    if (predicate["organization"], subject["name"]) != (str(organization_id), record_id.urn):
        raise Damaged(because="the statement is about another record")
    received_at = datetime.fromisoformat(predicate["receivedAt"])
    return Claims(predicate["kind"], received_at, subject["digest"]["hmac-sha256"])


def verified_row(entry: Entry) -> Claims:
    """Return the claims of a custody row's statement, after comparing them with its columns. A queued statement must
    have this service's provisional signature. Raises Damaged."""
    read = _recognised if entry.state == Entry.State.QUEUED else verified
    claims = read(entry.organization_id, entry.record_id, entry)
    if (claims.kind, claims.received_at) != (entry.kind, entry.received_at):
        raise Damaged(because="the custody row differs from its statement")
    return claims


def _recognised(organization_id: uuid.UUID, record_id: uuid.UUID, queued: Entry | SealedHeader) -> Claims:
    message = envelope.pre_authentication_encoding(bytes(queued.statement))
    if not keyring(organization_id).queue_signer.recognises(bytes(queued.signature), message):
        raise Damaged(because="the queued statement was not queued here")
    return _claims(organization_id, record_id, bytes(queued.statement))


@lru_cache(maxsize=1024)
def _public_key(organization_id: uuid.UUID, key_id: str) -> tuple[str, str]:
    """Return the algorithm and public half of a signing key, which may be retired. Cached, because an id never changes
    its key."""
    key = Key.objects.for_organization(organization_id).get(key_id=key_id, purpose=Key.Purpose.SIGNING)
    return key.algorithm, key.public_pem
