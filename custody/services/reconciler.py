"""Finishing what a crash or an outage left unfinished, and bringing back what the database has forgotten."""

import uuid
from collections.abc import Iterable, Iterator

import structlog
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.models import Organization
from custody import sealing, storage_targets, vaults
from custody.keys import keyring
from custody.models import Entry
from custody.services.complete import Unfinished, adopt, finish, with_bodies
from custody.services.store import LEASE

log = structlog.get_logger("custody")


def reconcile(limit: int = 500) -> tuple[int, int]:
    """Finish reserved records whose lease has run out. Several may run at once.

    Returns:
        How many were finished, and how many could not be because their vault does not answer.
    """
    now = timezone.now()
    with transaction.atomic():
        entries = Entry.objects.unscoped("the reconciler serves every organization")
        waiting = entries.filter(state=Entry.State.RESERVED, lease_until__lt=now)
        claimed = list(waiting.select_for_update(skip_locked=True)[:limit])
        entries.filter(pk__in=[entry.pk for entry in claimed]).update(lease_until=now + LEASE)
    finish(with_bodies(claimed))
    remaining = entries.filter(pk__in=[entry.pk for entry in claimed], state=Entry.State.RESERVED).count()
    if claimed:
        log.info("reconciled", finished=len(claimed) - remaining, remaining=remaining)
    return len(claimed) - remaining, remaining


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


def recall(*, organization_id: uuid.UUID, identity: str) -> None:
    """Bring one record back, if the current vault has it and the database has forgotten it.

    Args:
        identity: what its id was made from.

    Raises:
        VaultUnavailable
    """
    record_id = sealing.record_id(sealing.reference(keyring(organization_id), identity))
    target_id = storage_targets.current(organization_id).pk
    lost = Unfinished(organization_id, record_id, target_id)
    known = Entry.objects.for_organization(organization_id).filter(pk=record_id)
    if not known.exists() and vaults.of(target_id).has(lost.key):
        adopt(lost)


def _orphans(organization: Organization, target_id: str) -> Iterator[Unfinished]:
    entries = Entry.objects.for_organization(organization)
    for key in vaults.of(target_id).list(f"{organization.id.hex}/records/"):
        try:
            record_id = uuid.UUID(key.rsplit("/", 1)[1])
        except ValueError:
            log.warning("the vault holds what is no object", key=key)
            continue
        if not entries.filter(pk=record_id).exists():
            yield Unfinished(organization.id, record_id, target_id)


def _adopt_all(orphans: Iterable[Unfinished]) -> tuple[int, list[Unfinished]]:
    """How many were adopted, and those that came before the record they build on."""
    adopted, early = 0, []
    for each in orphans:
        try:
            adopted += adopt(each)
        except IntegrityError:
            early.append(each)
    return adopted, early
