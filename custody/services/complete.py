"""Puts of reserved records into their vaults, and adoption of objects that a vault already holds."""

import time
import uuid
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

import structlog
from django.db import IntegrityError, transaction
from django.db.models import Q

from accounts import audit
from config import leases
from config.errors import DomainError, Fault
from config.http import strict_json
from config.http.strict_json import spelling
from custody import objects, record_types, selectors, vaults
from custody.keys.keyrings import keyring
from custody.models import Entry, Key, WaitingObject
from custody.record_types import Indexing
from custody.rows.bulk_finish import finish
from custody.sealing import sealer
from custody.sealing.sealer import Damaged, Opened
from custody.services.dispose import reopen_disposals
from custody.vaults import ObjectMissing, Vault, VaultUnavailable, lock_periods

log = structlog.get_logger("custody")

_SECONDS = 20
"""No put begins later than this, so that the last ones end within the lease."""


class Put(StrEnum):
    """Result of putting an object."""

    STORED = "stored"
    OTHER_OBJECT = "another object has this key"
    UNAVAILABLE = "unavailable"


class NotAdoptable(Fault):
    """An object in a vault cannot become a record of the database. The sentence names the cause, without contents."""

    code = "not_adoptable"


class ParentMissing(NotAdoptable):
    """The object builds on a record that the database does not have now. Another object may restore that record."""


class StoredObject(NamedTuple):
    """An object in a vault under the key of a record. The database may or may not have its row."""

    organization_id: uuid.UUID
    record_id: uuid.UUID
    target_id: str


def complete(waiting: Sequence[WaitingObject]) -> set[uuid.UUID]:
    """Put waiting objects into their vaults and mark their records stored, unless another worker has claimed them
    since they were read.

    Args:
        waiting: with their entries.

    Returns:
        The ids of the records that are stored now, whether by this call or by another worker. The others stay reserved
        or, where the vault already held another object under the key, were settled by that object.
    """
    opened_vaults = {target_id: _vault_of(target_id) for target_id in {row.record.target_id for row in waiting}}
    locking = {target_id for target_id, vault in opened_vaults.items() if vault and vault.may_lock}
    owners = {row.record.organization_id for row in waiting if row.record.target_id in locking}
    days = {organization_id: lock_periods.days_of(organization_id) for organization_id in owners}
    ends = time.monotonic() + _SECONDS

    def put_into_its_vault(row: WaitingObject) -> Put:
        vault = opened_vaults[row.record.target_id]
        if vault is None or time.monotonic() >= ends:
            return Put.UNAVAILABLE
        until = lock_periods.until(row.record.received_at, days.get(row.record.organization_id))
        return put(vault, row.record.organization_id, row.pk, bytes(row.body), retain_until=until)

    def is_ours(row: WaitingObject) -> bool:  # threads have no connection to our database
        vault = opened_vaults[row.record.target_id]
        return len(waiting) == 1 or vault is None or vault.transactional

    here = [row for row in waiting if is_ours(row)]
    elsewhere = [row for row in waiting if not is_ours(row)]
    outcomes = [(row, put_into_its_vault(row)) for row in here]
    with ExitStack() as stack:  # one pool for each vault: all threads of another pool may be waiting
        pools = {
            target_id: stack.enter_context(ThreadPoolExecutor(vault.parallel_puts))
            for target_id, vault in opened_vaults.items()
            if vault
        }
        puts = [(row, pools[row.record.target_id].submit(put_into_its_vault, row)) for row in elsewhere]
        outcomes += [(row, result.result()) for row, result in puts]
    stored = mark_stored([row for row, result in outcomes if result is Put.STORED])
    for row in (row for row, result in outcomes if result is Put.OTHER_OBJECT):
        adopt_or_log(StoredObject(row.record.organization_id, row.pk, row.record.target_id), waiting=row)
    return stored


def _vault_of(target_id: str) -> Vault | None:
    """Return the vault, or None if it does not answer now. Records of other vaults are still put."""
    try:
        return vaults.of(target_id)
    except VaultUnavailable as error:
        log.error("vault unavailable", target=target_id, reason=str(error))
        return None


