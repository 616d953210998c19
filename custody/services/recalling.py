"""Restore index rows of single records that a vault still holds, for example after a database restore."""

import math
import time
import uuid
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from weakref import WeakKeyDictionary

import structlog
from django.db import IntegrityError

from custody import objects, vaults
from custody.keys.keyrings import keyring
from custody.models import Entry
from custody.sealing import sealer
from custody.services import searching
from custody.services.complete import StoredObject, adopt
from custody.vaults import Vault, VaultUnavailable, storage_targets

log = structlog.get_logger("custody")

_PARALLEL_LOOKS = 8
_PAUSE_SECONDS = 60.0
_SLOW_SECONDS = 2.0
_unavailable: WeakKeyDictionary[Vault, float] = WeakKeyDictionary()
"""When records may ask an earlier vault again that did not answer in time."""


def recall(*, organization_id: uuid.UUID, identity: str) -> None:
    """Restore one record's row if a vault has its object and the database has no row.

    Args:
        identity: the input of its id.

    Raises:
        VaultUnavailable: the current vault does not answer.
    """
    record_id = sealer.record_id(sealer.reference(keyring(organization_id), identity))
    if Entry.objects.for_organization(organization_id).filter(pk=record_id).exists():
        return
    target_id = storage_targets.current(organization_id).pk
    if objects.has(vaults.of(target_id), organization_id, record_id):
        adopt(StoredObject(organization_id, record_id, target_id))
    else:
        recall_earlier(organization_id, {record_id})


def recall_earlier(organization_id: uuid.UUID, record_ids: Collection[uuid.UUID]) -> None:
    """Restore the rows of records that an earlier target holds. Otherwise they would be stored a second time.

    A bucket is asked until `searching` has compared it with our rows, and again after a database restore. A target that
    does not answer in time is skipped for a minute: it may be gone for good. The database vault is not asked, because
    a restore loses its objects together with their rows.
    """
    to_search, searched = storage_targets.earlier(organization_id)
    earlier = [*to_search, *(target_id for target_id in searched if searching.was_forgotten(target_id))]
    if not earlier:
        return
    known = Entry.objects.for_organization(organization_id).filter(pk__in=record_ids).values_list("pk", flat=True)
    unknown = set(record_ids) - set(known)
    for target_id in earlier:
        record_ids_there = _held_ids(target_id, organization_id, unknown)
        for record_id in record_ids_there:
            _adopt(StoredObject(organization_id, record_id, target_id))
        unknown.difference_update(record_ids_there)


def _adopt(vault_object: StoredObject) -> None:
    try:
        adopt(vault_object)
    except IntegrityError as error:  # the record it builds on has no row
        log.error("object in an earlier vault cannot be adopted", record_id=str(vault_object.record_id), exc_info=error)


def _held_ids(target_id: str, organization_id: uuid.UUID, record_ids: Collection[uuid.UUID]) -> list[uuid.UUID]:
    """Return the ids of the records that a target holds; none if it does not answer."""
    try:
        vault = vaults.of(target_id)
        if _unavailable.get(vault, 0) > time.monotonic():
            return []
        began = time.monotonic()
        try:
            return _held(vault, organization_id, list(record_ids))
        except VaultUnavailable:
            began = -math.inf
            raise
        finally:
            if time.monotonic() > began + _SLOW_SECONDS:
                _unavailable[vault] = time.monotonic() + _PAUSE_SECONDS
    except VaultUnavailable as error:
        log.error("an earlier vault cannot be asked for forgotten records", target=target_id, reason=str(error))
        return []


def _held(vault: Vault, organization_id: uuid.UUID, record_ids: list[uuid.UUID]) -> list[uuid.UUID]:
    def has(record_id: uuid.UUID) -> bool:
        return objects.has(vault, organization_id, record_id)

    if len(record_ids) < 2:
        return [record_id for record_id in record_ids if has(record_id)]
    with ThreadPoolExecutor(_PARALLEL_LOOKS) as pool:
        return [
            record_id for record_id, is_there in zip(record_ids, pool.map(has, record_ids), strict=True) if is_there
        ]
