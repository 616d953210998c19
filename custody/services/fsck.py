"""Check of everything in custody: its progress, and the damage it has seen."""

import time
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import timedelta
from typing import NamedTuple

import structlog
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from accounts.models import Organization
from config import leases
from config.errors import Fault
from config.leases import LeaseLost
from custody import inspection
from custody.inspection import Finding, Step
from custody.inspection_models import LONG_AGO, Damage, Inspection
from custody.services.custody_alerts import queue_damage_alerts

log = structlog.get_logger("custody")

CPU_SECONDS = 1.0
"""CPU time of one run. The scheduler starts a run each minute."""
_SECONDS = 5.0
"""Wall time of one run, also with a slow store: other tasks of the queue wait meanwhile."""
_LEASE = timedelta(minutes=5)
_PAUSE = timedelta(days=1)
_PAUSE_AFTER_SILENCE = timedelta(hours=1)
_SAVE_SECONDS = 1.0
_SAVE_ITEMS = 500
_BECAUSE = "everything in custody is checked for everybody"


class Progress(NamedTuple):
    """Number of records checked since the last one, and all items that did not pass."""

    records: int
    failed: list[Finding]


def begin(runner: Inspection.Runner, organizations: Iterable[uuid.UUID | None]) -> None:
    """Restart the checks of these organizations. None is the installation."""
    fresh = {"stage": "", "after": "", "counts": {}, "unchecked": 0, "finished_at": None, "began_at": LONG_AGO}
    for organization_id in organizations:
        Inspection.objects.unscoped(_BECAUSE).update_or_create(
            runner=runner, organization_id=organization_id, defaults=fresh
        )


def unfinished(runner: Inspection.Runner) -> QuerySet[Inspection]:
    return Inspection.objects.unscoped(_BECAUSE).filter(runner=runner, finished_at=None).order_by("pk")


def inspect(row: Inspection) -> Iterator[Progress]:
    """Continue a check to its end. It may be stopped at any moment, because it saves its place."""
    if not row.stage:
        row.began_at, row.counts, row.unchecked = timezone.now(), {}, 0
    save, pending, since = _Saving(row), 0, time.monotonic()
    for stage, steps in _steps(row):
        row.stage = stage
        for after, findings in steps:
            row.after = after or row.after
            save.add(findings)
            save.records += stage == "records"
            pending += len(findings) or 1
            if after and (pending >= _SAVE_ITEMS or time.monotonic() - since > _SAVE_SECONDS):
                yield save.now()
                pending, since = 0, time.monotonic()
        row.after = ""
    yield save.finish()


def _steps(row: Inspection) -> Iterator[tuple[str, Iterator[Step]]]:
    """Yield the stages still to run. The first one continues at its saved place."""
    names = list(inspection.ORGANIZATION if row.organization_id else inspection.INSTALLATION)
    for name in names[names.index(row.stage) if row.stage in names else 0 :]:
        after = row.after if name == row.stage else ""
        if row.organization_id:
            yield name, inspection.ORGANIZATION[name](row.organization_id, after)
        else:
            yield name, inspection.INSTALLATION[name](after)


