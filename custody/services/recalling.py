"""Bringing back single records that a vault holds and the database has forgotten, as after its restore."""

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
"""Earlier vaults that did not answer in time, and until when no record asks them again."""


def recall(*, organization_id: uuid.UUID, identity: str) -> None:
    """Bring one record back, if a vault has it and the database has forgotten it.

    Args:
        identity: what its id was made from.

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
    """Bring back those records that a target holds which new ones do not go to: else they would be made a second time.

    A bucket is asked until it was searched (`searching`), and again after a restore. A target that does not answer, or
    slowly, is left out for a minute. It may be gone for good, and why another was chosen. The database is not asked:
    what it has forgotten, it has forgotten together with its objects.
    """
    to_search, searched = storage_targets.earlier(organization_id)
    earlier = [*to_search, *(target_id for target_id in searched if searching.was_forgotten(target_id))]
    if not earlier:
        return
    known = Entry.objects.for_organization(organization_id).filter(pk__in=record_ids).values_list("pk", flat=True)
    unknown = set(record_ids) - set(known)
    for target_id in earlier:
        found = _found(target_id, organization_id, unknown)
        for record_id in found:
            _adopt(StoredObject(organization_id, record_id, target_id))
        unknown.difference_update(found)


def _adopt(found: StoredObject) -> None:
    try:
        adopt(found)
    except IntegrityError as error:  # what it builds on is not here
        log.error("object in an earlier vault cannot be adopted", record_id=str(found.record_id), exc_info=error)


def _found(target_id: str, organization_id: uuid.UUID, record_ids: Collection[uuid.UUID]) -> list[uuid.UUID]:
    """Those that a target holds, as far as it answers."""
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
        return [each for each in record_ids if has(each)]
    with ThreadPoolExecutor(_PARALLEL_LOOKS) as pool:
        return [each for each, found in zip(record_ids, pool.map(has, record_ids), strict=True) if found]
