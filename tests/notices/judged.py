"""Decision records in many forms, and helpers that judge their letters, for the tests of law packs."""

from dataclasses import replace
from datetime import UTC, datetime

from notices import checklist
from notices.checklist import RequestedReview
from notices.warnings import find
from tests.notices.drafts import checked_draft, drafted
from tests.notices.test_reasons import Words

NAMES = {"organization": "Example Bank", "contact": "Example Bank, 1 Example Street"}
AUTOMATED = {
    "decision_id": "d-1",
    "decided_at": "2026-11-21T10:00:00Z",
    "subject": {"jurisdiction": "DE"},
    "system": {"name": "Example Scorecard"},
    "events": {"application": {"income": 31000}},
    "outcome": {
        "action": "denied",
        "solely_automated": True,
        "legal_basis": "contract",
        "reasons": ["The income is too low for the loan."],
    },
}
REVIEW = {
    "decision_id": "reconsideration-1",
    "decided_at": "2027-02-01T10:00:00Z",
    "requested_by": "the applicant",
    "reconsiders": {"decision_id": "loan-1"},
    "outcome": {"result": "upheld"},
    "approval": {"approver": "reviewer 12", "authority": "credit officer"},
}
SOLELY = ["gdpr_22", "uk_gdpr_22c", "ca_qc_12_1"]


def about(**outcome: object) -> dict:
    """Return the decision with changed outcome fields. None removes a field."""
    changed = {**AUTOMATED["outcome"], **outcome}
    return {**AUTOMATED, "outcome": {name: value for name, value in changed.items() if value is not None}}


def letter(record: dict, pack: str, language: str = "en") -> dict:
    return drafted(record, pack, language, placeholders=NAMES)


def kinds(record: dict, pack: str, language: str = "en", **content: object) -> list[str]:
    checked, own = checked_draft(record, pack, language, placeholders=NAMES)
    warnings = find(checked, {**own, **content})
    return [warning.id.rpartition("-")[0] for warning in warnings]


def sentences(record: dict, pack: str, kind: str, language: str = "en") -> list[str]:
    warnings = find(*checked_draft(record, pack, language, placeholders=NAMES))
    return [warning.sentence for warning in warnings if warning.id.startswith(f"{kind}-")]


def results(record: dict, pack: str, language: str = "en", *, asked: bool = False) -> dict[str, tuple[str, bool]]:
    """Return the result of each element, and whether it blocks."""
    request = RequestedReview(datetime.now(UTC), None) if asked else None
    checked, content = checked_draft(record, pack, language, placeholders=NAMES)
    elements = checklist.check(replace(checked, requested_review=request), Words(content))
    return {element.id: (element.result, element.blocks) for element in elements}


def missing(record: dict, pack: str, **how: bool) -> set[str]:
    """Return the ids of the elements that block approval."""
    return {name for name, result in results(record, pack, **how).items() if result == ("missing", True)}