def put(
    vault: Vault,
    organization_id: uuid.UUID,
    record_id: uuid.UUID,
    body: bytes,
    *,
    retain_until: datetime | None = None,
) -> Put:
    """Put a record's sealed bytes. Uses only the vault, because it runs in threads without a database connection."""
    try:
        is_there = objects.put(vault, organization_id, record_id, body, retain_until=retain_until)
        return Put.STORED if is_there else Put.OTHER_OBJECT
    except (VaultUnavailable, ObjectMissing) as error:
        log.warning("vault unavailable", reason=str(error))
    except Damaged as error:  # of the waiting object: it keeps waiting and stops no other record
        log.error("a waiting object is damaged", record_id=str(record_id), reason=str(error))
    return Put.UNAVAILABLE


def mark_stored(there: Sequence[WaitingObject]) -> set[uuid.UUID]:
    """Mark records stored and drop their waiting copies, where the lease has not changed and the row still expects
    this object with this signature.

    Returns the ids of the records that are stored.
    """
    if not there:
        return set()
    mine = finish(there)
    if len(mine) == len(there):
        return mine
    expected = {row.pk: (row.record.target_id, bytes(row.record.signature)) for row in there}
    reopen_disposals(expected)
    entries = Entry.objects.unscoped("records of several organizations are finished together")
    stored = entries.filter(pk__in=expected.keys() - mine, state=Entry.State.STORED)
    rows = stored.values_list("pk", "target", "signature")
    return mine | {pk for pk, target_id, signature in rows if (target_id, bytes(signature)) == expected[pk]}


def adopt_or_log(vault_object: StoredObject, *, waiting: WaitingObject | None = None) -> bool:
    """Adopt an object, or log why it cannot be adopted: other records continue. Return whether it is the record now."""
    try:
        return adopt(vault_object, waiting=waiting)
    except NotAdoptable as error:
        log.error("object in the vault cannot be adopted", record_id=str(vault_object.record_id), reason=str(error))
        return False


def adopt(vault_object: StoredObject, *, waiting: WaitingObject | None = None) -> bool:
    """Make the object in the vault the record: it was acknowledged once, and the database has lost its row.

    The object's statement, signature, time and content replace the reserved ones, or fill the missing row. A stored
    record is never replaced.

    Args:
        waiting: the object reserved under the same key. If another worker has claimed it since, nothing is done.

    Returns:
        Whether it is the record now. A destroyed record is not: its data key is gone.

    Raises:
        ParentMissing: it builds on a record that the database does not have.
        NotAdoptable: this record's keys, object, vault or rows do not allow it.
    """
    try:
        adoption = _read(vault_object, waiting)
    except NotAdoptable:
        raise
    except ObjectMissing:  # a destroyed record has no data key any more
        log.info("object in the vault has no data key", record_id=str(vault_object.record_id))
        return False
    except Fault as error:
        raise NotAdoptable(f"It cannot be opened: {error}") from error
    try:
        restore = record_types.get(adoption.record.kind).restore(adoption.record, adoption.opened.payload)
        with transaction.atomic():
            if not (_still_belongs(waiting, vault_object) if waiting else _is_unknown(vault_object)):
                return False
            restore()
            _save(adoption, vault_object, waiting)
    except NotAdoptable:
        raise
    except IntegrityError as error:
        if waiting is None and not _is_unknown(vault_object):  # another worker has adopted it meanwhile
            return False
        raise NotAdoptable("The database has rows that contradict it.") from error
    except DomainError as error:
        raise NotAdoptable(f"The rows about it cannot be restored: {error}") from error
    log.info("adopted from the vault", record_id=str(vault_object.record_id))
    return True


class _Adoption(NamedTuple):
    """The content of an object to adopt, and whether the object reserved under its key has other content."""

    record: Indexing
    opened: Opened
    conflicts: bool


