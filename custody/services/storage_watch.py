"""Probes of organizations' storage, which note when it fails and when it answers again."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import cast
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from config import db
from config.periodic import SLICE_SECONDS
from custody import vaults
from custody.models import StorageTarget, WaitingObject
from custody.services.custody_alerts import queue_storage_alerts
from custody.vaults import Vault, VaultUnavailable

log = structlog.get_logger("custody")

_PARALLEL_PROBES = 8
_SAME_OUTAGE = timedelta(hours=1)
"""A target that fails again within this time counts as the same outage and sends no new mail."""


def watch_targets() -> int:
    """Probe the storage that organizations have chosen and still use, in random order, for at most a slice. Return how
    many targets fail."""
    waiting = WaitingObject.objects.unscoped("the clock's sweep serves every organization")
    targets = StorageTarget.objects.unscoped("the clock's sweep serves every organization")
    used = targets.filter(Q(retired_at=None) | Exists(waiting.filter(record__target=OuterRef("pk"))))
    chosen = list(used.exclude(organization=None).order_by("?"))
    opened_vaults = [_vault(target) for target in chosen]
    ends = time.monotonic() + SLICE_SECONDS
    with ThreadPoolExecutor(_PARALLEL_PROBES) as pool:
        reasons = list(pool.map(lambda vault: _probe(vault) if time.monotonic() < ends else None, opened_vaults))
    for target, reason in zip(chosen, reasons, strict=True):
        if reason is None:
            continue
        if reason:
            _note_failure(target, reason)
        else:
            _note_success(target)
    return sum(bool(reason) for reason in reasons)


def _vault(target: StorageTarget) -> Vault | VaultUnavailable:
    try:
        return vaults.of(target.pk)
    except VaultUnavailable as error:
        return error


def _probe(vault: Vault | VaultUnavailable) -> str:
    """Return why a vault fails, or "". Uses only the vault, because it runs in threads."""
    if isinstance(vault, VaultUnavailable):
        return str(vault)
    try:
        vault.probe()
    except VaultUnavailable as error:
        return str(error)
    return ""


def _note_failure(target: StorageTarget, reason: str) -> None:
    with transaction.atomic():
        db.lock(f"outages of {target.pk}")
        last = target.outages.order_by("-began_at").first()
        if last and (last.ended_at is None or last.ended_at > timezone.now() - _SAME_OUTAGE):
            target.outages.filter(pk=last.pk).update(ended_at=None, reason=reason[:500])
            return
        outage = target.outages.create(reason=reason[:500])
        queue_storage_alerts(outage, cast(UUID, target.organization_id))
        log.error("the storage of an organization fails", target=target.pk, reason=reason)


def _note_success(target: StorageTarget) -> None:
    if target.outages.filter(ended_at=None).update(ended_at=timezone.now()):
        log.info("the storage of an organization answers again", target=target.pk)
