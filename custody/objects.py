"""A record's sealed bytes in a vault: one object or, where the vault lets nobody remove what it holds, two.

A record is destroyed by destroying its data key. So where objects are locked, the wrapped data key is an object of its
own below `keys/`, which is not, and the record's object lacks it.
"""

import uuid
from datetime import datetime
from typing import NamedTuple

from custody import sealing
from custody.models import data_key_key, object_key
from custody.vaults import ObjectMissing, Vault, VaultUnavailable


def put(vault: Vault, organization_id: uuid.UUID, record_id: uuid.UUID, body: bytes) -> bool:
    """Put a record's sealed bytes. Touches the vault alone, for it runs in threads.

    What was there before is read back and compared: it may be our own attempt whose answer was lost. What was put now
    is read back where the vault does not compare checksums itself.

    Returns:
        Whether these bytes are there now; if not, another object has this key.

    Raises:
        VaultUnavailable, ObjectMissing
    """
    key = object_key(organization_id, record_id)
    if not vault.immutable:
        return _put_one(vault, key, body)
    locked, wrapped = sealing.take_apart(body)
    key_of_dek = data_key_key(organization_id, record_id)
    is_new = vault.put_new(key_of_dek, wrapped, lockable=False)
    if not is_new and vault.get(key_of_dek) != wrapped:
        if vault.has(key):
            return False
        # The record it was for never came, and nobody remembers it: it was in a database that is no more.
        vault.delete(key_of_dek)
        if not vault.put_new(key_of_dek, wrapped, lockable=False):
            raise VaultUnavailable(because="somebody else puts the same record")
    if _put_one(vault, key, locked):
        return True
    if is_new:
        vault.delete(key_of_dek)
    return vault.get(key) == body  # as it was put before the vault was locked


def get(vault: Vault, organization_id: uuid.UUID, record_id: uuid.UUID) -> bytes:
    """A record's sealed bytes, as they were put.

    Raises:
        VaultUnavailable, ObjectMissing
        Damaged: what is there is no record.
    """
    body = vault.get(object_key(organization_id, record_id))
    if vault.transactional or sealing.unpack(body)[0].wrapped_dek:
        return body
    return sealing.put_together(body, vault.get(data_key_key(organization_id, record_id)))


def has(vault: Vault, organization_id: uuid.UUID, record_id: uuid.UUID) -> bool:
    """Whether a record lies there, damaged or not, with its data key. Raises VaultUnavailable."""
    if not vault.immutable:
        return vault.has(object_key(organization_id, record_id))
    try:
        get(vault, organization_id, record_id)
    except ObjectMissing:
        return False
    except sealing.Damaged:
        pass
    return True


def _put_one(vault: Vault, key: str, body: bytes) -> bool:
    return (vault.put_new(key, body) and vault.compares_checksums) or vault.get(key) == body


class Removal(NamedTuple):
    """What is left of a record whose data key is gone.

    Attributes:
        kept_until: when the lock of its object ends.
        recoverable_until: until when whoever administers the storage can bring it back.
    """

    kept_until: datetime | None = None
    recoverable_until: datetime | None = None


def remove(vault: Vault, organization_id: uuid.UUID, record_id: uuid.UUID) -> Removal:
    vault.delete(data_key_key(organization_id, record_id))
    vault.delete(object_key(organization_id, record_id))
    return Removal()