def _read(vault_object: StoredObject, waiting: WaitingObject | None) -> _Adoption:
    """Open and verify an object, and require the records that it builds on."""
    organization_id, record_id = vault_object.organization_id, vault_object.record_id
    body = objects.get(vaults.of(vault_object.target_id), organization_id, record_id)
    opened = sealer.unseal(keyring(organization_id), record_id, body)
    claims = selectors.verified_claims(organization_id, record_id, opened)
    content = strict_json.read(opened.payload, number=spelling, integer=spelling)
    _require_parents(organization_id, record_types.get(claims.kind).parents(content))
    record = Indexing(record_id, organization_id, claims.kind, content, claims.received_at, source="vault")
    return _Adoption(record, opened, waiting is not None and _says_other(waiting, opened))


def _save(adoption: _Adoption, vault_object: StoredObject, waiting: WaitingObject | None) -> None:
    """Save the rows of an adopted object, in place of those of the reserved one."""
    record, header = adoption.record, adoption.opened.header
    record_types.index_row(record).save()  # before the entry, because it cannot change once the entry is stored
    Entry(
        record_id=record.record_id,
        organization_id=record.organization_id,
        kind=record.kind,
        received_at=record.received_at,
        statement=header.statement,
        signature=header.signature,
        key_id=header.key_id,
        target_id=vault_object.target_id,
        state=Entry.State.STORED,
    ).save(force_insert=waiting is None)
    _admit(record.organization_id, header.key_id, record.received_at)
    if waiting:
        WaitingObject.objects.for_organization(record.organization_id).filter(pk=waiting.pk).delete()
    if adoption.conflicts:
        _record_conflict(vault_object)


def _require_parents(organization_id: uuid.UUID, parents: Iterable[uuid.UUID]) -> None:
    """Require that the records an object builds on are here and not disposed of. Raises NotAdoptable."""
    ids = list(parents)
    rows = Entry.objects.for_organization(organization_id).filter(pk__in=ids)
    states = dict(rows.values_list("pk", "state")) if ids else {}
    if missing := [str(pk) for pk in ids if pk not in states]:
        raise ParentMissing(f"It builds on a record that the database does not have: {', '.join(missing)}.")
    if Entry.State.DISPOSED in states.values():
        raise NotAdoptable("It builds on a record that was disposed of.")


def _admit(organization_id: uuid.UUID, key_id: str, received_at: datetime) -> None:
    """Move the key's `valid_from` back to the record. A key that is added to a restored database again would be younger
    than the records it signed."""
    keys = Key.objects.for_organization(organization_id).filter(key_id=key_id, created_at__gt=received_at)
    keys.filter(Q(valid_from=None) | Q(valid_from__gt=received_at)).update(valid_from=received_at)


def _says_other(waiting: WaitingObject, opened: Opened) -> bool:
    """Whether the reserved object has other content than the object in the vault. Raises KmsUnavailable."""
    try:
        payload = sealer.unseal(keyring(waiting.record.organization_id), waiting.pk, bytes(waiting.body)).payload
    except Damaged:
        return True
    return payload != opened.payload and strict_json.content(payload) != strict_json.content(opened.payload)


def _record_conflict(vault_object: StoredObject) -> None:
    """Record in the audit trail that the vault's object won: the sender of the other content may have got "queued"."""
    audit.record(
        "record.conflict",
        actor=audit.SYSTEM,
        organization_id=vault_object.organization_id,
        object_kind="record",
        object_id=vault_object.record_id,
        source="vault",
    )


def _is_unknown(vault_object: StoredObject) -> bool:
    return not Entry.objects.for_organization(vault_object.organization_id).filter(pk=vault_object.record_id).exists()


def _still_belongs(waiting: WaitingObject, vault_object: StoredObject) -> bool:
    """Whether the object is still reserved in this target and its lease is still ours."""
    held = leases.unchanged([waiting]).filter(record__state=Entry.State.RESERVED, record__target=vault_object.target_id)
    return held.values_list("pk").first() is not None
