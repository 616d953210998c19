"""Records under US law, and the elements, warnings and rights of their letters."""

import json
from datetime import UTC, datetime
from typing import Any

from notices import checklist, deadlines
from notices.checklist import ElementResult
from notices.packs import packs
from notices.record_paths import Facts
from tests.notices.drafts import case, drafted, warnings_of

CREDIT, HEALTH, COLORADO, CALIFORNIA = "us_ecoa_fcra", "us_health_denial", "us_co_admt", "us_ca_admt"
RECEIVED = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
REASONS = ["Your income is too low for the loan you asked for."]


class Words:
    def __init__(self, content: dict[str, Any]) -> None:
        self.content, self.cited, self.not_applicable = content, {}, {}


def record(events: Any = None, subject: dict | None = None, **outcome: Any) -> dict[str, Any]:
    fields = {"action": "denied", "reasons": REASONS, **outcome}
    return {"decision_id": "d", "subject": subject or {}, "events": events or {}, "outcome": fields}


def elements(record: dict, pack: str, settings: dict | None = None, **content: Any) -> dict[str, ElementResult]:
    words = {**drafted(record, pack, placeholders=settings), **content}
    return {element.id: element for element in checklist.check(case(record, pack), Words(words))}


def asked(record: dict, pack: str) -> set[str]:
    return {name for name, element in elements(record, pack).items() if element.result != "not_applicable"}


def blocking(record: dict, pack: str, **content: Any) -> set[str]:
    checked = elements(record, pack, dict.fromkeys(packs()[pack].settings, "something"), **content).items()
    return {name for name, element in checked if element.result == "missing" and element.blocks}


def warned(record: dict, pack: str, **content: list[dict]) -> set[str]:
    return {warning.id.rpartition("-")[0] for warning in warnings_of(record, pack, **content)}


def rights(record: dict, pack: str, **settings: str) -> str:
    return "\n".join(drafted(record, pack, placeholders=settings)["rights"])


def saying(*reasons: str) -> dict[str, Any]:
    return {"main_factors": [{"statement": reason, "source": "outcome.reasons.0"} for reason in reasons]}


def due(given: dict, pack: str = HEALTH, clock: str = "pre_service") -> deadlines.Deadline:
    facts = Facts(json.dumps(given).encode())
    deadline = deadlines.clock_deadline(packs()[pack], clock, facts, received_at=datetime(2027, 6, 1, tzinfo=UTC))
    assert deadline
    return deadline
