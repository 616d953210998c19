"""Sealed bytes of records in a vault: one object for each record, or two where objects may be locked.

A record is destroyed by destroying its data key. So where objects are locked, the wrapped data key is a separate,
unlocked object below `keys/`, and the record's object lacks it.
"""

import uuid
from datetime import datetime
from typing import NamedTuple

from custody.models import data_key_key, object_key
from custody.sealing import sealer
from custody.vaults import ObjectMissing, Vault, VaultUnavailable


class DataKeyKept(VaultUnavailable):
    """The storage does not let us remove the object with a record's wrapped data key. The record is not destroyed.

    Attributes:
        until: end of its lock, if the storage reports it.
    """

    code = "data_key_kept"
    sentence = (
        "The storage does not let the record's data key be removed: it is locked, or the credentials may not delete it."
    )

    def __init__(self, *, until: datetime | None) -> None:
        super().__init__(because=f"the storage keeps the data key{f' until {until}' if until else ''}")
        self.until = until


class Removal(NamedTuple):
    """The remains of a removed record in the storage.

    Attributes:
        is_kept: its sealed object is locked and stays, without its data key.
        kept_until: end of that lock, if the storage reports it.
        recoverable_until: end of the time in which the storage's provider can restore it, with its data key.
    """

    is_kept: bool = False
    kept_until: datetime | None = None
    recoverable_until: datetime | None = None


def put(
    vault: Vault,
    organization_id: uuid.UUID,
    record_id: uuid.UUID,
    body: bytes,
    *,
    retain_until: datetime | None = None,
) -> bool:
    """Put a record's sealed bytes. Uses only the vault, because it runs in threads without a database connection.

    An object that existed before is read back and compared: it may be from an earlier attempt whose answer was lost. A
    new object is read back where the vault does not compare checksums.

    Args:
        retain_until: end of the object's lock, in vaults with locks.

    Returns:
        Whether the vault now has these bytes; if not, another object has this key.

    Raises:
        VaultUnavailable, ObjectMissing
    """
    key = object_key(organization_id, record_id)
    if not vault.immutable:
        return _put_one(vault, key, body)
    locked, wrapped = sealer.take_apart(body)
    key_of_dek = data_key_key(organization_id, record_id)
    is_new = vault.put_new(key_of_dek, wrapped, lockable=False)
    if not is_new and vault.get(key_of_dek) != wrapped:
        if vault.has(key):
            return False
        # A leftover: its record was never put, and its row was lost with an earlier database.
        vault.delete(key_of_dek)
        if not vault.put_new(key_of_dek, wrapped, lockable=False):
            raise VaultUnavailable(because="another installation puts the same record")
    if _put_one(vault, key, locked, retain_until):
        return True
    if is_new:
        vault.delete(key_of_dek)
    return vault.get(key) == body  # a whole object, put before the vault had locks


def get(vault: Vault, organization_id: uuid.UUID, record_id: uuid.UUID) -> bytes:
    """Return a record's sealed bytes.

    Raises:
        VaultUnavailable, ObjectMissing
        Damaged: the object is not a record.
    """
    body = vault.get(object_key(organization_id, record_id))
    if vault.transactional or sealer.unpack(body)[0].wrapped_dek:
        return body
    return sealer.put_together(body, vault.get(data_key_key(organization_id, record_id)))


def has(vault: Vault, organization_id: uuid.UUID, record_id: uuid.UUID) -> bool:
    """Whether the vault has a record with its data key, damaged or not. Raises VaultUnavailable."""
    if not vault.may_lock:
        return vault.has(object_key(organization_id, record_id))
    try:
        get(vault, organization_id, record_id)
    except ObjectMissing:
        return False
    except sealer.Damaged:
        pass
    return True


def remove(vault: Vault, organization_id: uuid.UUID, record_id: uuid.UUID) -> Removal:
    """Destroy a record: every version of its wrapped data key, then of its sealed bytes. It can be repeated,
    and a missing object is no error. Uses only the vault, because it may run in threads without a database connection.

    A locked object may stay if it lacks the data key. Storage without locks may have had them before, so both objects
    are looked for in every vault.

    Raises:
        DataKeyKept: the record can still be read, with the customer's key.
        VaultUnavailable
    """
    of_key = vault.erase(data_key_key(organization_id, record_id))
    if of_key.bodies:
        raise DataKeyKept(until=of_key.kept_until)
    of_record = vault.erase(object_key(organization_id, record_id))
    if any(_may_have_data_key(body) for body in of_record.bodies):
        raise DataKeyKept(until=of_record.kept_until)
    ends = [remains.recoverable_until for remains in (of_key, of_record) if remains.recoverable_until]
    return Removal(bool(of_record.bodies), of_record.kept_until, max(ends, default=None))


def _may_have_data_key(body: bytes) -> bool:
    try:
        return bool(sealer.unpack(body)[0].wrapped_dek)
    except sealer.Damaged:
        return True


def _put_one(vault: Vault, key: str, body: bytes, retain_until: datetime | None = None) -> bool:
    is_new = vault.put_new(key, body, retain_until=retain_until) if retain_until else vault.put_new(key, body)
    return (is_new and vault.compares_checksums) or vault.get(key) == body
