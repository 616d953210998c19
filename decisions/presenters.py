"""Decisions and what belongs to them as the API shows them."""

import uuid
from dataclasses import asdict
from typing import Any

from config.http.timestamps import rfc3339
from custody.models import Entry
from custody.selectors import Receipt
from decisions import selectors
from decisions.askers import Asker
from decisions.models import Decision
from decisions.reviews import ReviewRecord
from decisions.services import DryRun, Line


def summary(decision: Decision) -> dict[str, Any]:
    """A decision as lists show it; what a record does not say is null."""
    return {
        "decision_id": decision.decision_id,
        "record_id": str(decision.pk),
        "kind": decision.kind,
        "source": decision.source,
        "received_at": rfc3339(decision.received_at),
        "decided_at": rfc3339(decision.decided_at),
        "action": decision.action or None,
        "system": {"name": decision.system_name or None, "version": decision.system_version or None},
        "subject": {"reference": decision.subject_reference or None},
        "custody": decision.record.state,
        "current_action": decision.current_action or None,
        "latest_reconsideration": decision.latest_reconsideration,
        "latest_outcome": decision.latest_outcome,
    }


def detail(decision: Decision) -> dict[str, Any]:
    """A decision with its chain of reconsiderations."""
    history = selectors.history(decision)
    decision.take_current(history)
    return {
        **summary(decision),
        "reconsiders": decision.reconsiders.decision_id if decision.reconsiders else None,
        "first_record_id": str(decision.first_id) if decision.first_id else None,
        "history": [_reconsideration(each) for each in history],
    }


def _reconsideration(row: Decision) -> dict[str, Any]:
    return {
        "decision_id": row.decision_id,
        "reconsiders": row.reconsiders.decision_id if row.reconsiders else None,
        "received_at": rfc3339(row.received_at),
        "outcome": row.review_outcome,
        "new_action": row.action or None,
        "reviewer": row.reviewer,
        "reviewer_authority": row.reviewer_authority,
    }


def receipt(decision_id: str, receipt: Receipt) -> dict[str, Any]:
    return {"decision_id": decision_id, **receipt.as_json()}


def queued(decision_id: str, record_id: uuid.UUID) -> dict[str, Any]:
    """A record that is taken and waits for its signature."""
    return {"decision_id": decision_id, "record_id": str(record_id), "custody": Entry.State.QUEUED}


def line(line: Line, *, receipts: bool = False) -> dict[str, Any]:
    """The answer to one line of a bulk ingest, with the record's receipt if `receipts` are asked for; what there is
    nothing to say of is left out."""
    shown = {
        "line": line.number,
        "status": line.status,
        "decision_id": line.decision_id,
        "record_id": str(line.record_id) if line.record_id else None,
        "detail": line.detail,
        "receipt": receipt(str(line.decision_id), line.receipt) if receipts and line.receipt else None,
    }
    return {name: value for name, value in shown.items() if value is not None}


def review_record(record: ReviewRecord, original: Decision, waiting: list[Asker]) -> dict[str, Any]:
    """A reconsideration as it is answered to whoever sent its texts: with its receipt, unless it has none yet, and with
    those who wait to be told of it."""
    return {
        "decision_id": record.decision_id,
        **(record.receipt.as_json() if record.receipt else {}),
        "reconsiders": original.decision_id,
        "rationale": record.rationale,
        "evidence_considered": record.evidence_considered,
        "to_be_told": [{**asdict(asker), "due_at": rfc3339(asker.due_at)} for asker in waiting],
    }


def dry_run(found: DryRun) -> dict[str, Any]:
    """What would become of a record that was only tried."""
    return {
        "dry_run": True,
        "decision_id": found.decision_id,
        "would_be": found.status,
        "warnings": [warning._asdict() for warning in found.warnings],
    }
