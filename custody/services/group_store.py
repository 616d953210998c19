"""Storing of single records in an event loop: records that arrive together share their commits."""

import uuid
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

from config import changes, db
from config.changes import Remembered
from config.group_commit import GroupCommit
from config.single_flight import SingleFlight
from custody import selectors, vaults
from custody.disposal import lock_periods
from custody.keys.keyrings import Keyring, keyring
from custody.models import SealedObject, WaitingObject
from custody.rows.bulk_insert import NewRecord, insert
from custody.rows.new_records import Place, Submission, new_record, seal_all
from custody.selectors import Receipt
from custody.services import searching
from custody.services.complete import Put, mark_stored, put
from custody.services.group_puts import GroupPuts
from custody.vaults import Vault, storage_targets

_MAX_REMEMBERED = 4096
"""Organizations whose keys and vault a process keeps in memory."""


class _Custody(NamedTuple):
    """Keys, place and vault of an organization's new records.

    Attributes:
        days: length of locks, in storage that locks objects.
        place: None if `store_records` must store the records, because a worker signs them or because earlier targets
            must be searched for them.
    """

    keys: Keyring
    place: Place | None
    vault: Vault | None = None
    days: int | None = None


class GroupStore:
    """Stores new records, one for each call. Anything but a plain success is left to `store_records`, which may always
    be called afterwards."""

    def __init__(self) -> None:
        self._custodies: Remembered[uuid.UUID, _Custody] = Remembered(_MAX_REMEMBERED)
        self._look = SingleFlight[uuid.UUID](ThreadPoolExecutor(1, "custody"))
        self._insert = GroupCommit("insert", _insert)
        self._puts = GroupPuts()
        self._finish = GroupCommit("finish", _finish)

    async def store(self, organization_id: uuid.UUID, submission: Submission) -> Receipt | None:
        """Return the receipt if this call has stored the record. None: it may be stored or not.

        Raises:
            DomainError: the organization's keys or vault cannot be used.
            django.db.Error: the database does not answer.
        """
        custody = await self._custody(organization_id)
        if custody is None or custody.place is None:
            return None
        (sealed,) = seal_all(custody.keys, [submission])
        record = new_record(sealed, submission, custody.place)
        if not await self._insert.add(record):
            return None
        if isinstance(record.sealed, WaitingObject) and not await self._complete(custody, record.sealed):
            return None
        return selectors.receipt_of(sealed, sealed.payload_salt)

    async def _complete(self, custody: _Custody, waiting: WaitingObject) -> bool:
        """Put a reserved object into its vault, and mark its record stored. Return whether both succeeded."""
        vault, entry = custody.vault, waiting.record
        if vault is None:
            return False
        until = lock_periods.until(entry.received_at, custody.days)
        work = partial(put, vault, entry.organization_id, entry.pk, bytes(waiting.body), retain_until=until)
        result = await self._puts.put(entry.target_id, vault.parallel_puts, work)
        return result is Put.STORED and await self._finish.add(waiting)

    async def _custody(self, organization_id: uuid.UUID) -> _Custody | None:
        if self._custodies.get(organization_id) is None:
            await self._look(organization_id, self._look_up)
        return self._custodies.get(organization_id)

    def _look_up(self, organization_id: uuid.UUID) -> None:
        mark = changes.mark()
        keys = keyring(organization_id)
        earlier = storage_targets.earlier(organization_id)
        is_asked = bool(earlier.to_search) or not all(map(searching.is_checked, earlier.searched))
        if keys.is_queueing or is_asked:
            self._custodies.add(organization_id, _Custody(keys, None), mark)
            return
        place = Place.of_new_records(keys)
        vault = vaults.of(place.target_id)
        days = lock_periods.days_of(organization_id) if vault.may_lock else None
        self._custodies.add(organization_id, _Custody(keys, place, vault, days), mark)


def _insert(records: Sequence[NewRecord]) -> list[bool]:
    first: dict[uuid.UUID, NewRecord] = {}
    for record in records:
        first.setdefault(record.entry.record_id, record)
    created: set[uuid.UUID] = set()
    for kind in (SealedObject, WaitingObject):
        if of_kind := [record for record in first.values() if isinstance(record.sealed, kind)]:
            with db.turn():  # not held for the put into a vault, which takes as long as a network does
                created |= insert(of_kind)
    return [first[record.entry.record_id] is record and record.entry.record_id in created for record in records]


def _finish(waiting: Sequence[WaitingObject]) -> list[bool]:
    stored = mark_stored(waiting)
    return [row.pk in stored for row in waiting]
