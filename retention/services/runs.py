"""Runs: an organization's families are gone through, and those that are due are disposed of."""

import random
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from math import inf

import structlog
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from accounts import audit, callers
from accounts.authority import requires
from accounts.callers import Caller
from accounts.roles import Permission
from config import leases
from config.errors import DomainError, Fault
from config.leases import LeaseLost
from custody import aged, families
from custody import services as custody
from custody.disposal_statements import Order
from custody.record_types import Families
from retention import rules
from retention.models import Policy, Run
from retention.rules import Reason

log = structlog.get_logger("retention")

_LEASE = timedelta(minutes=2)
_REASON = "Its retention period is over."
_FIGURES = {Reason.HOLD: "held", Reason.FLOOR: "kept_by_floor", Reason.OBSTACLE: "with_obstacle"}


class NoPolicy(DomainError):
    """Without a policy nothing is disposed of."""

    code = "no_retention_policy"
    sentence = "The organization has no retention policy in force, so nothing is disposed of. Set one first."


class RunGoing(DomainError):
    """Somebody works on a run of this organization."""

    code = "run_going"

    def __init__(self, run: Run) -> None:
        super().__init__(
            f"A run of this organization ({run.get_kind_display()}) has been going on since "
            f"{run.started_at:%Y-%m-%d %H:%M} UTC. Only one goes on at a time."
        )


