"""Sealer: encrypts a record under its own key, commits to it and signs the commitment, and opens it again.

Each record has a data key (DEK) of 32 random bytes. HKDF-SHA-256 (RFC 5869) derives three values of 32 bytes from it,
in this order: the encryption key, the payload salt, the field-salt key. So destroying the DEK destroys the text and
every way to confirm a guess about it, while statement and signature stay valid.
"""

import base64
import hashlib
import hmac
import json
import os
import struct
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.keywrap import InvalidUnwrap

from config.errors import Fault
from custody.keys.keyrings import Keyring, refreshed
from custody.sealing import envelope, fields

MAGIC = b"DRS1"
_HEADER = struct.Struct(">4sI")
_NONCE_BYTES = 12
_DERIVATION = b"decision-record-service sealing v1"


class Damaged(Fault):
    """A sealed object was changed: it cannot be parsed, unwrapped or decrypted."""

    code = "damaged"
    sentence = "The stored record is damaged. An administrator must restore the vault from a backup."


@dataclass(frozen=True, slots=True)
class Secrets:
    """The three values derived from a DEK."""

    encryption_key: bytes
    payload_salt: bytes
    field_salt_key: bytes


@dataclass(frozen=True, slots=True)
class Sealed:
    """A sealed record: the content of the vault object and of the custody row."""

    record_id: uuid.UUID
    organization_id: uuid.UUID
    kind: str
    received_at: datetime
    statement: bytes
    signature: bytes
    key_id: str
    kek_id: str
    wrapped_dek: bytes
    ciphertext: bytes
    payload_salt: bytes


@dataclass(frozen=True, slots=True)
class SealedHeader:
    """The clear part of a vault object, from which the custody row can be rebuilt without the database."""

    statement: bytes
    signature: bytes
    key_id: str
    kek_id: str
    wrapped_dek: bytes


@dataclass(frozen=True, slots=True)
class Opened:
    """An opened record: its exact bytes, and the secrets that prove them."""

    header: SealedHeader
    payload: bytes
    secrets: Secrets


def reference(keys: Keyring, identity: str) -> bytes:
    """Return an identity's 32-byte keyed reference. Equal identities have equal ones; it reveals nothing else."""
    return hmac.digest(keys.index_key, identity.encode(), "sha256")


def record_id(ref: bytes) -> uuid.UUID:
    """Return the record id of an identity: a UUID version 8 (RFC 9562) made from its reference.

    The identity determines the id, so no identity can have two records, not even in two processes or after a restore of
    an older database.
    """
    octets = ref[:16]
    marked = bytes([octets[6] & 0x0F | 0x80, octets[7], octets[8] & 0x3F | 0x80])
    return uuid.UUID(bytes=octets[:6] + marked + octets[9:])


def seal(
    keys: Keyring,
    *,
    kind: str,
    identity: str,
    payload: bytes,
    content: Any,
    received_at: datetime,
    parents: Sequence[bytes] = (),
) -> Sealed:
    """Seal one record in memory. If the organization's keys are queueing, `queue_signer` signs it for now.

    Args:
        identity: an identity from `record_types.identity`; the `decision_id` of a decision or reconsideration.
        payload: the exact bytes received: one JSON object that `strict_json.read` accepts.
        content: the result of reading them, with numbers as their spelling.
        received_at: aware, UTC.
        parents: SHA-256 of each statement this record builds on.

    Raises:
        KmsUnavailable: its data key cannot be wrapped now.
    """
    signer = keys.queue_signer if keys.is_queueing else keys.signer
    ref = reference(keys, identity)
    identifier = record_id(ref)
    dek = os.urandom(32)
    secrets = derive(dek)
    nonce = os.urandom(_NONCE_BYTES)
    associated = keys.organization_id.bytes + identifier.bytes
    ciphertext = nonce + AESGCM(secrets.encryption_key).encrypt(nonce, payload, associated)
    leaves = fields.leaves(payload, content)
    statement = envelope.statement(
        envelope.Commitments(
            record_id=identifier,
            organization_id=keys.organization_id,
            kind=kind,
            decision_ref=ref,
            payload=payload_commitment(secrets.payload_salt, payload),
            fields_root=fields.commitment(leaves, secrets.field_salt_key),
            fields_count=len(leaves),
            ciphertext_sha256=hashlib.sha256(ciphertext).digest(),
            ciphertext_size=len(ciphertext),
            kek_id=keys.wrapper.key_id,
            received_at=received_at,
            parents=parents,
        )
    )
    return Sealed(
        record_id=identifier,
        organization_id=keys.organization_id,
        kind=kind,
        received_at=received_at,
        statement=statement,
        signature=signer.sign(envelope.pre_authentication_encoding(statement)),
        key_id=signer.key_id,
        kek_id=keys.wrapper.key_id,
        wrapped_dek=keys.wrapper.wrap(dek),
        ciphertext=ciphertext,
        payload_salt=secrets.payload_salt,
    )


