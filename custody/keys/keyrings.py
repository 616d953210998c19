"""Keyrings: an organization's keys, made on first use and kept as rows. Their secret halves are wrapped under the
master key, or are in the customer's key management service.

signing     Ed25519, or ECDSA on P-256: signs statements
wrapping    the key-encryption key, 32 bytes or the service's own: wraps the data key of each record
index       32 bytes: makes record ids from decision ids; is never replaced and never leaves this service
"""

import hmac
import os
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from config import changes, wrapped_secrets
from config.changes import Remembered
from config.errors import Fault
from custody.keys.epoch_keys import EpochKeyWrapper
from custody.keys.kms import KmsSigner
from custody.keys.wrappers import AES_KEY_WRAP, AesKeyWrapper, KeyWrapper, secret_key_id
from custody.models import Key
from custody.signers import ED25519, HMAC_SHA256, Ed25519Signer, QueueSigner, Signer

Purpose = Key.Purpose
_SECRET_BYTES = 32
_MAX_REMEMBERED = 4096
"""Organizations whose keys a process keeps in memory."""
_LOOKED_AT = ("pk", "retired_at", "configuration")


class KeyMissing(Fault):
    """A key that signed or sealed records of this organization is missing, or is another key."""

    code = "key_missing"
    status = 503
    sentence = (
        "The organization's keys are not in place. An administrator must restore them, "
        "or run manage.py keys_import where they are still in files."
    )


@dataclass(frozen=True, slots=True)
class Keyring:
    """The keys of one organization.

    Attributes:
        signer, wrapper: the keys for new records.
        queue_signer: signs queued records until `signer` does.
        is_queueing: whether new records are queued, because one of the active keys is in a key management service.
        wrappers: all wrapping keys by key id, including retired ones: each opens what it wrapped.
    """

    organization_id: uuid.UUID
    signer: Signer
    queue_signer: QueueSigner
    is_queueing: bool
    wrapper: KeyWrapper
    wrappers: Mapping[str, KeyWrapper]
    index_key: bytes = field(repr=False)


class _Known(NamedTuple):
    """A keyring, and the rows it was made from."""

    keyring: Keyring
    rows: list[tuple[Any, ...]]


_known: Remembered[uuid.UUID, _Known] = Remembered(_MAX_REMEMBERED)


def keyring(organization_id: uuid.UUID) -> Keyring:
    """Return the organization's keys, and make them on their first use. Another process's rotation shows within a
    second.

    Raises:
        KeyMissing: a key is missing, or a row has another key's secret.
        NotImported: a row's secret is still in a file.
        MasterKeyWrong: the rows are wrapped under another master key.
    """
    mark = changes.mark()
    known = _known.get(organization_id)
    return known.keyring if known else _read(organization_id, mark)


def refreshed(organization_id: uuid.UUID) -> Keyring:
    """Return the keys as the database has them now: another process may have rotated one in the last second.
    Raises as `keyring`."""
    return _read(organization_id, changes.mark())


def _read(organization_id: uuid.UUID, mark: str) -> Keyring:
    """Return the keyring in memory while its rows match those in the database, else a new one."""
    rows = list(Key.objects.for_organization(organization_id).order_by("pk").values_list(*_LOOKED_AT))
    last = _known.last(organization_id)
    keys = last.keyring if last and last.rows == rows else _load(organization_id)
    if rows:
        _known.add(organization_id, _Known(keys, rows), mark)
    return keys


def has_keys(organization_id: uuid.UUID) -> bool:
    """Whether the organization has keys. It makes none."""
    return Key.objects.for_organization(organization_id).exists()


def forget() -> None:
    """Have this process read all keys again."""
    _known.clear()


def new_key(organization_id: uuid.UUID, purpose: Purpose, secret: bytes = b"") -> Key:
    """Return an unsaved row of a local key.

    Args:
        secret: the secret of an existing key; "" makes a new one.
    """
    secret = secret or (Ed25519Signer.new_secret() if purpose is Purpose.SIGNING else os.urandom(_SECRET_BYTES))
    row = Key(organization_id=organization_id, purpose=purpose, key_id=id_of(purpose, secret))
    if purpose is Purpose.SIGNING:
        row.algorithm, row.public_pem = ED25519, Ed25519Signer(secret).public_pem
    else:
        row.algorithm = AES_KEY_WRAP if purpose is Purpose.WRAPPING else HMAC_SHA256
    row.wrap(secret)
    return row


def _load(organization_id: uuid.UUID) -> Keyring:
    rows = _rows(organization_id) or _make_first(organization_id)
    wrappers = {row.key_id: _wrapper(row) for row in rows if row.purpose == Purpose.WRAPPING}
    active = {row.purpose: row for row in rows if row.retired_at is None}
    if set(active) != set(Purpose):
        raise KeyMissing(because=f"organization {organization_id} has only {sorted(active)}")
    index, signing = active[Purpose.INDEX], active[Purpose.SIGNING]
    index_key = _secret(index)
    return Keyring(
        organization_id=organization_id,
        signer=Ed25519Signer(_secret(signing)) if _is_local(signing) else KmsSigner(signing),
        queue_signer=QueueSigner(index_key, index.key_id),
        is_queueing=not all(map(_is_local, active.values())),
        wrapper=wrappers[active[Purpose.WRAPPING].key_id],
        wrappers=wrappers,
        index_key=index_key,
    )


def _wrapper(row: Key) -> KeyWrapper:
    return AesKeyWrapper(_secret(row)) if _is_local(row) else EpochKeyWrapper(row)


def _is_local(row: Key) -> bool:
    return row.provider == Key.Provider.LOCAL


def _rows(organization_id: uuid.UUID) -> list[Key]:
    return list(Key.objects.for_organization(organization_id).order_by("pk"))


def _make_first(organization_id: uuid.UUID) -> list[Key]:
    wrapped_secrets.probe()  # make no key under a wrong master key
    made = [new_key(organization_id, purpose) for purpose in Purpose]
    Key.objects.bulk_create(made, ignore_conflicts=True)  # another process may be first
    return _rows(organization_id)


def _secret(row: Key) -> bytes:
    secret = row.unwrap()
    if not hmac.compare_digest(id_of(Purpose(row.purpose), secret), row.key_id):
        raise KeyMissing(because=f"{row.context} is another key")
    return secret


def id_of(purpose: Purpose, secret: bytes) -> str:
    """Return the id of a local key, which follows from its secret."""
    return Ed25519Signer(secret).key_id if purpose is Purpose.SIGNING else secret_key_id(secret)
