"""Putting what is reserved into its vault, and letting what a vault holds already be the record."""

import uuid
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from typing import Any, NamedTuple

import structlog
from django.db import IntegrityError, transaction

from config.api import strict_json
from config.api.strict_json import spelling
from custody import record_types, sealing, selectors, vaults
from custody.keys import keyring
from custody.models import Entry, SealedObject, object_key
from custody.record_types import Indexing
from custody.vaults import ObjectMissing, Vault, VaultUnavailable

log = structlog.get_logger("custody")

_PARALLEL_PUTS = 8


class Unfinished(NamedTuple):
    """A reserved record: sealed in our database, its object not yet known to be in its vault."""

    organization_id: uuid.UUID
    record_id: uuid.UUID
    target_id: str
    body: bytes = b""
    signature: bytes = b""

    @classmethod
    def of(cls, entry: Entry, body: bytes) -> "Unfinished":
        return cls(entry.organization_id, entry.record_id, entry.target_id, body, bytes(entry.signature))

    @property
    def key(self) -> str:
        return object_key(self.organization_id, self.record_id)


def with_bodies(entries: Sequence[Entry]) -> list[Unfinished]:
    """Reserved entries with their waiting objects; an entry without one was finished by somebody else meanwhile."""
    keys = {entry.pk: object_key(entry.organization_id, entry.pk) for entry in entries}
    bodies = SealedObject.objects.in_bulk(keys.values())
    return [Unfinished.of(entry, bytes(bodies[keys[entry.pk]].body)) for entry in entries if keys[entry.pk] in bodies]


def finish(unfinished: Sequence[Unfinished]) -> set[uuid.UUID]:
    """Put the objects and mark their records stored. Returns the ids that were; the others stay reserved or, where
    the vault already held another object under the key, were settled by that object."""
    made = {each.target_id: vaults.of(each.target_id) for each in unfinished}

    def put(each: Unfinished) -> _Put:
        return _put(made[each.target_id], each)

    if len(unfinished) > 1:
        with ThreadPoolExecutor(_PARALLEL_PUTS) as pool:
            results = list(pool.map(put, unfinished))
    else:
        results = [put(each) for each in unfinished]
    outcomes = list(zip(unfinished, results, strict=True))
    stored: set[uuid.UUID] = set()
    for target_id in made:
        there = [each for each, result in outcomes if each.target_id == target_id and result is _Put.STORED]
        stored |= _mark_stored(target_id, there)
    for each in (each for each, result in outcomes if result is _Put.OTHER_OBJECT):
        try:
            adopt(each)
        except IntegrityError as error:  # it contradicts the index: it waits, and stops no other
            log.error("object in the vault cannot be adopted", record_id=str(each.record_id), exc_info=error)
    return stored


def _mark_stored(target_id: str, put: Sequence[Unfinished]) -> set[uuid.UUID]:
    """Say that these lie in their vault, and drop their waiting copies: only where the row says by now too that this
    object, with this signature, belongs there, and where the copy is not itself what the vault keeps.

    Returns the ids of those that are stored.
    """
    signatures = {each.record_id: each.signature for each in put}
    with transaction.atomic():
        entries = Entry.objects.unscoped("entries of several organizations are completed together")
        rows = entries.filter(pk__in=signatures, target=target_id).order_by("pk").select_for_update()
        stored = {pk for pk, signature in rows.values_list("pk", "signature") if bytes(signature) == signatures[pk]}
        entries.filter(pk__in=stored).update(state=Entry.State.STORED, lease_until=None)
        if not vaults.of(target_id).transactional:
            SealedObject.objects.filter(key__in=[each.key for each in put if each.record_id in stored]).delete()
    return stored


class _Put(StrEnum):
    STORED = "stored"
    OTHER_OBJECT = "another object has this key"
    UNAVAILABLE = "unavailable"


def _put(vault: Vault, each: Unfinished) -> _Put:
    """Runs in threads: touches the vault alone.

    What is there is read back and compared: "exists" may be our own earlier attempt whose answer was lost, and the copy
    in the database is given up on nobody's word.
    """
    try:
        vault.put_new(each.key, each.body)
        return _Put.STORED if vault.get(each.key) == each.body else _Put.OTHER_OBJECT
    except (VaultUnavailable, ObjectMissing) as error:
        log.warning("vault unavailable", vault=each.target_id, reason=str(error))
        return _Put.UNAVAILABLE


def adopt(each: Unfinished) -> bool:
    """Let the object in the vault be the record: it was acknowledged once, and the database has forgotten it.

    Its statement, signature, time and content replace what was reserved, or become the missing row. A record that is
    stored is never replaced.
    """
    keys = keyring(each.organization_id)
    try:
        opened = sealing.unseal(keys, each.record_id, vaults.of(each.target_id).get(each.key))
        claims = selectors.verified_claims(each.organization_id, each.record_id, opened)
        content = strict_json.read(opened.payload, number=spelling, integer=spelling)
    except (sealing.Damaged, ObjectMissing, VaultUnavailable) as error:
        log.error("object in the vault cannot be adopted", record_id=str(each.record_id), reason=str(error))
        return False
    identity: dict[str, Any] = {
        "organization_id": each.organization_id,
        "kind": claims.kind,
        "received_at": claims.received_at,
    }
    sealed = {name: getattr(opened.header, name) for name in ("statement", "signature", "key_id")}
    stored = {"target_id": each.target_id, "state": Entry.State.STORED, "lease_until": None}
    index = record_types.index_row(Indexing(record_id=each.record_id, content=content, source="vault", **identity))
    with transaction.atomic():
        known = (
            Entry.objects.for_organization(each.organization_id).select_for_update().filter(pk=each.record_id).first()
        )
        if known and (known.state, known.target_id) != (Entry.State.RESERVED, each.target_id):
            return False
        Entry(record_id=each.record_id, **identity, **sealed, **stored).save(force_insert=not known)
        index.save()
        if not vaults.of(each.target_id).transactional:  # there the sealed object is the record, not a waiting copy
            SealedObject.objects.filter(key=each.key).delete()
    log.info("adopted from the vault", record_id=str(each.record_id))
    return True
