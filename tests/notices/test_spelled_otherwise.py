"""Fields in other spellings than the packs use: `receivedAt`, `received-on`."""

import json

import pytest

from decisions.record import outcomes
from notices.packs import flags
from notices.record_paths import Facts, NoSuchField
from tests.cases import each_case
from tests.notices.drafts import case, drafted, listed_problems
from tests.notices.law_us import due, record

COMPLETED = ["completedAt", "completed-at", "Completed At", "completed_on", "completionDate", "completedDate"]
SCORE = {
    "creditScore": {
        "value": 580,
        "scoreDate": "2026-10-02",
        "scoreProvider": "Experian",
        "scoreRange": {"minimum": 300, "maximum": 850},
        "keyFactors": ["Too many late payments"],
    }
}


def facts(given: dict) -> Facts:
    return Facts(json.dumps(given).encode())


@each_case("name", ["receivedAt", "received-at", "Received At", "RECEIVED_AT", "receivedOn", "receivedDate"])
@each_case("event", ["request", "Request"])
def test_a_clock_begins_with_what_the_record_spells_otherwise(event: str, name: str):
    deadline = due(record({event: {name: "2026-11-02T10:00:00Z"}}, {"planType": "ERISA"}, claimType="preService"))
    assert not deadline.assumed
    assert deadline.triggered_at.isoformat() == "2026-11-02T10:00:00+00:00"


@pytest.mark.parametrize("event", ["accessRequest", "access-request", "AccessRequest"])
def test_an_event_is_found_in_any_spelling(event: str):
    assert facts({"events": {event: {"receivedAt": "2026-11-02"}}}).get("events.access_request.received_at")


def test_what_is_spelled_as_packs_spell_it_counts_first_and_citations_keep_the_records_spelling():
    given = facts({"outcome": {"planProvision": "wrong", "plan_provision": "right", "Clinical-Criteria": "those"}})
    assert given.get("outcome.plan_provision") == "right"
    assert given.at("outcome.clinical_criteria").path == "outcome.Clinical-Criteria"
    with pytest.raises(NoSuchField):
        given.find("outcome.clinical_criteria")


REASON = ["Your income is too low for the loan you asked for."]


@pytest.mark.parametrize("name", ["solelyAutomated", "solely-automated", "Solely_Automated"])
def test_flags_are_read_in_any_spelling_and_texts_in_them_are_not(name: str):
    assert facts(record(**{name: True})).get("outcome.solely_automated") is True
    assert [*flags.unreadable(facts(record(**{name: "no"})).get, ())] == ["outcome.solely_automated"]
    given = record(**{name: "no"})
    assert any("neither true nor false" in problem for problem in listed_problems(case(given), drafted(given)))


def test_the_names_of_a_record_are_folded_once(monkeypatch):
    folded, fold = [], outcomes.folded
    monkeypatch.setattr(outcomes, "folded", lambda name: folded.append(name) or fold(name))
    given = facts({"events": {"application": {f"amount_{i}": i for i in range(500)}}})
    for _ in range(20):
        given.get("events.application.received_at")
    assert len(folded) == 500 + 1
