"""A client that knows only the API contract: fourteen operations, one key, default settings, many shapes of records."""

from typing import Any

import pytest

from notices.models import Approval
from tests.cases import each_case
from tests.notices.conftest import CLAIM, done, guard, refused, send, shown

pytestmark = pytest.mark.django_db

RECORDS: dict[str, dict[str, Any]] = {
    "score": {
        "events": {"credit_check": {"score": 580}},
        "outcome": {"decision": "declined", "reason": "Credit score below minimum"},
    },
    "codes": {
        "decided_at": "2026-09-01T08:00:00Z",
        "events": {"bureau": {"score": 612, "range": "300-850"}},
        "outcome": {"action": "denied", "reasons": [{"code": "R17"}, {"code": "R02", "text": "Score too low"}]},
    },
    "list of events": {
        "events": [{"name": "screening", "matched": "no", "cv_pages": 3}, {"name": "ranking", "rank": 41}],
        "outcome": {"result": "rejected", "reasons": ["Internal policy"]},
        "approval": {"approver": "A. Example", "authority": "recruiter"},
    },
    "offer": {
        "events": {"quote": {"amount": "5.000", "currency": "EUR"}},
        "outcome": {"action": "counteroffer", "offer": {"amount": 2500, "apr": 0.189}, "conditions": ["A guarantor"]},
    },
    "sensitive": {
        "subject": {"reference": "C-77", "religion": "none"},
        "events": {"form": {"email": "someone@mail.example", "national_id": "078-05-1120", "nationality": "FR"}},
        "outcome": {"action": "denied", "reasons": ["Nationality not supported"]},
    },
    "German": {
        "subject": {"language": "de-AT"},
        "events": {"Prüfung": {"Einkommen": 1800, "Bonität": "schwach"}},
        "outcome": {"action": "abgelehnt", "reasons": ["Ihr Einkommen reicht nicht aus."]},
    },
    "texts for flags": {
        "events": {"triage": {"priority": "low"}},
        "outcome": {"action": "approved", "solely_automated": "no", "review": {"available": "maybe"}},
    },
    "contradiction": {
        "decided_at": "yesterday",
        "events": {"score": {"value_percent": 46, "unit": "points"}},
        "outcome": {"action": "approved", "status": "denied", "solely_automated": True},
        "approval": {"approver": "B. Example"},
    },
    "factors": {
        "events": {"model": {"income": 900, "debts": 12000, "household": {"children": 2}}},
        "outcome": {
            "action": "denied",
            "principal_factors": [{"name": "income", "value": 800, "direction": "-"}, {"name": "debts"}],
        },
    },
    "quantity": {
        "events": {f"check_{number}": {"passed": number % 2 == 0, "value": number} for number in range(40)},
        "outcome": {"action": "denied", "reasons": [f"Check {number} was not passed" for number in range(40)]},
    },
}
"""Plain records, as integrators send them who know nothing of packs."""


def content(source: str) -> dict[str, Any]:
    """Return content in the client's own words, with every field and with sources that exist in the record."""
    item = {"statement": "Your request was looked at, score 12345, on 1 May 2031 by Max Mustermann.", "source": source}
    return {
        "title": "Your application",
        "decision_summary": [item],
        "role_of_automated_system": [{"statement": "A computer decided <b>alone</b>.", "source": source}],
        "main_factors": [{"statement": "Score too low.", "source": source}],
        "inputs_used": [{"statement": "Everything you sent us.", "source": source}],
        "how_to_request_inputs": "Call {us}.",
        "rights": ["You can object."],
        "human_review_available": True,
        "how_to_request_review": "Write to us.",
        "deadline_note": "Within 14 days.",
        "framework": "Fair lending rules",
        "language": "en",
    }


def first_source(record: dict[str, Any]) -> str:
    """Return the dotted path of a field of the outcome, as the contract defines it."""
    return f"outcome.{next(iter(record['outcome']))}"


