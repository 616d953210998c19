"""Putting what is reserved into its vault, and letting what a vault holds already be the record."""

import time
import uuid
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

import structlog
from django.db import IntegrityError, transaction
from django.db.models import Q

from accounts import audit
from config import leases
from config.errors import Fault
from config.http import strict_json
from config.http.strict_json import spelling
from custody import objects, record_types, selectors, vaults
from custody.disposal import retain
from custody.keys.keyrings import keyring
from custody.models import Entry, Key, WaitingObject
from custody.record_types import Indexing
from custody.rows.bulk_finish import finish
from custody.sealing import sealer
from custody.sealing.sealer import Damaged, Opened
from custody.services.reopening import reopen_disposals
from custody.vaults import ObjectMissing, Vault, VaultUnavailable

log = structlog.get_logger("custody")

_SECONDS = 20
"""After so long no put begins any more, so that the last ones end within the lease."""


class Put(StrEnum):
    """What became of putting an object."""

    STORED = "stored"
    OTHER_OBJECT = "another object has this key"
    UNAVAILABLE = "unavailable"


class StoredObject(NamedTuple):
    """An object that lies in a vault under the key of a record, whatever the database knows of it."""

    organization_id: uuid.UUID
    record_id: uuid.UUID
    target_id: str


def complete(waiting: Sequence[WaitingObject]) -> set[uuid.UUID]:
    """Put waiting objects into their vaults and mark their records stored, unless somebody else has claimed them since
    they were read.

    Args:
        waiting: with their entries.

    Returns:
        The ids of those whose objects are stored now, whoever has said so. The others stay reserved or, where the vault
        already held another object under the key, were settled by that object.
    """
    made = {target_id: _vault_of(target_id) for target_id in {each.record.target_id for each in waiting}}
    locking = {target_id for target_id, vault in made.items() if vault and vault.may_lock}
    owners = {each.record.organization_id for each in waiting if each.record.target_id in locking}
    days = {organization_id: retain.days_of(organization_id) for organization_id in owners}
    ends = time.monotonic() + _SECONDS

    def put_into_its_vault(each: WaitingObject) -> Put:
        vault = made[each.record.target_id]
        if vault is None or time.monotonic() >= ends:
            return Put.UNAVAILABLE
        until = retain.until(each.record.received_at, days.get(each.record.organization_id))
        return put(vault, each.record.organization_id, each.pk, bytes(each.body), retain_until=until)

    def is_ours(each: WaitingObject) -> bool:  # threads have no connection to our own database
        vault = made[each.record.target_id]
        return len(waiting) == 1 or vault is None or vault.transactional

    here = [each for each in waiting if is_ours(each)]
    elsewhere = [each for each in waiting if not is_ours(each)]
    outcomes = [(each, put_into_its_vault(each)) for each in here]
    with ExitStack() as stack:  # each vault has threads of its own, for another's may all wait
        pools = {
            target_id: stack.enter_context(ThreadPoolExecutor(vault.parallel_puts))
            for target_id, vault in made.items()
            if vault
        }
        puts = [(each, pools[each.record.target_id].submit(put_into_its_vault, each)) for each in elsewhere]
        outcomes += [(each, result.result()) for each, result in puts]
    stored = mark_stored([row for row, result in outcomes if result is Put.STORED])
    for each in (each for each, result in outcomes if result is Put.OTHER_OBJECT):
        try:
            adopt(StoredObject(each.record.organization_id, each.pk, each.record.target_id), waiting=each)
        except IntegrityError as error:  # it contradicts the index: it waits, and stops no other
            log.error("object in the vault cannot be adopted", record_id=str(each.pk), exc_info=error)
    return stored


def _vault_of(target_id: str) -> Vault | None:
    """None if this vault does not answer now; records of the others still get to theirs."""
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
    """Put a record's sealed bytes. Touches the vault alone, for it runs in threads."""
    try:
        is_there = objects.put(vault, organization_id, record_id, body, retain_until=retain_until)
        return Put.STORED if is_there else Put.OTHER_OBJECT
    except (VaultUnavailable, ObjectMissing) as error:
        log.warning("vault unavailable", reason=str(error))
    except Damaged as error:  # the waiting object: it waits, and stops no other
        log.error("a waiting object is damaged", record_id=str(record_id), reason=str(error))
    return Put.UNAVAILABLE


