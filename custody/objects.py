"""A record's sealed bytes in a vault: one object or, where the vault lets nobody remove what it holds, two.

A record is destroyed by destroying its data key. So where objects are locked, the wrapped data key is an object of its
own below `keys/`, which is not, and the record's object lacks it.
"""

import uuid
from datetime import datetime
from typing import NamedTuple

from custody.models import data_key_key, object_key
from custody.sealing import sealer
from custody.vaults import ObjectMissing, Vault, VaultUnavailable


class DataKeyKept(VaultUnavailable):
    """The storage holds a record's wrapped data key in an object that it does not let us remove: the record is not
    destroyed.

    Attributes:
        until: when its lock ends, if the storage says so.
    """

    code = "data_key_kept"
    sentence = (
        "The storage does not let the record's data key be removed: it is locked, or the credentials may not delete it."
    )

    def __init__(self, *, until: datetime | None) -> None:
        super().__init__(because=f"the storage keeps the data key{f' until {until}' if until else ''}")
        self.until = until


class Removal(NamedTuple):
    """What the storage still has of a record that was removed.

    Attributes:
        is_kept: its sealed object is locked and stays, without its data key.
        kept_until: when that lock ends, if the storage says so.
        recoverable_until: until when the storage's provider can bring back what was removed, the data key too.
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
    """Put a record's sealed bytes. Touches the vault alone, for it runs in threads.

    What was there before is read back and compared: it may be our own attempt whose answer was lost. What was put now
    is read back where the vault does not compare checksums itself.

    Args:
        retain_until: until when it is to be locked, where objects are.

    Returns:
        Whether these bytes are there now; if not, another object has this key.

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
        # The record it was for never came, and nobody remembers it: it was in a database that is no more.
        vault.delete(key_of_dek)
        if not vault.put_new(key_of_dek, wrapped, lockable=False):
            raise VaultUnavailable(because="somebody else puts the same record")
    if _put_one(vault, key, locked, retain_until):
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
    if vault.transactional or sealer.unpack(body)[0].wrapped_dek:
        return body
    return sealer.put_together(body, vault.get(data_key_key(organization_id, record_id)))


def has(vault: Vault, organization_id: uuid.UUID, record_id: uuid.UUID) -> bool:
    """Whether a record lies there, damaged or not, with its data key. Raises VaultUnavailable."""
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
    """Destroy a record: its wrapped data key first, then its sealed bytes, every version of both. It can be repeated at
    any time, and what is not there is no error. Touches the vault alone, for it may run in threads.

    A sealed object that is locked may stay, if it lacks the data key. Storage that locks nothing now may have done so
    once: both objects are looked for in every vault.

    Raises:
        DataKeyKept: it can still be read, with the customer's key.
        VaultUnavailable
    """
    of_key = vault.erase(data_key_key(organization_id, record_id))
    if of_key.kept:
        raise DataKeyKept(until=of_key.kept_until)
    of_record = vault.erase(object_key(organization_id, record_id))
    if any(_may_have_data_key(body) for body in of_record.kept):
        raise DataKeyKept(until=of_record.kept_until)
    ends = [each.recoverable_until for each in (of_key, of_record) if each.recoverable_until]
    return Removal(bool(of_record.kept), of_record.kept_until, max(ends, default=None))


def _may_have_data_key(body: bytes) -> bool:
    try:
        return bool(sealer.unpack(body)[0].wrapped_dek)
    except sealer.Damaged:
        return True


def _put_one(vault: Vault, key: str, body: bytes, retain_until: datetime | None = None) -> bool:
    is_new = vault.put_new(key, body, retain_until=retain_until) if retain_until else vault.put_new(key, body)
    return (is_new and vault.compares_checksums) or vault.get(key) == body