def test_the_contract_alone_suffices(api):
    """A client with one key and default settings calls all fourteen operations with ten plain records."""
    call = lambda method, path, body: done(send(api, method, path, body))  # noqa: E731
    done_with = {}
    for name, record in RECORDS.items():
        for edited in (False, True):
            decision_id = f"{name} {edited}"
            done(api.ingest({"decision_id": decision_id, **record}))
            drafted = call("POST", f"decisions/{decision_id}/notices", {"pack": "general", "recipient": {"name": "P."}})
            path = f"notices/{drafted['notice_id']}"
            if edited:
                call("PATCH", path, {"content": content(first_source(record)) | {"language": drafted["language"]}})
            approved = call("POST", f"{path}/approve", {**CLAIM, "comment": "Seen."})
            assert (approved["state"], approved["problems"]) == ("approved", []), (name, edited)
            assert [api.get(f"/v1/{path}/letter?format={form}").status_code for form in ("html", "text")] == [200, 200]
            done_with[decision_id] = approved["approval"]["open_warnings"]
    assert all(done_with[f"{name} True"] for name in RECORDS), "each edited letter has warnings, and they are kept"
    rationale = {"rationale": "The income was proven.", "evidence_considered": ["payslip"], "outcome": "overturned"}
    who = {"requested_by": "the person", "reviewer": "R. Example", "reviewer_authority": "credit officer"}
    call("POST", "decisions/score False/reconsideration", {**who, **rationale, "new_action": "approved"})
    connector = {"kind": "http_json", "name": "Loans", "config": {"url": "https://source.example/records"}}
    assert "detail" not in call("POST", "connectors/test", connector)
    source_id = call("POST", "connectors", {**connector, "enabled": False})["source_id"]
    call("PATCH", f"connectors/{source_id}", {"schedule_seconds": 600, "reset_cursor": False})
    call("PATCH", "auth/onboarding", {"opened": True})
    call("POST", "auth/otp/request", {"email": "someone@bank.example"})
    call("POST", "auth/invites", {"email": "new@bank.example", "role": "editor"})
    call("POST", "auth/api-keys", {"name": "second"})
    call("PUT", "retention", {"days": 3650, "note": "As agreed."})
    call("POST", "custody/test", {"provider": "aws", "config": {}})


def prepared(api: Any, **changes: Any) -> str:
    """Return the path of a notice that a client wrote in its own words, with some content changed."""
    done(api.ingest({"decision_id": "score", **RECORDS["score"]}))
    path = f"notices/{done(send(api, 'POST', 'decisions/score/notices'))['notice_id']}"
    done(send(api, "PATCH", path, {"content": content("outcome.decision") | changes}))
    return path


@each_case(
    ("changes", "because"),
    [
        ({"inputs_used": [{"statement": "Your age.", "source": "events.nowhere"}]}, "leads nowhere"),
        ({"decision_summary": []}, "what was decided"),
        ({"decision_summary": [{"statement": " \u200b", "source": "outcome.reason"}]}, "what was decided"),
        ({"rights": ["Write to {contact}."]}, "{contact}"),
    ],
)
def test_an_advisory_pack_forbids_a_lost_source_an_empty_summary_and_an_unfilled_placeholder(api, changes, because):
    path = prepared(api, **changes)
    assert because in refused(send(api, "POST", f"{path}/approve", CLAIM))
    assert any(because in problem for problem in done(api.get(f"/v1/{path}"))["problems"])
    done(send(api, "PATCH", path, {"content": content("outcome.reason")}))
    done(send(api, "POST", f"{path}/approve", CLAIM))


def test_open_problems_are_listed_before_approval_and_stored_with_it(api):
    path = prepared(api, title="", main_factors=[{"statement": "It is 12.", "source": "outcome.decision"}])
    before = done(api.get(f"/v1/{path}"))
    kinds = {warning["id"].rpartition("-")[0] for warning in before["warnings"]}
    assert {"no_title", "other_framework", "untold_part", "not_in_field"} <= kinds
    first, *others = before["warnings"]
    approval = done(send(api, "POST", f"{path}/approve", CLAIM | {"acknowledge": [first["id"], "other-0"]}))["approval"]
    assert (approval["acknowledged"], approval["open_warnings"]) == ([first], others)
    assert shown(api, before)["approval"] == approval


def test_an_organization_may_require_acknowledgement_of_advisory_problems(api):
    guard(api.organization, require_acknowledged=True)
    path = prepared(api)
    assert "Acknowledge each warning" in refused(send(api, "POST", f"{path}/approve", CLAIM))
    seen = [warning["id"] for warning in done(api.get(f"/v1/{path}"))["warnings"]]
    approval = done(send(api, "POST", f"{path}/approve", CLAIM | {"acknowledge": seen}))["approval"]
    assert ([warning["id"] for warning in approval["acknowledged"]], approval["open_warnings"]) == (seen, [])
    assert Approval.objects.get().open_warnings == []


def test_a_client_may_write_a_letter_in_another_of_the_pack_s_languages(api):
    path = prepared(api)
    for wish, language in (("de", "de"), ("fr-CA", "fr")):
        edited = done(send(api, "PATCH", path, {"content": {"language": wish}}))
        assert (edited["language"], edited["content"]["language"]) == (language, language)
    assert 'lang="fr"' in api.get(f"/v1/{path}/letter").content.decode()
    [problem] = send(api, "PATCH", path, {"content": {"language": "ja"}}).json()["detail"]
    assert (problem["type"], problem["ctx"]) == ("literal_error", {"expected": "'en' or 'de' or 'fr'"})
    done(send(api, "POST", f"{path}/approve", CLAIM))
