"""API answers that combine objects, and those of ingest: a dictionary is made in a third of a model's time."""

import uuid
from dataclasses import asdict
from typing import Any

from config.http.timestamps import rfc3339
from custody.models import Entry
from custody.selectors import Receipt
from decisions.models import Decision
from decisions.review_records import ReviewRecord
from decisions.services import Line
from decisions.unnotified_requests import UnnotifiedRequest


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
