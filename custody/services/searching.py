"""Search of earlier buckets for records that the database has lost. Each bucket is searched once.

A record's row is committed before its object is put. So an object without a row exists only after a restore of the
database, and no request looks for it: after a bucket is retired, a worker lists it and compares it with our rows. If a
restored database has lost a later choice of the bucket, an object in the bucket shows that choice. Each worker process
looks for such an object once.
"""

import math
import time
import uuid
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import NamedTuple

import structlog
from django.db import connections
from django.db.models import QuerySet

from config import retries
from config.errors import Fault
from custody import vaults
from custody.models import Entry, StorageTarget
from custody.services.complete import StoredObject, adopt_or_log
from custody.vaults import VaultUnavailable

log = structlog.get_logger("custody")

_SECONDS = 20.0
"""Length of an organization's slice."""
_WAIT_SECONDS = 1.0
"""How long the task waits for slices. They continue beside the queue's other tasks."""
_FOLDER_SECONDS = 600.0
"""A folder that takes longer is taken for one without an end: the organization chooses who answers for its bucket."""
_MAX_THREADS = 8
_BATCH = 500

_pool = ThreadPoolExecutor(_MAX_THREADS, "search")
_slices: dict[uuid.UUID, Future[int]] = {}
"""Slices of organizations that have not ended, or whose result was not read."""
_checked: set[str] = set()
"""Searched buckets in which this process has looked for later choices."""
_failures: dict[str, tuple[int, float]] = {}
"""How often in a row a bucket has failed in this process, and when it may be asked again."""


class Listed(NamedTuple):
    """Some of the objects of a target, as far as they are not stored records.

    Attributes:
        unknown: objects without a row.
        disposed: records that were disposed of.
    """

    unknown: list[StoredObject]
    disposed: list[uuid.UUID]


def choice_key(organization_id: uuid.UUID | None, number: int) -> str:
    """Return the key of the object that names a choice of a bucket."""
    assert organization_id is not None  # noqa: S101 - buckets belong to organizations
    return f"{organization_id.hex}/chosen/{number}"


def search_earlier_targets() -> int:
    """Continue to compare retired buckets with our rows. Return how many records were adopted since the last call.

    Each organization has its own thread, and at most one: a bucket that hangs delays no other organization's search.
    """
    for organization_id, targets in _due().items():
        if organization_id not in _slices:
            _slices[organization_id] = _pool.submit(_search_in_thread, targets)
    ended, _ = wait(_slices.values(), timeout=_WAIT_SECONDS)
    for organization_id in [key for key, running in _slices.items() if running in ended]:
        del _slices[organization_id]
    return sum(running.result() for running in ended)


def search(targets: Sequence[StorageTarget]) -> int:
    """Compare buckets of an organization with its rows, for one slice. Return how many records were adopted."""
    ends, adopted = time.monotonic() + _SECONDS, 0
    for target in targets:
        try:
            if target.folders_searched == StorageTarget.FOLDERS:
                _look_for_later_choices(target, ends)
            if target.folders_searched < StorageTarget.FOLDERS:
                adopted += _compare(target, ends)
            _failures.pop(target.pk, None)
        except Fault as error:
            log.error("an earlier bucket cannot be searched", target=target.pk, reason=str(error))
            failures = _failures.get(target.pk, (0, 0.0))[0] + 1
            _failures[target.pk] = failures, time.monotonic() + retries.pause(failures).total_seconds()
        if time.monotonic() >= ends:
            break
    return adopted


def listed(organization_id: uuid.UUID, target_id: str, part: str = "") -> Iterator[Listed]:
    """Compare an organization's objects in a target with its rows, some hundred at a time.

    Args:
        part: a folder, as in "0a/", or all of them.
    """
    keys = iter(vaults.of(target_id).list(f"{organization_id.hex}/records/{part}"))
    entries = Entry.objects.for_organization(organization_id)
    while names := list(islice(keys, _BATCH)):
        ids = dict.fromkeys(_ids(names))
        states = dict(entries.filter(pk__in=ids).values_list("pk", "state"))
        unknown = [StoredObject(organization_id, pk, target_id) for pk in ids if pk not in states]
        yield Listed(unknown, [pk for pk, state in states.items() if state == Entry.State.DISPOSED])


