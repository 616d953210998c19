"""Completion of records that a crash or an outage interrupted, and adoption of objects that lost their rows."""

import math
import time
import uuid
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import timedelta

import structlog

from accounts.models import Organization
from config import leases
from config.leases import LeaseLost
from custody import vaults
from custody.keys import outages
from custody.models import WaitingObject
from custody.rows.new_records import LEASE
from custody.services import searching
from custody.services.complete import NotAdoptable, ParentMissing, StoredObject, adopt, complete
from custody.services.dispose import reopen_disposals
from custody.services.sign import sign_queued
from custody.services.turns import Turns
from custody.vaults import VaultUnavailable, storage_targets

log = structlog.get_logger("custody")

_CHUNK = 50  # this many puts end within a lease, even where each waits for a slow vault
MAX_PAUSE = timedelta(minutes=10)  # short, because an outage ends for all records at once


def reconcile(limit: int = 500, *, seconds: float = math.inf, retry_now: bool = False) -> tuple[int, int]:
    """Finish queued and reserved records that no worker holds. Several may run at once. A record that fails is retried
    after a pause that grows to ten minutes, or as soon as its signing key can be used.

    Args:
        seconds: no batch begins later than this.
        retry_now: retry now, without these pauses, for example after a repair of the vault or the key.

    Returns:
        How many records were finished, and how many were not because their vault or signing key does not answer.
    """
    waiting = WaitingObject.objects.unscoped("the reconciler serves every organization")
    if retry_now:
        waiting.exclude(next_try_at=None).update(next_try_at=None)
        outages.retry_now()
    finished = remaining = 0
    ends, turns = time.monotonic() + seconds, Turns()
    while time.monotonic() < ends and (claimed := turns.claim(min(_CHUNK, limit - finished - remaining))):
        began = time.monotonic()
        if ready := sign_queued(claimed, lease=LEASE):
            complete(ready)
        left = set(waiting.filter(pk__in=[row.pk for row in claimed]).values_list("pk", flat=True))
        for row in (row for row in claimed if row.pk in left):
            with suppress(LeaseLost):
                leases.fail(row, longest=MAX_PAUSE)
        finished, remaining = finished + len(claimed) - len(left), remaining + len(left)
        turns.note_seconds(claimed, time.monotonic() - began)
    if finished or remaining:
        log.info("reconciled", finished=finished, remaining=remaining)
    return finished, remaining


class NotListed(VaultUnavailable):
    """Storage of an organization did not answer. The objects of its other storage were adopted.

    Attributes:
        adopted: how many.
    """

    def __init__(self, adopted: int, because: str) -> None:
        self.adopted = adopted
        super().__init__(because=because)


Refused = Callable[[uuid.UUID, str], object]


def _log_refusal(record_id: uuid.UUID, reason: str) -> None:
    log.error("object in the vault cannot be adopted", record_id=str(record_id), reason=reason)


def adopt_orphans(organization: Organization, *, refused: Refused = _log_refusal) -> int:
    """Create the rows of vault objects that have none, for example after a restore of an older database.

    Args:
        refused: called with the record id of each object that cannot be adopted, and the cause.

    Returns:
        How many records were adopted.

    Raises:
        NotListed: at the end, if a target did not answer. The others are listed first.
    """
    storage_targets.current(organization.pk)
    adopted, early, silent = 0, list[tuple[StoredObject, str]](), list[str]()
    for target in storage_targets.all_of(organization.pk):
        try:
            vaults.of(target.pk).discard_drafts()
            for batch in searching.listed(organization.pk, target.pk):
                reopen_disposals(batch.disposed)  # of late copies: have them removed again
                more, too_early = _adopt_all(batch.unknown, refused)
                adopted, early = adopted + more, early + too_early
        except VaultUnavailable as error:
            silent.append(f"{target.pk}: {error}")
    while early:  # a record may build on another orphan, which the vault lists later
        more, still_early = _adopt_all([orphan for orphan, _ in early], refused)
        adopted += more
        if not more:
            for orphan, reason in still_early:
                refused(orphan.record_id, f"{reason} No listed storage has it either.")
            break
        early = still_early
    if silent:
        raise NotListed(adopted, ", ".join(silent))
    return adopted


def _adopt_all(orphans: Iterable[StoredObject], refused: Refused) -> tuple[int, list[tuple[StoredObject, str]]]:
    """Adopt objects. Return how many were adopted, and the objects listed before the record they build on."""
    adopted, early = 0, []
    for orphan in orphans:
        try:
            adopted += adopt(orphan)
        except ParentMissing as error:
            early.append((orphan, error.sentence))
        except NotAdoptable as error:
            refused(orphan.record_id, error.sentence)
    return adopted, early