def mark_stored(there: Sequence[WaitingObject]) -> set[uuid.UUID]:
    """Say that these lie in their vaults, and drop the waiting copies: only where the lease is as it was, and where the
    row says by now too that this object, with this signature, belongs there.

    Returns the ids of those that are stored.
    """
    if not there:
        return set()
    mine = finish(there)
    if len(mine) == len(there):
        return mine
    expected = {each.pk: (each.record.target_id, bytes(each.record.signature)) for each in there}
    reopen_disposals(expected)
    entries = Entry.objects.unscoped("records of several organizations are finished together")
    others = entries.filter(pk__in=expected.keys() - mine, state=Entry.State.STORED)
    rows = others.values_list("pk", "target", "signature")
    return mine | {pk for pk, target_id, signature in rows if (target_id, bytes(signature)) == expected[pk]}


def adopt(found: StoredObject, *, waiting: WaitingObject | None = None) -> bool:
    """Let the object in the vault be the record: it was acknowledged once, and the database has forgotten it.

    Its statement, signature, time and content replace what was reserved, or become the missing row. A record that is
    stored is never replaced.

    Args:
        waiting: what was reserved under the same key. Nothing is done if somebody else has claimed it since.

    Returns:
        Whether it is the record now.
    """
    try:
        body = objects.get(vaults.of(found.target_id), found.organization_id, found.record_id)
        opened = sealer.unseal(keyring(found.organization_id), found.record_id, body)
        claims = selectors.verified_claims(found.organization_id, found.record_id, opened)
        content = strict_json.read(opened.payload, number=spelling, integer=spelling)
        conflicts = waiting is not None and _says_other(waiting, opened)
    except ObjectMissing:  # what is left of a record that was destroyed lacks its data key, and stays so
        log.info("object in the vault has no data key", record_id=str(found.record_id))
        return False
    except Fault as error:  # of this record's keys, object or vault: others go on
        log.error("object in the vault cannot be adopted", record_id=str(found.record_id), reason=str(error))
        return False
    identity: dict[str, Any] = {
        "organization_id": found.organization_id,
        "kind": claims.kind,
        "received_at": claims.received_at,
    }
    sealed = {name: getattr(opened.header, name) for name in ("statement", "signature", "key_id")}
    stored = {"target_id": found.target_id, "state": Entry.State.STORED}
    index = record_types.index_row(Indexing(record_id=found.record_id, content=content, source="vault", **identity))
    with transaction.atomic():
        if not (_still_belongs(waiting, found) if waiting else _is_unknown(found)):
            return False
        index.save()  # first, for it may change only until the entry is stored
        Entry(record_id=found.record_id, **identity, **sealed, **stored).save(force_insert=waiting is None)
        _admit(found.organization_id, opened.header.key_id, claims.received_at)
        if waiting:
            WaitingObject.objects.for_organization(found.organization_id).filter(pk=waiting.pk).delete()
        if conflicts:
            _record_conflict(found)
    log.info("adopted from the vault", record_id=str(found.record_id))
    return True


def _admit(organization_id: uuid.UUID, key_id: str, received_at: datetime) -> None:
    """Let the key list admit the record: a key that a restored database had forgotten is younger there than the
    records that it signed."""
    keys = Key.objects.for_organization(organization_id).filter(key_id=key_id, created_at__gt=received_at)
    keys.filter(Q(valid_from=None) | Q(valid_from__gt=received_at)).update(valid_from=received_at)


def _says_other(waiting: WaitingObject, opened: Opened) -> bool:
    """Whether what was reserved has other content than the object in the vault. Raises KmsUnavailable."""
    try:
        payload = sealer.unseal(keyring(waiting.record.organization_id), waiting.pk, bytes(waiting.body)).payload
    except Damaged:
        return True
    return payload != opened.payload and strict_json.content(payload) != strict_json.content(opened.payload)


def _record_conflict(found: StoredObject) -> None:
    """Whoever sent the other content may have been told that it is queued: the audit trail says what became of it."""
    audit.record(
        "record.conflict",
        actor=audit.SYSTEM,
        organization_id=found.organization_id,
        object_kind="record",
        object_id=found.record_id,
        source="vault",
    )


def _is_unknown(found: StoredObject) -> bool:
    return not Entry.objects.for_organization(found.organization_id).filter(pk=found.record_id).exists()


def _still_belongs(waiting: WaitingObject, found: StoredObject) -> bool:
    """Whether what was reserved is still reserved there, and still ours to finish."""
    held = leases.unchanged([waiting]).filter(record__state=Entry.State.RESERVED, record__target=found.target_id)
    return held.values_list("pk").first() is not None
