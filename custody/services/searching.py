"""Search of former buckets for records that the database has lost. Each bucket is searched once.

An object without a row exists only after a restore of the database, or after a crash. After a bucket is retired it is
compared with our rows; from then on new records are not looked for in it. If a restored database has lost a later
choice of the bucket, an object in the bucket shows that choice. Each process looks for such an object once.
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
"""Length of a slice. The next one continues with the next folder."""
_IN_FLIGHT = timedelta(minutes=2)
"""How long requests may still put reserved objects into a bucket after it was retired."""
_BATCH = 500
_PAUSE_SECONDS = 600.0

_checked: dict[str, float] = {}
"""Until when this process takes a searched bucket to have no later choice."""


def choice_key(organization_id: uuid.UUID | None, number: int) -> str:
    """Return the key of the object that names a choice of a bucket."""
    assert organization_id is not None  # noqa: S101 - buckets belong to organizations
    return f"{organization_id.hex}/chosen/{number}"


def search_earlier_targets() -> int:
    """Continue to compare retired buckets with our rows, for one slice. Returns how many records were adopted."""
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
    """Whether a searched bucket has a choice that the database has lost. It must then be searched again."""
    if is_checked(target_id):
        return False
    target = StorageTarget.objects.unscoped("the caller knows the owner of the target").get(pk=target_id)
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
    """Compare folder by folder. After an adoption, start again: another record may build on the adopted one."""
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
    except IntegrityError as error:  # the record it builds on has no row yet
        log.error("object in an earlier vault cannot be adopted", record_id=str(record_id), exc_info=error)
        return False


def _same(target: StorageTarget) -> QuerySet[StorageTarget]:
    """Return the row, unless its bucket is in use again."""
    rows = StorageTarget.objects.unscoped("the caller knows the owner of the target")
    return rows.filter(pk=target.pk, retired_at=target.retired_at)