class PolicyChanged(DomainError):
    """Another policy is in force than when the run began."""

    code = "policy_changed"
    sentence = "The retention policy was changed. This run has stopped; start it again to go by the new one."


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a batch has brought a run: families gone through and disposed of, and disposals that cannot end now."""

    considered: int
    disposed: int
    unfinished: int


@requires(Permission.DISPOSE)
def dispose_of_due(
    *, caller: Caller, kind: Run.Kind, seconds: float = inf, shown: Policy | None = None
) -> Iterator[Progress]:
    """Dispose of an organization's families that are due. What was killed or stopped goes on where it was.

    Args:
        kind: a command goes by the newest policy, for a person was shown what will go. The daily run goes by the one
            that owners have known for a week, and asks them where it would free more than their share.
        seconds: after so long no batch begins any more; the next call goes on.
        shown: by which a person was shown what will go, if one was.

    Raises:
        NoPolicy
        RunGoing: somebody works on another, or it waits for an owner.
        PolicyChanged: meanwhile, or since it was shown; what was disposed of before is.
        Fault: the signing key cannot be used; a later call goes on.
    """
    ends = time.monotonic() + seconds
    run = _claimed(caller, kind)
    try:
        policy = _policy_of(run)
        if shown and policy != shown:
            raise PolicyChanged
        if run.kind == Run.Kind.DAILY and not run.confirmed_at and not run.cursor:
            due, is_too_much = _count_due(run, policy, ends)
            if is_too_much:
                leases.complete(run, state=Run.State.ASKS, candidates=due)
                return
            run.candidates = due
            leases.renew(run, lasts=_LEASE, candidates=due)
        after = run.cursor or families.FIRST
        before = rules.cutoff(policy, timezone.now())
        for batch in families.candidates(caller.organization_id, before, after=after, size=custody.BATCH):
            yield _dispose_of(batch, run, policy, caller)
            if time.monotonic() >= ends:
                leases.complete(run)  # it goes on
                return
        _finish(run, policy, caller)
    except PolicyChanged:
        leases.complete(run, state=Run.State.STOPPED, finished_at=timezone.now())
        raise
    except Fault:
        leases.fail(run)
        raise
    except (KeyboardInterrupt, GeneratorExit):
        with suppress(LeaseLost):
            leases.complete(run)  # so that the next call need not wait for the lease to end
        raise


def _claimed(caller: Caller, kind: Run.Kind) -> Run:
    """The run of this kind that goes on, or a new one. One of the other kind that nobody works on is stopped: each
    kind goes by a policy of its own, and by what its people were shown."""
    runs = Run.objects.for_organization(caller.organization_id)
    with transaction.atomic():
        rules.lock(caller.organization_id)
        run = runs.filter(state__in=Run.UNFINISHED).first()
        if run and run.kind != kind and not _is_worked_on(run):
            # Whoever worked on it, and was stopped past the lease, is not to go on.
            runs.filter(pk=run.pk).update(**leases.RELEASED, state=Run.State.STOPPED, finished_at=timezone.now())
            run = None
        if run is None:
            run = _begun(caller.organization_id, kind)
        if kind == Run.Kind.COMMAND:
            runs.filter(pk=run.pk).update(next_try_at=None)
        claimed = leases.claim(runs.filter(pk=run.pk, kind=kind, state=Run.State.RUNNING), lasts=_LEASE)
    if not claimed:
        raise RunGoing(run)
    return claimed[0]


def _is_worked_on(run: Run) -> bool:
    return run.lease_until is not None and run.lease_until > timezone.now()


def _begun(organization_id: uuid.UUID, kind: Run.Kind) -> Run:
    policy = rules.policy_in_force(organization_id, daily=kind == Run.Kind.DAILY)
    if policy is None:
        raise NoPolicy
    return Run.objects.create(
        organization_id=organization_id, policy=policy.number, days=policy.days, kind=kind, started_at=timezone.now()
    )


def _policy_of(run: Run) -> Policy:
    """Raises PolicyChanged if another one is in force by now."""
    policy = rules.policy_in_force(run.organization_id, daily=run.kind == Run.Kind.DAILY)
    if policy is None or policy.number != run.policy:
        raise PolicyChanged
    return policy


def _count_due(run: Run, policy: Policy, ends: float) -> tuple[int, bool]:
    """How many families are due, and whether that is more than the owner's share of all.

    Once it is more, it counts as far as there is time: an owner who confirms frees no more than were counted. Until
    then it counts to the last, for nothing may go that was not counted.
    """
    due, share = 0, policy.share_percent * families.count(run.organization_id)
    for found in rules.verdicts(run.organization_id, policy, timezone.now()):
        due += sum(verdict.is_due for verdict in found.values())
        if due * 100 > share and time.monotonic() >= ends:
            break
        leases.renew(run, lasts=_LEASE)
    return due, due * 100 > share


def _dispose_of(batch: Families, run: Run, policy: Policy, caller: Caller) -> Progress:
    """Dispose of what is due of a batch: what a hold, a notice or a policy has changed before the commit is seen."""
    organization_id, now = batch.organization_id, timezone.now()
    found = rules.evaluate(batch, policy, now)
    due = Families(organization_id, [root for root, verdict in found.items() if verdict.is_due][: _room(run)])
    order = Order(policy.number, policy.days, _REASON, caller.actor.label)
    prepared = custody.prepare(due, order)
    with transaction.atomic():
        rules.lock(organization_id)
        _policy_of(run)
        families.lock(due)
        found |= rules.evaluate(due, policy, now)
        rows = custody.dispose(prepared, [root for root in due.roots if found[root].is_due])
        disposed = len({row.root for row in rows})
        figures = Counter(_FIGURES[verdict.reason] for verdict in found.values() if verdict.reason in _FIGURES)
        figures.update(considered=len(batch.roots), disposed=disposed, records=len(rows))
        added = {name: F(name) + count for name, count in figures.items()}
        leases.renew(run, lasts=_LEASE, cursor=list(batch.roots)[-1], **added)
    run.disposed += disposed
    unfinished = sum(failed for _, failed in custody.finish_disposals(organization_id))
    return Progress(len(batch.roots), disposed, unfinished)


def _room(run: Run) -> int | None:
    """How many families more it may free: a daily run no more than it has counted, or an owner has confirmed."""
    return None if run.candidates is None else max(run.candidates - run.disposed, 0)


def _finish(run: Run, policy: Policy, caller: Caller) -> None:
    aged.sweep(caller.organization_id, rules.cutoff(policy, timezone.now()))
    with transaction.atomic():
        leases.complete(run, state=Run.State.FINISHED, finished_at=timezone.now())
        audit.record(
            "retention.run",
            actor=caller.actor,
            organization_id=caller.organization_id,
            object_kind="retention_run",
            object_id=run.pk,
            policy=run.policy,
            disposed=run.disposed,
        )


def run_daily(organization_id: uuid.UUID, *, seconds: float) -> None:
    """The daily run of an organization, or the rest of it; nothing if today's is over or waits for an owner."""
    runs = Run.objects.for_organization(organization_id)
    today = runs.filter(kind=Run.Kind.DAILY, started_at__date=timezone.now().date())
    if today.exists() and not runs.filter(kind=Run.Kind.DAILY, state=Run.State.RUNNING).exists():
        return
    caller = callers.system(organization_id)
    try:
        for _ in dispose_of_due(caller=caller, kind=Run.Kind.DAILY, seconds=seconds):
            pass
    except (NoPolicy, RunGoing):
        pass
    except DomainError as error:  # of this organization: others go on
        log.error("a run has stopped", organization=str(organization_id), reason=str(error))


def organizations_with_a_policy() -> list[uuid.UUID]:
    """In another order each time, so that one with a lot to dispose of does not keep the others waiting."""
    rows = Policy.objects.unscoped("the daily run serves every organization")
    found = set(rows.values_list("organization", flat=True))
    return random.sample(sorted(found), len(found))
