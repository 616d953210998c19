"""Runs, which go through an organization's families and dispose of those that are due."""

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
from config.http.timestamps import minute_in_words
from config.leases import LeaseLost
from custody import services as custody
from custody.disposal import age_sweeps, families
from custody.disposal.disposal_statements import Order
from custody.record_types import Families
from retention import rules
from retention.models import Policy, Run
from retention.rules import Reason

log = structlog.get_logger("retention")

_LEASE = timedelta(minutes=2)
_REASON = "Its retention period is over."
_FIGURES = {Reason.HOLD: "held", Reason.FLOOR: "kept_by_floor", Reason.OBSTACLE: "with_obstacle"}


class NoPolicy(DomainError):
    """The organization has no policy in force."""

    code = "no_retention_policy"
    sentence = "The organization has no retention policy in force, so nothing is disposed of. Set one first."


class RunGoing(DomainError):
    """Another process works on a run of this organization, or the run waits for an owner."""

    code = "run_going"

    def __init__(self, run: Run) -> None:
        super().__init__(
            f"A run of this organization ({run.get_kind_display()}) has been going on since "
            f"{minute_in_words(run.started_at)}. Wait until it ends."
        )


class PolicyChanged(DomainError):
    """The policy in force is not the policy with which the run began."""

    code = "policy_changed"
    sentence = "The retention policy was changed, so this run stopped. Start it again to follow the new policy."


@dataclass(frozen=True, slots=True)
class Progress:
    """The result of one batch: families considered and disposed of, and disposals that cannot end now."""

    considered: int
    disposed: int
    unfinished: int


@requires(Permission.DISPOSE)
def dispose_of_due(
    *, caller: Caller, kind: Run.Kind, seconds: float = inf, shown: Policy | None = None
) -> Iterator[Progress]:
    """Dispose of an organization's due families. Resumes a run that was killed or stopped.

    Args:
        kind: a command follows the newest policy, because a person saw its count. The daily run follows the policy that
            owners have known for a week, and asks them before it exceeds their share.
        seconds: the time after which no batch begins. The next call resumes the run.
        shown: the policy whose count a person saw, if any.

    Raises:
        NoPolicy
        RunGoing: another process works on a run, or the run waits for an owner.
        PolicyChanged: during the run, or since the person saw the count. Disposals before that are final.
        Fault: the signing key cannot be used. A later call resumes the run.
    """
    ends = time.monotonic() + seconds
    run = _claim_run(caller, kind)
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
            yield _dispose_of(batch, run, policy, caller, ends)
            if time.monotonic() >= ends:
                leases.complete(run)  # the next call resumes it
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
            leases.complete(run)  # so that the next call does not wait for the lease to end
        raise


def _claim_run(caller: Caller, kind: Run.Kind) -> Run:
    """Claim the unfinished run of this kind, or a new one.

    Stops an idle run of the other kind: each kind follows a different policy, and people saw a different count.
    """
    runs = Run.objects.for_organization(caller.organization_id)
    with transaction.atomic():
        rules.lock(caller.organization_id)
        run = runs.filter(state__in=Run.UNFINISHED).first()
        if run and run.kind != kind and not _is_worked_on(run):
            # A worker that was suspended past its lease must not resume this run.
            runs.filter(pk=run.pk).update(**leases.RELEASED, state=Run.State.STOPPED, finished_at=timezone.now())
            run = None
        if run is None:
            run = _start_run(caller.organization_id, kind)
        if kind == Run.Kind.COMMAND:
            runs.filter(pk=run.pk).update(next_try_at=None)
        claimed = leases.claim(runs.filter(pk=run.pk, kind=kind, state=Run.State.RUNNING), lasts=_LEASE)
    if not claimed:
        raise RunGoing(run)
    return claimed[0]


def _is_worked_on(run: Run) -> bool:
    return run.lease_until is not None and run.lease_until > timezone.now()


