"""Which storage target new records go to."""

import time
import uuid
from collections.abc import Mapping

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from config import db
from custody.models import StorageTarget

_FRESH_SECONDS = 1.0

_current: dict[uuid.UUID | None, tuple[StorageTarget, float]] = {}
_earlier: dict[uuid.UUID, tuple[list[str], float]] = {}


def current(organization_id: uuid.UUID | None = None) -> StorageTarget:
    """Where new records of an organization go: to its own target, else to the deployment's. What another process has
    chosen shows within a second.

    Args:
        organization_id: None for the deployment's, which the setting CUSTODY_VAULT chooses at its first use.
    """
    known, now = _current.get(organization_id), time.monotonic()
    if known and now < known[1]:
        return known[0]
    target = _chosen(organization_id) or _choose_first()
    if not db.in_transaction():
        _current[organization_id] = target, now + _FRESH_SECONDS
    return target


def earlier(organization_id: uuid.UUID) -> list[str]:
    """The ids of targets outside the database where records of an organization may lie although new ones go elsewhere,
    the last one first. As fresh as `current`."""
    known, now = _earlier.get(organization_id), time.monotonic()
    if known and now < known[1]:
        return known[0]
    first = current(organization_id)
    found = [
        target.pk
        for target in all_of(organization_id)
        if target != first and target.provider != StorageTarget.Provider.DATABASE
    ]
    if not db.in_transaction():
        _earlier[organization_id] = found, now + _FRESH_SECONDS
    return found


def refreshed(organization_id: uuid.UUID) -> StorageTarget:
    """`current`, as the database has it now; `earlier` is then as fresh."""
    for each in (organization_id, None):
        _current.pop(each, None)
    _earlier.pop(organization_id, None)
    return current(organization_id)


def all_of(organization_id: uuid.UUID) -> list[StorageTarget]:
    """Wherever records of an organization may lie: where new ones go first, then where they went before."""
    return list(_open_to(organization_id).order_by(F("retired_at").desc(nulls_first=True), "created_at"))


def forget() -> None:
    """Have this process look again."""
    _current.clear()
    _earlier.clear()


def _chosen(organization_id: uuid.UUID | None) -> StorageTarget | None:
    active = _open_to(organization_id).filter(retired_at=None)
    return active.order_by(F("organization").asc(nulls_last=True)).first()


def _open_to(organization_id: uuid.UUID | None) -> QuerySet[StorageTarget]:
    targets = StorageTarget.objects.unscoped("the deployment's are for everybody")
    return targets.filter(Q(organization=None) | Q(organization=organization_id))


def _choose_first() -> StorageTarget:
    with transaction.atomic():
        lock()
        return _chosen(None) or use(settings.CUSTODY_VAULT)


def lock() -> None:
    """Let nobody else choose until the transaction ends."""
    db.lock("the deployment's storage target")


def own(organization_id: uuid.UUID) -> StorageTarget | None:
    """The organization's own target for new records, as the database has it now."""
    return StorageTarget.objects.for_organization(organization_id).filter(retired_at=None).first()


def use_own(organization_id: uuid.UUID, provider: str, configuration: Mapping[str, str]) -> StorageTarget:
    """The organization's own target of this place, all its others retired. The caller holds `lock`."""
    known = StorageTarget.objects.for_organization(organization_id).filter(provider=provider)
    target = next((each for each in known if each.configuration == configuration), None)
    retire_own(organization_id, but=target)
    if target is None:
        return StorageTarget.objects.create(
            organization_id=organization_id, provider=provider, configuration=dict(configuration)
        )
    target.retired_at = None
    target.save(update_fields=["retired_at"])
    return target


def retire_own(organization_id: uuid.UUID, *, but: StorageTarget | None = None) -> None:
    """Let new records of an organization go to the deployment's target again. The caller holds `lock`."""
    active = StorageTarget.objects.for_organization(organization_id).filter(retired_at=None)
    active.exclude(pk=but and but.pk).update(retired_at=timezone.now())


def use(provider: str) -> StorageTarget:
    """The deployment's target of this provider, all others of the deployment retired. The caller holds `lock`."""
    deployments = StorageTarget.objects.unscoped("they are the deployment's").filter(organization=None)
    deployments.filter(retired_at=None).exclude(pk=provider).update(retired_at=timezone.now())
    target, _ = deployments.update_or_create(id=provider, defaults={"provider": provider, "retired_at": None})
    return target
