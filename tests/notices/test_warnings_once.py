"""One fault of a record gives one warning, however many places and rules show it."""

import pytest

from notices import checklist
from notices.warnings import ApprovalWarning
from tests.cases import each_case
from tests.notices.drafts import case, drafted, warned, warnings_of
from tests.notices.judged import Words

BASE = {"decision_id": "d", "decided_at": "2026-11-02T10:00:00Z", "system": {"name": "Card", "version": "1"}}


def about(outcome: dict, **more: object) -> dict:
    return {**BASE, "outcome": {"action": "denied", **outcome}, **more}


def only(record: dict, pack: str, *kinds: str) -> ApprovalWarning:
    """Return the one warning of these kinds."""
    warnings = [warning for kind in kinds for warning in warned(kind, warnings_of(record, pack))]
    assert len(warnings) == 1, warnings
    return warnings[0]


WHO_DECIDED = ("contradiction", "who_decided", "not_automated", "human_decided", "no_admt")


@each_case("pack", ["gdpr_22", "us_ca_admt", "us_co_admt", "general"])
@each_case(
    ("outcome", "approval"),
    [
        ({"solely_automated": True}, {"approver": "Pat Example", "human_involvement": "decided_by_human"}),
        (
            {"solely_automated": True, "sole_factor": True, "materially_influenced_by_system": False},
            {"approver": "Pat Example"},
        ),
        ({"solely_automated": False}, {"approver": "Pat Example", "human_involvement": "none"}),
    ],
)
def test_who_decided_is_contradicted_once_and_nothing_is_made_of_it(pack, outcome, approval):
    warnings = only(about(outcome, approval=approval), pack, *WHO_DECIDED)
    assert "approval.approver names a person" in warnings.sentence


def test_a_law_that_says_itself_what_to_ask_of_the_person_who_decided_is_asked_alone():
    record = about({}, approval={"approver": "Pat Example", "human_involvement": "decided_by_human"})
    assert "7001(e)(1)" in only(record, "us_ca_admt", *WHO_DECIDED).sentence
    assert "C-634/21" in only(record, "gdpr_22", *WHO_DECIDED).sentence


@pytest.mark.parametrize("name", ["bureau", "bureauPull", "consumer_report", "credit_bureau", "credit_pull"])
def test_a_report_that_was_said_not_to_be_used_is_warned_about_once(name):
    record = about({"consumer_report_used": False}, events={name: {"bureau": "Example Bureau"}})
    assert "1681m(a)" in only(record, "us_ecoa_fcra", "contradiction", "consumer_report_denied").sentence


@pytest.mark.parametrize("plan", ["individual", "employer", "medicare_advantage", None])
def test_a_code_without_its_meaning_is_reported_once_beside_the_missing_reason(plan):
    record = about({"denial_code": "CO-50", "reasons": [{"code": "CO-50"}]}, subject={"plan_type": plan})
    content = drafted(record, "us_health_denial")
    problems = checklist.problems(case(record, "us_health_denial"), Words(content))
    assert [problem for problem in problems if "specific reasons" in problem]
    warnings = warnings_of(record, "us_health_denial")
    code_sentences = [problem for problem in problems if "code means" in problem]
    code_sentences += [row.sentence for row in warnings if "meaning" in row.sentence or "code" in row.sentence]
    assert len(code_sentences) == 1
    assert warned("no_reason", warnings) == []


def test_where_some_reasons_say_something_each_of_the_others_is_named():
    record = about({"reasons": ["NULL", "Your income is too low for the payments.", "R07"]})
    factors = [item["statement"] for item in drafted(record, "general")["main_factors"]]
    empty = [f"main_factors.{n}" for n, factor in enumerate(factors) if "income" not in factor]
    assert [warning.where for warning in warned("no_reason", warnings_of(record, "general"))] == empty


@pytest.mark.parametrize("plan", [{"plan": {"type": "flurb"}}, {"plan_kind": "flurb"}, {}])
def test_a_plan_of_no_known_kind_is_warned_about_once(plan):
    record = about({"reasons": ["No referral."]}, subject=plan)
    only(record, "us_health_denial", "plan_unknown", "unknown_value", "unknown_kind")


@each_case("language", ["en", "de", "fr"])
@each_case("reason", ["n. a.", "n.a."])
def test_what_says_nothing_is_in_no_other_language(reason, language):
    warnings = warnings_of(about({"reasons": [reason]}), "general", language)
    assert [warning.id.rpartition("-")[0] for warning in warnings if warning.where == "main_factors.0"] == ["no_reason"]


CONDITION = {"type": "guarantor", "text": "A co-signer with an income of 3,000 dollars a month signs the lease."}


def test_a_required_signature_is_a_condition_and_no_personal_data():
    record = about({"action": "approved with conditions", "conditions": [CONDITION]})
    assert not warned("withheld_term", warnings_of(record))
    assert CONDITION["text"] in str(drafted(record)["decision_summary"])