class _Saving:
    """Counts and damage of one check, saved together with its place."""

    def __init__(self, row: Inspection) -> None:
        self.row, self.records = row, 0
        self.passed: Counter[str] = Counter()
        self.names: set[tuple[str, str]] = set()
        self.failed: list[Finding] = []

    def add(self, findings: Iterable[Finding]) -> None:
        for finding in findings:
            if finding.problem:
                self.failed.append(finding)
            else:
                self.passed[finding.kind] += 1
                self.names.add((finding.kind, finding.name))

    def now(self) -> Progress:
        progress = Progress(self.records, self.failed)
        damaged = [finding for finding in self.failed if finding.is_checked]
        self.row.unchecked += len(self.failed) - len(damaged)
        self.row.counts = dict(Counter(self.row.counts) + self.passed)
        with transaction.atomic():
            self._forget_repaired()
            new = [finding for finding in damaged if self._note(finding)]
            self._save("stage", "after", "counts", "unchecked", "began_at")
            if new:
                queue_damage_alerts(self.row.organization_id)
        for finding in new:
            organization = str(self.row.organization_id or "")
            log.error("custody is damaged", organization=organization, kind=finding.kind, name=finding.name)
        self.passed, self.names, self.failed, self.records = Counter(), set(), [], 0
        return progress

    def finish(self) -> Progress:
        progress = self.now()
        if not self.row.unchecked:  # damage that a complete check has not seen again is gone
            _damage(self.row.organization_id).filter(seen_at__lt=self.row.began_at).delete()
        self.row.stage = self.row.after = ""
        self.row.finished_at = timezone.now()
        self.row.due_at = self.row.finished_at + (_PAUSE_AFTER_SILENCE if self.row.unchecked else _PAUSE)
        self._save("stage", "after", "finished_at", "due_at")
        return progress

    def _save(self, *columns: str) -> None:
        self.row.worked_at = timezone.now()
        self.row.save(update_fields=[*columns, "worked_at"])

    def _forget_repaired(self) -> None:
        known = {(row.kind, row.name): row.pk for row in _damage(self.row.organization_id)[:1000]}
        repaired = [pk for item, pk in known.items() if item in self.names]
        _damage(self.row.organization_id).filter(pk__in=repaired).delete()

    def _note(self, finding: Finding) -> bool:
        """Save damage. Return whether it is new."""
        _, is_new = Damage.objects.unscoped(_BECAUSE).update_or_create(
            organization_id=self.row.organization_id,
            kind=finding.kind,
            name=finding.name[:200],
            defaults={"reason": finding.problem[:300], "seen_at": timezone.now()},
        )
        return is_new


def _damage(organization_id: uuid.UUID | None) -> QuerySet[Damage]:
    return Damage.objects.unscoped(_BECAUSE).filter(organization=organization_id)


class CustodyDamaged(Fault):
    """A check has seen an object or a row that differs from what was signed."""

    code = "custody_damaged"
    sentence = "Something in custody is damaged. An administrator must restore it: manage.py custody_fsck names it."


def require_undamaged() -> None:
    """Raises CustodyDamaged. Used by /readyz."""
    if damage().exists():
        raise CustodyDamaged(because="a check has found damage")


def damage() -> QuerySet[Damage]:
    """Return all known damage."""
    return Damage.objects.unscoped(_BECAUSE).order_by("organization", "kind", "name")


def inspect_for_a_while(*, cpu_seconds: float = CPU_SECONDS) -> None:
    """Continue the checks that are due, for this much CPU time of the thread. Organizations take turns."""
    _make_rows()
    ends_cpu, ends = time.thread_time() + cpu_seconds, time.monotonic() + _SECONDS
    rows = Inspection.objects.unscoped(_BECAUSE).filter(runner=Inspection.Runner.CLOCK, due_at__lte=timezone.now())
    while claimed := leases.claim(rows, lasts=_LEASE, order=("worked_at", "pk")):
        (row,) = claimed
        row.finished_at = None
        for _ in inspect(row):
            if time.thread_time() > ends_cpu or time.monotonic() > ends:
                break
        with suppress(LeaseLost):
            leases.complete(row)
        if row.finished_at and (row.counts or row.unchecked):
            log.info("custody was checked", organization=str(row.organization_id or ""), unchecked=row.unchecked)
        if time.thread_time() > ends_cpu or time.monotonic() > ends:
            return


def _make_rows() -> None:
    """Create the scheduled checks of new organizations."""
    rows = Inspection.objects.unscoped(_BECAUSE).filter(runner=Inspection.Runner.CLOCK)
    new = Organization.objects.exclude(Exists(rows.filter(organization=OuterRef("pk")))).values_list("pk", flat=True)
    made = [Inspection(runner=Inspection.Runner.CLOCK, organization_id=pk) for pk in new[:1000]]
    if not rows.filter(organization=None).exists():
        made.append(Inspection(runner=Inspection.Runner.CLOCK))
    Inspection.objects.bulk_create(made, ignore_conflicts=True)
