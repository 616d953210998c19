"""Policies, holds and disposals, as the API shows them."""

import uuid
from typing import Any

from config.http.timestamps import rfc3339
from custody.disposal import families
from custody.models import Disposal
from custody.record_types import Floor
from decisions.models import Decision
from retention import rules, selectors
from retention.models import Hold, Policy
from retention.preview import Preview


def retention(organization_id: uuid.UUID) -> dict[str, Any]:
    history = selectors.history(organization_id)
    current = history[0] if history else None
    daily = rules.policy_in_force(organization_id, daily=True)
    return {
        "days": current and current.days,
        "note": current and current.note,
        "current": current and policy(current),
        "history": [policy(version) for version in history],
        "daily": {"days": daily and daily.days, "policy": daily and daily.number},
        "floors": [_floor(floor, current) for floor in families.all_floors()],
        "holds": {
            "in_force": rules.holds_in_force(organization_id).count(),
            "families": selectors.count_held(organization_id),
        },
        "journal": selectors.journal_is_kept(organization_id),
    }


def policy(row: Policy) -> dict[str, Any]:
    return {
        "number": row.number,
        "days": row.days,
        "note": row.note,
        "share_percent": row.share_percent,
        "created_by": row.created_by,
        "created_at": rfc3339(row.created_at),
        "shortens": row.shortens,
        "announced_at": rfc3339(row.announced_at),
        "begins_at": rfc3339(row.begins_at),
    }


def preview(figures: Preview) -> dict[str, Any]:
    return {
        "frees": figures.newly_due,
        "due": figures.due,
        "held": figures.held,
        "kept_by_floor": [{**_law(floor), "families": count} for floor, count in figures.by_floor.items()],
        "with_obstacle": figures.with_obstacle,
        "at_least": figures.is_capped,
    }


def hold(row: Hold) -> dict[str, Any]:
    return {
        "number": row.number,
        "matter": row.matter,
        "reason": row.reason,
        "record_id": str(row.root) if row.root else None,
        "filter": row.filter,
        "placed_by": row.placed_by,
        "placed_at": rfc3339(row.placed_at),
        "lifted_by": row.lifted_by or None,
        "lifted_at": rfc3339(row.lifted_at),
        "lifted_because": row.lifted_because or None,
    }


def disposal(row: Disposal) -> dict[str, Any]:
    return {
        "record_id": str(row.pk),
        "first_record_id": str(row.root),
        "policy": row.policy,
        "disposed_at": rfc3339(row.disposed_at),
        "finished_at": rfc3339(row.finished_at),
        "kept_until": rfc3339(row.kept_until),
        "recoverable_until": rfc3339(row.recoverable_until),
    }


def decision_retention(decision: Decision) -> dict[str, Any]:
    """Return the verdict on a decision's family, with its date."""
    current, verdict = selectors.policy_and_verdict(decision)
    return {
        "decision_id": decision.decision_id,
        "state": verdict.reason if current else "no_policy",
        "policy": current and current.number,
        "counts_from": rfc3339(verdict.counts_from),
        "disposed_from": rfc3339(verdict.disposed_from) if current else None,
        "floor": verdict.floor and _floor(verdict.floor, current),
        "holds": verdict.holds,
        "obstacles": verdict.obstacles,
    }


def _floor(floor: Floor, current: Policy | None) -> dict[str, Any]:
    return {**_law(floor), "lengthens": current is not None and floor.days > current.days}


def _law(floor: Floor) -> dict[str, Any]:
    return {"pack": floor.source, "days": floor.days, "citation": floor.citation}