def forget() -> None:
    """Have this process look for later choices again, and ask failing buckets at once."""
    _slices.clear()
    _checked.clear()
    _failures.clear()


def _due() -> dict[uuid.UUID, list[StorageTarget]]:
    """Return the buckets to search or to ask for later choices, by organization."""
    retired = StorageTarget.objects.unscoped("buckets of every organization are searched").exclude(retired_at=None)
    due: dict[uuid.UUID, list[StorageTarget]] = {}
    for target in retired.exclude(organization=None).order_by("folders_searched", "pk"):
        is_done = target.folders_searched == StorageTarget.FOLDERS and target.pk in _checked
        if not is_done and time.monotonic() >= _failures.get(target.pk, (0, -math.inf))[1]:
            due.setdefault(_owner(target), []).append(target)
    return due


def _search_in_thread(targets: Sequence[StorageTarget]) -> int:
    try:
        return search(targets)
    finally:
        connections.close_all()


def _look_for_later_choices(target: StorageTarget, ends: float) -> None:
    """Begin the search again if the bucket has a choice that the database has lost."""
    vault, number = vaults.of(target.pk), target.choices_made
    while time.monotonic() < ends and vault.has(choice_key(target.organization_id, number + 1)):
        number += 1
    if number > target.choices_made:
        _same(target).update(folders_searched=0, choices_made=number)
        target.folders_searched = 0
    _checked.add(target.pk)


def _compare(target: StorageTarget, ends: float) -> int:
    """List the whole bucket, or folder by folder if the slice is too short for that. Return how many were adopted.

    The search ends once no object was adopted in a whole round: another record may build on an adopted one.
    """
    total = 0
    if target.folders_searched == target.next_folder == 0:
        total, is_whole = _adopt_below(target, "", ends)
        if is_whole:
            _save(target, searched=0 if total else StorageTarget.FOLDERS, folder=0)
            return total
    while target.folders_searched < StorageTarget.FOLDERS:
        folder = target.next_folder
        adopted, is_whole = _adopt_below(target, f"{folder:02x}/", ends, patience=_FOLDER_SECONDS)
        if not is_whole and not adopted:
            raise VaultUnavailable(because="the list of a folder does not end")
        total += adopted
        searched = 0 if adopted else target.folders_searched + 1
        is_ours = _save(target, searched=searched, folder=(folder + is_whole) % StorageTarget.FOLDERS)
        if not is_ours or time.monotonic() >= ends:
            break
    return total


def _adopt_below(target: StorageTarget, part: str, ends: float, *, patience: float = 0.0) -> tuple[int, bool]:
    """Adopt objects without a row. Return how many were adopted, and whether the list came to its end in time.

    Args:
        patience: seconds that the list may take longer than the slice, unless an object is adopted.
    """
    adopted = 0
    for batch in listed(_owner(target), target.pk, part):
        for unknown in batch.unknown:
            adopted += adopt_or_log(unknown)
            if adopted and time.monotonic() >= ends:
                return adopted, False
        if time.monotonic() >= ends + (0.0 if adopted else patience):
            return adopted, False
    return adopted, True


def _save(target: StorageTarget, *, searched: int, folder: int) -> bool:
    """Save progress, unless another worker has saved some or the bucket is in use again. Return whether it is saved."""
    unchanged = _same(target).filter(folders_searched=target.folders_searched, next_folder=target.next_folder)
    target.folders_searched, target.next_folder = searched, folder
    return bool(unchanged.update(folders_searched=searched, next_folder=folder))


def _ids(keys: Collection[str]) -> Iterator[uuid.UUID]:
    for key in keys:
        try:
            yield uuid.UUID(key.rsplit("/", 1)[1])
        except ValueError:
            log.warning("the vault holds what is no object", key=key)


def _owner(target: StorageTarget) -> uuid.UUID:
    assert target.organization_id is not None  # noqa: S101 - buckets belong to organizations
    return target.organization_id


def _same(target: StorageTarget) -> QuerySet[StorageTarget]:
    """Return the row, unless its bucket is in use again."""
    rows = StorageTarget.objects.unscoped("the caller knows the owner of the target")
    return rows.filter(pk=target.pk, retired_at=target.retired_at)
