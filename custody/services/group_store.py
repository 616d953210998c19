"""Taking custody of single records in an event loop, where those that come at the same time share their commits."""

import time
import uuid
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from config import db
from config.group_commit import GroupCommit
from config.single_flight import SingleFlight
from custody import selectors, storage_targets
from custody.bulk_insert import NewRecord, insert
from custody.keys import Keyring, refreshed
from custody.models import SealedObject, WaitingObject
from custody.new_records import Place, Submission, new_record, seal_all
from custody.selectors import Receipt
from custody.services.complete import complete

_FRESH_SECONDS = 1.0


class _Custody(NamedTuple):
    """What sealing and storing a record of an organization takes, as the database had it a moment ago.

    Attributes:
        until: when somebody has to look again, by `time.monotonic`.
    """

    keys: Keyring
    place: Place
    until: float


class GroupStore:
    """Takes custody of new records, one call each. What is no new record, or meets any fault, is left to
    `store_records`, which can always be called after it."""

    def __init__(self) -> None:
        self._custodies: dict[uuid.UUID, _Custody] = {}
        self._look = SingleFlight[uuid.UUID](ThreadPoolExecutor(1, "custody"))
        self._insert = GroupCommit("insert", _insert)
        self._complete = GroupCommit("complete", _complete)

    async def store(self, organization_id: uuid.UUID, submission: Submission) -> Receipt | None:
        """Its receipt, if this call brought the record into custody, where it is now. None: nothing is known of it.

        Raises:
            DomainError: of the organization's keys or vault.
            django.db.Error: the database does not answer.
        """
        custody = await self._custody(organization_id)
        if custody is None:
            return None
        (sealed,) = seal_all(custody.keys, [submission])
        record = new_record(sealed, submission, custody.place)
        if not await self._insert.add(record):
            return None
        if isinstance(record.sealed, WaitingObject) and not await self._complete.add(record.sealed):
            return None
        return selectors.receipt_of(sealed, sealed.payload_salt)

    async def _custody(self, organization_id: uuid.UUID) -> _Custody | None:
        known = self._custodies.get(organization_id)
        if known is None or known.until < time.monotonic():
            await self._look(organization_id, self._look_up)
        return self._custodies.get(organization_id)

    def _look_up(self, organization_id: uuid.UUID) -> None:
        until = time.monotonic() + _FRESH_SECONDS
        self._custodies.pop(organization_id, None)
        keys = refreshed(organization_id)
        storage_targets.refreshed(organization_id)
        # Queued records are signed elsewhere, and what an earlier vault may hold has to be looked for.
        if keys.is_queueing or storage_targets.earlier(organization_id):
            return
        self._custodies[organization_id] = _Custody(keys, Place.of_new_records(keys), until)


def _insert(records: Sequence[NewRecord]) -> list[bool]:
    first: dict[uuid.UUID, NewRecord] = {}
    for record in records:
        first.setdefault(record.entry.record_id, record)
    created: set[uuid.UUID] = set()
    for kind in (SealedObject, WaitingObject):
        if of_kind := [each for each in first.values() if isinstance(each.sealed, kind)]:
            with db.turn():  # and no longer: what goes to a vault after it takes as long as a network does
                created |= insert(of_kind)
    return [first[each.entry.record_id] is each and each.entry.record_id in created for each in records]


def _complete(waiting: Sequence[WaitingObject]) -> list[bool]:
    stored = complete(waiting)
    return [each.pk in stored for each in waiting]