def payload_commitment(salt: bytes, payload: bytes) -> bytes:
    """Return the commitment in the statement's subject: HMAC-SHA-256(payload salt, payload)."""
    return hmac.digest(salt, payload, "sha256")


def derive(dek: bytes) -> Secrets:
    """Return the values derived from a DEK (RFC 5869, without salt, because the DEK is uniformly random)."""
    stream = HKDF(algorithm=hashes.SHA256(), length=96, salt=None, info=_DERIVATION).derive(dek)
    return Secrets(stream[:32], stream[32:64], stream[64:])


def pack(sealed: Sealed) -> bytes:
    """Return the vault object: `DRS1`, the header's length (4 bytes, big-endian), the JSON header, the ciphertext."""
    return _packed(sealed, sealed.ciphertext)


def signed(body: bytes, *, statement: bytes, signature: bytes, key_id: str) -> bytes:
    """Return the vault object of a queued record with its final signature.

    Raises:
        Damaged: the object cannot be parsed, or another statement was signed.
    """
    header, ciphertext = unpack(body)
    if header.statement != statement:
        raise Damaged(because="the custody row and the sealed object do not hold the same statement")
    return _packed(replace(header, signature=signature, key_id=key_id), ciphertext)


def _packed(source: "Sealed | SealedHeader", ciphertext: bytes) -> bytes:
    encoded = _encode_header(source)
    return _HEADER.pack(MAGIC, len(encoded)) + encoded + ciphertext


def _encode_header(source: "Sealed | SealedHeader") -> bytes:
    header = {
        "statement": base64.b64encode(source.statement).decode(),
        "signature": base64.b64encode(source.signature).decode(),
        "keyId": source.key_id,
        "kekId": source.kek_id,
        "wrappedDek": base64.b64encode(source.wrapped_dek).decode(),
    }
    return json.dumps(header, sort_keys=True, separators=(",", ":")).encode()


def unpack(body: bytes) -> tuple[SealedHeader, bytes]:
    """Return the header and ciphertext of a vault object. Raises Damaged."""
    try:
        magic, size = _HEADER.unpack_from(body)
        encoded = body[_HEADER.size : _HEADER.size + size]
        raw = json.loads(encoded)
        header = SealedHeader(
            statement=base64.b64decode(raw["statement"], validate=True),
            signature=base64.b64decode(raw["signature"], validate=True),
            key_id=raw["keyId"],
            kek_id=raw["kekId"],
            wrapped_dek=base64.b64decode(raw["wrappedDek"], validate=True),
        )
    except (struct.error, ValueError, KeyError, TypeError) as error:
        raise Damaged(because="the sealed object cannot be parsed") from error
    if magic != MAGIC:
        raise Damaged(because="the sealed object is of an unknown format")
    if _encode_header(header) != encoded:  # base64 and JSON have several spellings, and we write only one
        raise Damaged(because="the sealed object's header was changed")
    return header, body[_HEADER.size + size :]


def take_apart(body: bytes) -> tuple[bytes, bytes]:
    """Return a vault object without its wrapped data key, and that key. Raises Damaged."""
    header, ciphertext = unpack(body)
    return _packed(replace(header, wrapped_dek=b""), ciphertext), header.wrapped_dek


def put_together(body: bytes, wrapped_dek: bytes) -> bytes:
    """Return the whole vault object again. Raises Damaged."""
    header, ciphertext = unpack(body)
    return _packed(replace(header, wrapped_dek=wrapped_dek), ciphertext)


def unseal(keys: Keyring, record: uuid.UUID, body: bytes) -> Opened:
    """Decrypt a vault object. Raises Damaged, KmsUnavailable."""
    header, ciphertext = unpack(body)
    wrapper = keys.wrappers.get(header.kek_id) or refreshed(keys.organization_id).wrappers.get(header.kek_id)
    if wrapper is None:
        raise Damaged(because="the sealed object names a key-encryption key that is not the organization's")
    try:
        secrets = derive(wrapper.unwrap(header.wrapped_dek))
        nonce, encrypted = ciphertext[:_NONCE_BYTES], ciphertext[_NONCE_BYTES:]
        payload = AESGCM(secrets.encryption_key).decrypt(nonce, encrypted, keys.organization_id.bytes + record.bytes)
    except (InvalidUnwrap, InvalidTag, ValueError) as error:
        raise Damaged(because="the sealed object does not decrypt under this organization's key") from error
    return Opened(header, payload, secrets)
