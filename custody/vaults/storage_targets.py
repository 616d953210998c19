"""Choice of the storage target for new records."""

import uuid
from collections.abc import Mapping

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from config import changes, db
from config.changes import Remembered
from custody.models import StorageTarget

_MAX_REMEMBERED = 4096
"""Organizations whose targets a process keeps in memory."""

_current: Remembered[uuid.UUID | None, StorageTarget] = Remembered(_MAX_REMEMBERED)


def current(organization_id: uuid.UUID | None = None) -> StorageTarget:
    """Return the target of an organization's new records: its own, else the deployment's. A choice of another process
    shows within a second.

    Args:
        organization_id: None for the deployment's target. The setting CUSTODY_VAULT chooses it at its first use.
    """
    mark = changes.mark()
    target = _current.get(organization_id)
    if target is None:
        target = _chosen(organization_id) or _choose_first()
        _current.add(organization_id, target, mark)
    return target


def all_of(organization_id: uuid.UUID) -> list[StorageTarget]:
    """Return all targets that may hold an organization's records: the current ones first, then the former ones."""
    return list(_open_to(organization_id).order_by(F("retired_at").desc(nulls_first=True), "created_at"))


def forget() -> None:
    """Have this process read the targets again."""
    _current.clear()


def _chosen(organization_id: uuid.UUID | None) -> StorageTarget | None:
    active = _open_to(organization_id).filter(retired_at=None)
    return active.order_by(F("organization").asc(nulls_last=True)).first()


def _open_to(organization_id: uuid.UUID | None) -> QuerySet[StorageTarget]:
    targets = StorageTarget.objects.unscoped("every organization uses the deployment's")
    return targets.filter(Q(organization=None) | Q(organization=organization_id))


def _choose_first() -> StorageTarget:
    with transaction.atomic():
        lock()
        return _chosen(None) or use(settings.CUSTODY_VAULT)


def lock() -> None:
    """Keep other transactions from choosing until this one ends."""
    db.lock("the deployment's storage target")


def own(organization_id: uuid.UUID) -> StorageTarget | None:
    """Return the organization's own target for new records, read from the database."""
    return StorageTarget.objects.for_organization(organization_id).filter(retired_at=None).first()


def known_own(organization_id: uuid.UUID, provider: str, configuration: Mapping[str, str]) -> StorageTarget | None:
    """Return the organization's own target with this configuration, in use or retired."""
    rows = StorageTarget.objects.for_organization(organization_id).filter(provider=provider)
    return next((target for target in rows if target.configuration == configuration), None)


def use_own(
    organization_id: uuid.UUID, provider: str, configuration: Mapping[str, str], *, choice: int = 0
) -> StorageTarget:
    """Use the organization's own target with this configuration, and retire its others. The caller holds `lock`.

    Args:
        choice: the number of this choice, which is also stored in the bucket.
    """
    target = known_own(organization_id, provider, configuration)
    retire_own(organization_id, but=target)
    if target is None:
        return StorageTarget.objects.create(
            organization_id=organization_id, provider=provider, configuration=dict(configuration), choices_made=choice
        )
    target.retired_at, target.folders_searched = None, 0
    target.choices_made = max(target.choices_made, choice)
    target.save(update_fields=["retired_at", "folders_searched", "choices_made"])
    return target


def retire_own(organization_id: uuid.UUID, *, but: StorageTarget | None = None) -> None:
    """Let new records of an organization go to the deployment's target again. The caller holds `lock`."""
    active = StorageTarget.objects.for_organization(organization_id).filter(retired_at=None)
    active.exclude(pk=but and but.pk).update(retired_at=timezone.now())


def use(provider: str) -> StorageTarget:
    """Use the deployment's target of this provider, and retire its others. The caller holds `lock`."""
    deployments = StorageTarget.objects.unscoped("these are the deployment's").filter(organization=None)
    deployments.filter(retired_at=None).exclude(pk=provider).update(retired_at=timezone.now())
    target, _ = deployments.update_or_create(id=provider, defaults={"provider": provider, "retired_at": None})
    return target
