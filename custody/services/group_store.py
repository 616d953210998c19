"""Storing of single records in an event loop: records that arrive together share their commits."""

import uuid
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from config import changes, db
from config.changes import Remembered
from config.group_commit import GroupCommit, Undecided
from config.single_flight import SingleFlight
from custody import vaults
from custody.keys.keyrings import keyring
from custody.models import WaitingObject
from custody.rows.bulk_insert import NewRecord, insert
from custody.rows.new_records import Place, Submission
from custody.services.complete import Put, mark_stored, put
from custody.services.group_puts import GroupPuts
from custody.services.store import StoreResult, Way, take
from custody.vaults import Vault, lock_periods

_MAX_REMEMBERED = 4096
"""Organizations whose keys and vault a process keeps in memory."""


@dataclass(slots=True, kw_only=True)
class _GroupWay(Way):
    """The way of records that an event loop stores.

    Attributes:
        days: length of locks, in storage that locks objects.
    """

    store: "GroupStore"
    vault: Vault
    days: int | None

    async def insert(self, records: Sequence[NewRecord]) -> Sequence[bool]:
        return [await self.store.inserts.add(record) for record in records]

    async def complete(self, waiting: Sequence[WaitingObject]) -> Collection[uuid.UUID]:
        return {row.pk for row in waiting if await self._put(row) is Put.STORED and await self.store.finishes.add(row)}

    async def _put(self, row: WaitingObject) -> Put:
        until = lock_periods.until(row.record.received_at, self.days)
        work = partial(put, self.vault, self.keys.organization_id, row.pk, bytes(row.body), retain_until=until)
        return await self.store.puts.put(self.place.target_id, self.vault.parallel_puts, work)

    async def compare(self, *_: object) -> dict[int, StoreResult]:
        raise Undecided  # comparing takes queries, and reads of the vault


class GroupStore:
    """Stores single records of an event loop."""

    def __init__(self) -> None:
        self._ways: Remembered[uuid.UUID, Way] = Remembered(_MAX_REMEMBERED)
        self._look = SingleFlight[uuid.UUID](ThreadPoolExecutor(1, "custody"))
        self.inserts = GroupCommit("insert", _insert)
        self.puts = GroupPuts()
        self.finishes = GroupCommit("finish", _finish)

    async def store(self, organization_id: uuid.UUID, submission: Submission) -> StoreResult:
        """Take custody of a new record.

        Raises:
            Undecided: only `store_records` can decide whether the record is in custody. It may be called at any time.
            DomainError: the organization's keys or vault cannot be used.
            django.db.Error: the database does not answer.
        """
        if self._ways.get(organization_id) is None:
            await self._look(organization_id, self._look_up)
        way = self._ways.get(organization_id)
        if not isinstance(way, _GroupWay):
            raise Undecided
        (result,) = await take(way, [submission])
        return result

    def _look_up(self, organization_id: uuid.UUID) -> None:
        """Remember the way of an organization's records. They go by a thread if a worker signs them."""
        mark = changes.mark()
        keys = keyring(organization_id)
        way = Way(keys, Place.of_new_records(keys))
        if not keys.is_queueing:
            vault = vaults.of(way.place.target_id)
            days = lock_periods.days_of(organization_id) if vault.may_lock else None
            way = _GroupWay(keys, way.place, store=self, vault=vault, days=days)
        self._ways.add(organization_id, way, mark)


def _insert(records: Sequence[NewRecord]) -> list[bool]:
    with db.turn():  # not held for the put into a vault, which takes as long as a network does
        return insert(records)


def _finish(waiting: Sequence[WaitingObject]) -> list[bool]:
    stored = mark_stored(waiting)
    return [row.pk in stored for row in waiting]
