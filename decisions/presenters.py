"""API answers about decisions, receipts and reconsiderations."""

import uuid
from dataclasses import asdict
from typing import Any

from config.http.timestamps import rfc3339
from custody.models import Entry
from custody.selectors import Receipt
from decisions import selectors
from decisions.models import Decision
from decisions.review_records import ReviewRecord
from decisions.services import DryRun, Line
from decisions.unnotified_requests import UnnotifiedRequest


def summary(decision: Decision) -> dict[str, Any]:
    """Return a decision as lists show it. A value that the record lacks is null."""
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
    """Return a decision with its chain of reconsiderations."""
    history = selectors.history(decision)
    decision.take_current(history)
    return {
        **summary(decision),
        "reconsiders": decision.reconsiders.decision_id if decision.reconsiders else None,
        "first_record_id": str(decision.first_id) if decision.first_id else None,
        "history": [_reconsideration(row) for row in history],
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
    """Return the answer for a record that is taken and waits for its signature."""
    return {"decision_id": decision_id, "record_id": str(record_id), "custody": Entry.State.QUEUED}


def line(line: Line, *, receipts: bool = False) -> dict[str, Any]:
    """Return the answer to one line of a bulk ingest, without empty fields. `receipts` adds the record's receipt."""
    shown = {
        "line": line.number,
        "status": line.status,
        "decision_id": line.decision_id,
        "record_id": str(line.record_id) if line.record_id else None,
        "detail": line.detail,
        "receipt": receipt(str(line.decision_id), line.receipt) if receipts and line.receipt else None,
    }
    return {name: value for name, value in shown.items() if value is not None}


def review_record(record: ReviewRecord, original: Decision, unnotified: list[UnnotifiedRequest]) -> dict[str, Any]:
    """Return the answer to the sender of a reconsideration: its salts, its receipt if there is one yet, and the
    requests whose person has to be notified."""
    return {
        "decision_id": record.decision_id,
        **(record.receipt.as_json() if record.receipt else {}),
        "reconsiders": original.decision_id,
        "rationale": record.rationale,
        "evidence_considered": record.evidence_considered,
        "to_be_told": [{**asdict(request), "due_at": rfc3339(request.due_at)} for request in unnotified],
    }


def dry_run(result: DryRun) -> dict[str, Any]:
    """Return the answer to a dry run."""
    return {
        "dry_run": True,
        "decision_id": result.decision_id,
        "would_be": result.status,
        "warnings": [warning._asdict() for warning in result.warnings],
    }
