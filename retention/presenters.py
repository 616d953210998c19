"""Answers about retention that combine several objects."""

import uuid

from custody.disposal import families
from custody.record_types import Floor
from decisions.models import Decision
from retention import rules, selectors
from retention.models import Policy
from retention.schemas import DailyOut, DecisionRetention, FloorOut, HoldsOut, RetentionOut


def retention(organization_id: uuid.UUID) -> RetentionOut:
    history = selectors.history(organization_id)
    current = history[0] if history else None
    daily = rules.policy_in_force(organization_id, daily=True)
    return RetentionOut(
        days=current and current.days,
        note=current and current.note,
        current=current,
        history=history,
        daily=DailyOut(days=daily and daily.days, policy=daily and daily.number),
        floors=[_floor(floor, current) for floor in families.all_floors()],
        holds=HoldsOut(
            in_force=rules.holds_in_force(organization_id).count(), families=selectors.count_held(organization_id)
        ),
        journal=selectors.journal_is_kept(organization_id),
    )


def decision_retention(decision: Decision) -> DecisionRetention:
    """Return the verdict on a decision's family, with its date."""
    current, verdict = selectors.policy_and_verdict(decision)
    return DecisionRetention.of(
        verdict,
        decision_id=decision.decision_id,
        state=verdict.reason if current else "no_policy",
        policy=current and current.number,
        disposed_from=verdict.disposed_from if current else None,
        floor=verdict.floor and _floor(verdict.floor, current),
    )


def _floor(floor: Floor, current: Policy | None) -> FloorOut:
    return FloorOut.of(floor, lengthens=current is not None and floor.days > current.days)
