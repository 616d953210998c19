"""A decision and reviews of it, sent through the API."""

import base64
import hashlib
import json
from typing import Any

import pytest

from custody.models import Entry
from decisions.models import Decision
from tests.conftest import Api
from tests.support.kept_rows import make_once
from tests.support.unguarded import unguarded

RAW = (
    b'{"decision_id": "loan-1",  "decided_at": "2026-01-02T03:04:05Z", "subject": {"reference": "application 7"}, '
    b'"system": {"name": "Example Scorecard", "version": "3.2"}, "outcome": {"action": "denied"}, "ratio": 0.920}'
)
REVIEW = {
    "requested_by": "the applicant",
    "reviewer": "A. Reviewer",
    "reviewer_authority": "credit officer",
    "evidence_considered": ["payslip of March", "letter of 4 May"],
    "outcome": "overturned",
    "rationale": "The payslip shows a higher income than the file.",
    "new_action": "approved",
}
SENT_ONCE = {"idempotency_key": "6fb3b9a8-2f0d-4d0b-9f38-0a4f8e0f2a11"}
"""The field that a form adds to a review."""
REQUIRED = ["requested_by", "reviewer", "reviewer_authority", "outcome", "rationale"]


def reconsider(api: Api, decision_id: str = "loan-1", **changes: Any) -> Any:
    """Send REVIEW with changes, and return the answer."""
    return api.post(f"/v1/decisions/{decision_id}/reconsideration", json.dumps({**REVIEW, **changes}).encode())


def check(api: Api, decision_id: str, **texts: Any) -> Any:
    return api.post(f"/v1/decisions/{decision_id}/reconsideration/check", json.dumps(texts).encode())


def record_of(api: Api, decision_id: str) -> dict[str, Any]:
    return json.loads(api.get(f"/v1/decisions/{decision_id}/record").content)


def statement_of(receipt: dict[str, Any]) -> bytes:
    return base64.b64decode(receipt["envelope"]["payload"])


def is_committed(commitment: dict[str, str], text: str) -> bool:
    """Whether a commitment is to a text. Uses only a hash function and none of our code, like a customer."""
    salt = base64.b64decode(commitment["salt"])
    return len(salt) == 32 and hashlib.sha256(salt + text.encode()).hexdigest() == commitment["commitment"]


def forget_all_records() -> None:
    """Delete the rows of all records, as the restore of an older dump does. The vault's objects remain."""
    for model in (Decision, Entry):
        rows = model.objects.all()
        with unguarded():
            rows._raw_delete(rows.db)


@pytest.fixture
def original(api: Api) -> dict[str, Any]:
    """Ingest the decision `loan-1`, and return its receipt."""

    def take() -> dict[str, Any]:
        answer = api.ingest(RAW)
        assert answer.status_code == 201
        return answer.json()

    return make_once("original", take)
