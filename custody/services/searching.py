"""Search of buckets that new records no longer go to, once, for records that the database has forgotten.

An object without a row is there only after a restore of the database, or after a crash. A bucket is compared with our
rows when it is retired; from then on no new record asks it. A later choice of the bucket that a restored database has
forgotten shows by an object in the bucket, which each process looks for once.
"""

import time
import uuid
from collections.abc import Collection, Iterator
from datetime import timedelta
from itertools import islice

import structlog
from django.db import IntegrityError
from django.db.models import QuerySet
from django.utils import timezone

from config.errors import Fault
from custody import vaults
from custody.models import Entry, StorageTarget
from custody.services.complete import StoredObject, adopt
from custody.vaults import Vault, VaultUnavailable, storage_targets

log = structlog.get_logger("custody")

_SECONDS = 20
"""After so long a slice ends; the next one goes on with the next folder."""
_IN_FLIGHT = timedelta(minutes=2)
"""For so long after a bucket was retired, requests may still put what they reserved there."""
_BATCH = 500
_PAUSE_SECONDS = 600.0

_checked: dict[str, float] = {}
"""Searched buckets that know no later choice, and until when this process takes that for true."""


def choice_key(organization_id: uuid.UUID | None, number: int) -> str:
    """Return the key of the object that names a choice of a bucket."""
    assert organization_id is not None  # noqa: S101 - buckets belong to organizations
    return f"{organization_id.hex}/chosen/{number}"


def search_earlier_targets() -> int:
    """Go on comparing retired buckets with our rows, for one slice. Returns how many records came back."""
    ends, adopted = time.monotonic() + _SECONDS, 0
    waiting = StorageTarget.objects.unscoped("buckets of every organization are searched").filter(
        retired_at__lt=timezone.now() - _IN_FLIGHT, folders_searched__lt=StorageTarget.FOLDERS
    )
    for target in waiting.exclude(organization=None).order_by("folders_searched", "pk"):
        try:
            adopted += _search(target, ends)
        except Fault as error:
            log.error("an earlier bucket cannot be searched", target=target.pk, reason=str(error))
    return adopted


def is_checked(target_id: str) -> bool:
    """Whether this process has looked for a later choice of a searched bucket."""
    return _checked.get(target_id, 0.0) > time.monotonic()


def was_forgotten(target_id: str) -> bool:
    """Whether a searched bucket was chosen once more than the database knows: then it has to be searched again."""
    if is_checked(target_id):
        return False
    target = StorageTarget.objects.unscoped("its entry knows whose it is").get(pk=target_id)
    try:
        vault, number = vaults.of(target_id), target.choices_made
        while vault.has(choice_key(target.organization_id, number + 1)):
            number += 1
    except VaultUnavailable as error:
        log.error("an earlier bucket cannot be asked for its choices", target=target_id, reason=str(error))
        _checked[target_id] = time.monotonic() + _PAUSE_SECONDS
        return False
    if number == target.choices_made:
        _checked[target_id] = float("inf")
        return False
    _same(target).update(folders_searched=0, choices_made=number)
    storage_targets.forget()
    return True


def forget() -> None:
    """Have this process look for later choices again."""
    _checked.clear()


def _search(target: StorageTarget, ends: float) -> int:
    """Compare folder by folder. Starts over once a record came back: another one may build on it."""
    vault, adopted = vaults.of(target.pk), 0
    for folder in range(target.folders_searched, StorageTarget.FOLDERS):
        if time.monotonic() >= ends:
            break
        adopted += sum(_adopt(target, pk) for pk in _orphans(vault, target, folder))
        _same(target).filter(folders_searched=folder).update(folders_searched=folder + 1)
    if adopted:
        _same(target).update(folders_searched=0)
    return adopted


def _orphans(vault: Vault, target: StorageTarget, folder: int) -> Iterator[uuid.UUID]:
    assert target.organization_id is not None  # noqa: S101 - buckets belong to organizations
    keys = iter(vault.list(f"{target.organization_id.hex}/records/{folder:02x}/"))
    entries = Entry.objects.for_organization(target.organization_id)
    while names := list(islice(keys, _BATCH)):
        ids = set(_ids(names))
        yield from ids - set(entries.filter(pk__in=ids).values_list("pk", flat=True))


def _ids(keys: Collection[str]) -> Iterator[uuid.UUID]:
    for key in keys:
        try:
            yield uuid.UUID(key.rsplit("/", 1)[1])
        except ValueError:
            log.warning("the vault holds what is no object", key=key)


def _adopt(target: StorageTarget, record_id: uuid.UUID) -> bool:
    assert target.organization_id is not None  # noqa: S101 - buckets belong to organizations
    try:
        return adopt(StoredObject(target.organization_id, record_id, target.pk))
    except IntegrityError as error:  # what it builds on is not here yet
        log.error("object in an earlier vault cannot be adopted", record_id=str(record_id), exc_info=error)
        return False


def _same(target: StorageTarget) -> QuerySet[StorageTarget]:
    """Return the row, unless its bucket is in use again."""
    rows = StorageTarget.objects.unscoped("its entry knows whose it is")
    return rows.filter(pk=target.pk, retired_at=target.retired_at)