def _start_run(organization_id: uuid.UUID, kind: Run.Kind) -> Run:
    policy = rules.policy_in_force(organization_id, daily=kind == Run.Kind.DAILY)
    if policy is None:
        raise NoPolicy
    return Run.objects.create(
        organization_id=organization_id, policy=policy.number, days=policy.days, kind=kind, started_at=timezone.now()
    )


def _policy_of(run: Run) -> Policy:
    """Return the policy of a run. Raises PolicyChanged: another one is in force by now."""
    policy = rules.policy_in_force(run.organization_id, daily=run.kind == Run.Kind.DAILY)
    if policy is None or policy.number != run.policy:
        raise PolicyChanged
    return policy


def _count_due(run: Run, policy: Policy, ends: float) -> tuple[int, bool]:
    """Count the due families. Return the number, and whether it exceeds the owners' share of all.

    Beyond the share, counting may stop when the time is up: an owner confirms only counted families. Below the share,
    all families must be counted, because the run disposes of no others.
    """
    due, share = 0, policy.share_percent * families.count(run.organization_id)
    for verdicts in rules.verdicts(run.organization_id, policy, timezone.now()):
        due += sum(verdict.is_due for verdict in verdicts.values())
        if due * 100 > share and time.monotonic() >= ends:
            break
        leases.renew(run, lasts=_LEASE)
    return due, due * 100 > share


def _dispose_of(batch: Families, run: Run, policy: Policy, caller: Caller, ends: float) -> Progress:
    """Dispose of a batch's due families. Respects holds, notices and policies that change before the commit.

    A disposal whose storage takes longer than `ends` is finished by the task that finishes disposals. Families whose
    disposals are not signed by then are left to the next call."""
    organization_id, now = batch.organization_id, timezone.now()
    verdicts = rules.evaluate(batch, policy, now)
    due = Families(organization_id, [root for root, verdict in verdicts.items() if verdict.is_due][: _room(run)])
    order = Order(policy.number, policy.days, _REASON, caller.actor.label)
    prepared = custody.prepare(due, order, until=ends)
    if next_root := prepared.next_root:
        batch, due = (part._replace(roots=[root for root in part.roots if root < next_root]) for part in (batch, due))
        verdicts = {root: verdict for root, verdict in verdicts.items() if root < next_root}
    with transaction.atomic():
        rules.lock(organization_id)
        _policy_of(run)
        families.lock(due)
        verdicts |= rules.evaluate(due, policy, now)
        rows = custody.dispose(prepared, [root for root in due.roots if verdicts[root].is_due])
        disposed = len({row.root for row in rows})
        figures = Counter(_FIGURES[verdict.reason] for verdict in verdicts.values() if verdict.reason in _FIGURES)
        figures.update(considered=len(batch.roots), disposed=disposed, records=len(rows))
        added = {name: F(name) + count for name, count in figures.items()}
        leases.renew(run, lasts=_LEASE, cursor=list(batch.roots)[-1], **added)
    run.disposed += disposed
    finishing = custody.finish_disposals(organization_id, seconds=ends - time.monotonic())
    unfinished = sum(failed for _, failed in finishing)
    return Progress(len(batch.roots), disposed, unfinished)


def _room(run: Run) -> int | None:
    """Return how many more families a run may dispose of: in a daily run, those it counted or an owner confirmed."""
    return None if run.candidates is None else max(run.candidates - run.disposed, 0)


def _finish(run: Run, policy: Policy, caller: Caller) -> None:
    age_sweeps.sweep(caller.organization_id, rules.cutoff(policy, timezone.now()))
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
    """Start or resume the daily run of an organization, unless today's is over or waits for an owner."""
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
    except DomainError as error:  # it concerns this organization: the others go on
        log.error("a run has stopped", organization=str(organization_id), reason=str(error))


def organizations_with_a_policy() -> list[uuid.UUID]:
    """Return the organizations in random order, so that a large one does not always delay the same others."""
    rows = Policy.objects.unscoped("the daily run serves every organization")
    organizations = set(rows.values_list("organization", flat=True))
    return random.sample(sorted(organizations), len(organizations))
