"""Finishing what a crash or an outage left unfinished, and bringing back what the database has forgotten."""

import math
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import timedelta

import structlog
from django.db import IntegrityError

from accounts.models import Organization
from config import db, leases
from config.leases import LeaseLost
from custody import vaults
from custody.keys import outages
from custody.models import Entry, WaitingObject
from custody.rows.new_records import LEASE
from custody.services.complete import StoredObject, adopt, complete
from custody.services.reopening import reopen_disposals
from custody.services.sign import sign_queued
from custody.services.turns import Turns
from custody.vaults import storage_targets

log = structlog.get_logger("custody")

_CHUNK = 50  # so many puts end within a lease, also where each waits for a slow vault
MAX_PAUSE = timedelta(minutes=10)  # an outage is over for all records at once


def reconcile(limit: int = 500, *, seconds: float = math.inf, retry_now: bool = False) -> tuple[int, int]:
    """Finish queued and reserved records that nobody is at work on. Several may run at once. What cannot be finished is
    tried again later, after a pause that grows to ten minutes, or once its signing key can be used.

    Args:
        seconds: after which no batch begins.
        retry_now: do not wait for these pauses to end, as when an administrator has just mended the vault or the key.

    Returns:
        How many were finished, and how many could not be because their vault or signing key does not answer.
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
        left = set(waiting.filter(pk__in=[each.pk for each in claimed]).values_list("pk", flat=True))
        for row in (row for row in claimed if row.pk in left):
            with suppress(LeaseLost):
                leases.fail(row, longest=MAX_PAUSE)
        finished, remaining = finished + len(claimed) - len(left), remaining + len(left)
        turns.note_seconds(claimed, time.monotonic() - began)
    if finished or remaining:
        log.info("reconciled", finished=finished, remaining=remaining)
    return finished, remaining


def adopt_orphans(organization: Organization) -> int:
    """Make the rows of objects that lie in a vault without one, as after a restore of an older database.

    Returns:
        How many records came back. Objects that do not open under the organization's keys are logged and left.
    """
    storage_targets.current(organization.pk)
    targets = [target.pk for target in storage_targets.all_of(organization.pk)]
    for target_id in targets:
        vaults.of(target_id).discard_drafts()
    adopted, early = _adopt_all(each for target_id in targets for each in _orphans(organization, target_id))
    while early:  # what a record builds on may be an orphan too, and be listed after it
        more, early = _adopt_all(early)
        adopted += more
        if not more:
            log.error("objects build on records that are not here", record_ids=[str(each.record_id) for each in early])
            break
    return adopted


def _orphans(organization: Organization, target_id: str) -> Iterator[StoredObject]:
    entries = Entry.objects.for_organization(organization)
    for key in vaults.of(target_id).list(f"{organization.id.hex}/records/"):
        try:
            record_id = uuid.UUID(key.rsplit("/", 1)[1])
        except ValueError:
            log.warning("the vault holds what is no object", key=key)
            continue
        state = db.only(entries.filter(pk=record_id).values_list("state", flat=True))
        if state is None:
            yield StoredObject(organization.id, record_id, target_id)
        elif state == Entry.State.DISPOSED:  # a copy that came too late: it is removed again
            reopen_disposals([record_id])


def _adopt_all(orphans: Iterable[StoredObject]) -> tuple[int, list[StoredObject]]:
    """How many were adopted, and those that came before the record they build on."""
    adopted, early = 0, []
    for each in orphans:
        try:
            adopted += adopt(each)
        except IntegrityError:
            early.append(each)
    return adopted, early
