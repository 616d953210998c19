"""Packs for US credit (ECOA and FCRA), Colorado and California, as the law was on 21 November 2026."""

import json
from datetime import date
from typing import Any

import pytest

from notices import deadlines
from notices.packs import packs
from notices.record_paths import Facts
from tests.cases import each_case
from tests.notices.drafts import drafted, statement_texts
from tests.notices.law_us import (
    CALIFORNIA,
    COLORADO,
    CREDIT,
    REASONS,
    RECEIVED,
    asked,
    blocking,
    due,
    elements,
    record,
    rights,
    saying,
    warned,
)

# ── Regulation B ──


def test_ecoa_1002_9_cites_the_current_regulation_and_no_circular():
    pack = packs()[CREDIT]
    assert "eCFR" in pack.source("reg_b_9").citation
    assert "91 FR 21620" in pack.source("reg_b_9").citation
    everything = pack.model_dump_json() + pack.text("en").model_dump_json()
    assert "2022-03" not in everything
    assert "2023-03" not in everything


def test_reg_b_appendix_a_agencies_are_offered_in_the_settings():
    offered = packs()[CREDIT].choices["agency_name_and_address"]
    assert len(offered) == 11
    assert {"National Credit Union Administration", "Federal Trade Commission"} <= {
        choice.text.partition(",")[0] for choice in offered
    }
    assert all(any(character.isdigit() for character in choice.text) for choice in offered)


# ── ECOA: reasons ──


@pytest.mark.parametrize(
    "reason",
    [
        "Based on our internal standards.",
        "Because of INTERNAL POLICIES of the bank.",
        "You failed to achieve a qualifying score.",
    ],
)
def test_ecoa_1002_9_b_2_insufficient_statements_block(reason: str):
    assert "no_empty_reasons" in blocking(record(), CREDIT, **saying(reason))


@pytest.mark.parametrize(
    "reason", ["You did not meet our criteria.", "Insufficient score.", "Income below our minimum requirement."]
)
def test_ecoa_1002_9_b_2_near_empty_reasons_never_block(reason: str):
    assert blocking(record(), CREDIT, **saying(reason)) & {"no_empty_reasons", "no_near_empty_reasons"} == set()


def test_ecoa_1002_9_b_2_near_empty_reasons_are_advised_against():
    element = elements(record(), CREDIT, **saying("You did not meet our criteria."))["no_near_empty_reasons"]
    assert (element.result, element.blocks) == ("missing", False)


def test_reg_b_comment_9_a_1_4_incomplete_is_no_reason_for_a_denial():
    content = saying("Credit application incomplete.")
    assert elements(record(), CREDIT, **content)["incomplete_is_no_reason"].result == "missing"
    for closed in ({"action": "incomplete"}, {"application_incomplete": True}):
        assert elements(record(**closed), CREDIT, **content)["incomplete_is_no_reason"].result == "not_applicable"


def test_reg_b_comment_9_b_2_1_a_fifth_reason_stays_and_is_counted():
    texts = [f"The account at bank {letter} is past due. It is so for months." for letter in "ABCDE"]
    assert len(statement_texts(drafted(record(reasons=texts), CREDIT), "main_factors")) >= 5
    assert elements(record(reasons=texts), CREDIT)["reasons_at_most_four"].result == "missing"
    assert elements(record(reasons=texts[:4]), CREDIT)["reasons_at_most_four"].result == "present"


def test_reg_b_comment_9_b_2_8_needs_the_factor_of_an_automatic_denial():
    given = record(automatic_denial_factor="A bankruptcy within the last year.")
    assert elements(given, CREDIT)["automatic_denial"].result == "present"
    assert "automatic_denial" in blocking(given, CREDIT, **saying(*REASONS))


# ── ECOA: counteroffers ──


OFFER = {"action": "counteroffer", "counteroffer": {"amount_usd": 5000, "accept_by": "2026-12-24"}}


def test_reg_b_form_c_4_a_combined_counteroffer_gives_reasons_terms_and_notices():
    combined = record(consumer_report_used=True, **OFFER)
    assert asked(combined, CREDIT) >= {
        "specific_reasons", "offer_terms", "offer_until", "accept_offer", "ecoa_notice", "creditor", "report_copy",
    }  # fmt: skip
    results = elements(combined, CREDIT)
    assert {results[name].result for name in ("offer_terms", "offer_until", "specific_reasons")} == {"present"}
    due = deadlines.compute(packs()[CREDIT], Facts(json.dumps(combined).encode()), received_at=RECEIVED)
    assert [deadline.clock for deadline in due] == ["completed_application"]
    assert "plain_counteroffer" not in warned(combined, CREDIT)


def test_ecoa_1002_9_a_1_iv_a_plain_counteroffer_gives_terms_and_starts_90_days():
    plain = record({"counteroffer": {"made_at": "2026-11-02T10:00:00Z"}}, consumer_report_used=True, **OFFER)
    del plain["outcome"]["reasons"]
    owed = asked(plain, CREDIT)
    assert {"offer_terms", "accept_offer"} <= owed
    assert not owed & {"specific_reasons", "ecoa_notice", "creditor", "report_copy"}
    due = deadlines.compute(packs()[CREDIT], Facts(json.dumps(plain).encode()), received_at=RECEIVED)
    assert ("plain_counteroffer", date(2027, 1, 31)) in [(deadline.clock, deadline.due_at.date()) for deadline in due]
    assert "plain_counteroffer" in warned(plain, CREDIT)
    assert blocking(plain, CREDIT) == set()


@pytest.mark.parametrize("action", ["counteroffer", "Counter Offer", "COUNTER-OFFERED"])
def test_ecoa_1002_9_a_1_i_a_counteroffer_without_terms_is_blocked(action: str):
    assert "offer_terms" in blocking(record(action=action), CREDIT)


def test_ecoa_1002_9_a_1_iv_a_declined_counteroffer_needs_reasons():
    refused = record(counteroffer_not_accepted=True, **OFFER)
    del refused["outcome"]["reasons"]
    assert "specific_reasons" in blocking(refused, CREDIT)


# ── ECOA: incompleteness, and decisions that are no adverse action ──

INCOMPLETE: dict[str, Any] = {
    "missing_information": ["Your last two pay stubs", "The purchase agreement"],
    "respond_by": "2026-12-20",
    "reasons": None,
}


@each_case("action", ["incomplete", "Notice of Incompleteness", "APPLICATION_INCOMPLETE"])
@each_case("flag", [{}, {"application_incomplete": True}])
def test_ecoa_1002_9_c_an_incompleteness_notice_lists_what_is_missing_within_30_days(action: str, flag: dict):
    events = {"application": {"received_at": "2026-11-01T10:00:00Z"}}
    given = {**record(events, action=action, **INCOMPLETE, **flag), "decided_at": "2026-11-14T10:00:00Z"}
    assert blocking(given, CREDIT) == set()
    assert "not consider your application any further" in rights(given, CREDIT)
    assert "Opportunity" not in rights(given, CREDIT)
    [deadline] = deadlines.compute(packs()[CREDIT], Facts(json.dumps(given).encode()), received_at=RECEIVED)
    assert (deadline.clock, deadline.due_at.date()) == ("incompleteness", date(2026, 12, 1))
    silent = record(events, action=action, **{**INCOMPLETE, "missing_information": None, "respond_by": None})
    assert blocking(silent, CREDIT) == {"missing_information", "respond_by"}


@pytest.mark.parametrize("outcome", [{"action": "denied"}, {"action": "closed for incompleteness"}])
def test_ecoa_1002_9_c_1_closing_an_incomplete_application_is_adverse_action(outcome: dict[str, str]):
    given = record(application_incomplete=True, **{**outcome, "reasons": None})
    assert "specific_reasons" in blocking(given, CREDIT)
    assert "Opportunity" in rights(given, CREDIT)


@pytest.mark.parametrize("action", ["approved_with_conditions", "Conditional Approval", "CONDITIONALLY_APPROVED"])
def test_ecoa_a_conditional_approval_needs_no_reasons(action: str):
    given = record(action=action, reasons=None, conditions=["Show us the payoff letter."])
    assert blocking(given, CREDIT) == set()
    assert rights(given, CREDIT) == ""
    assert "ecoa_notice" in asked(record(action=action, reasons=["Your income is too low for the sum."]), CREDIT)


@pytest.mark.parametrize("outcome", [{"action": "approved"}, {"result": "GRANTED"}, {"result": "withdrawn"}])
def test_ecoa_an_approval_in_the_result_alone_is_no_adverse_action(outcome: dict[str, str]):
    assert rights({**record(), "outcome": outcome}, CREDIT) == ""


# ── FCRA ──


@pytest.mark.parametrize(
    ("factors", "result"),
    [
        (["a", "b", "c", "d"], "present"),
        (["a", "b", "c", "d", "e"], "missing"),
        (["a", "b", "c", "d", "Number of recent inquiries"], "present"),
        ([{"text": factor, "code": factor} for factor in ("a", "b", "c", "Too many inquiries")], "present"),
        (["a", "b", "c", "d", "e", "Inquiries"], "missing"),
    ],
)
def test_fcra_1681g_f_allows_four_key_factors_or_five_with_inquiries(factors: list[Any], result: str):
    given = record(consumer_report_used=True, score=548, key_factors=factors)
    counted = [element for name, element in elements(given, CREDIT).items() if name.startswith("score_key_factors_")]
    assert [element.result for element in counted if element.result != "not_applicable"] == [result]
    assert not any(element.blocks for element in counted)


RANKED = [
    {"text": "Short history", "rank": 2},
    {"text": "Late payments", "rank": 1},
]


def key_factors(*order: int) -> list[dict[str, str]]:
    return [{"statement": "A key factor.", "source": f"outcome.key_factors.{index}.text"} for index in order]


@each_case(
    ("listed", "order", "is_warned"),
    [
        (RANKED, (0, 1), True),
        (RANKED, (1, 0), False),
        (["a", "b"], (0, 1), False),
        (["a", "b"], (1, 0), True),
        ([{"weight": 0.1}, {"weight": -0.7}], (1, 0), False),
        ([{"weight": 0.1}, {"weight": -0.7}], (0, 1), True),
    ],
)
def test_fcra_1681g_f_1_c_key_factors_out_of_order_warn(listed, order, is_warned: bool):
    given = record(consumer_report_used=True, score=548, key_factors=listed)
    assert ("key_factor_order" in warned(given, CREDIT, inputs_used=key_factors(*order))) is is_warned


@pytest.mark.parametrize("source", ["outcome.key_factors", "outcome.key_factors.x", "outcome.key_factors.99"])
def test_fcra_1681g_f_1_c_a_mistyped_source_does_not_warn_of_order(source: str):
    given = record(consumer_report_used=True, score=548, key_factors=["a"])
    assert "key_factor_order" not in warned(given, CREDIT, inputs_used=[{"statement": "A.", "source": source}])


@pytest.mark.parametrize("flag", ["third_party_information_used", "affiliate_information_used"])
def test_fcra_1681m_b_third_party_information_is_in_the_words_of_form_c_1(flag: str):
    text = rights(record(**{flag: True}), CREDIT)
    assert "from an affiliate or from an outside source other than a consumer reporting agency" in text
    assert "third_party" in asked(record(**{flag: True}), CREDIT)


# ── Colorado ──


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (record({"application": {"loan_amount_usd": 5000}}), "federal_notice"),
        (record({"credit_bureau": "Experian"}), "federal_notice"),
        ({**record(), "field": "fraud detection"}, "fraud_or_money_laundering"),
        (record({"aml_screening": {"hits": 1}}), "fraud_or_money_laundering"),
        (record({"request": {"diagnosis": "M54"}}), "health_care"),
        ({**record(), "system": {"purpose": "pricing home insurance"}}, "insurer"),
    ],
)
def test_colorado_1704_warns_of_exceptions_and_federal_notices(given, kind: str):
    assert kind in warned(given, COLORADO)
    assert kind not in warned(record({"application": {"years": 2}}, reasons=["Too little experience."]), COLORADO)


def test_colorado_1704_6_a_warns_of_a_credit_letter_to_colorado():
    given = record(subject={"jurisdiction": "US-CO"})
    assert "colorado_too" in warned(given, CREDIT)
    assert "colorado_too" not in warned(record(subject={"jurisdiction": "US-TX"}), CREDIT)
    assert packs()[COLORADO].source("section_1704_6").quote == "also satisfies"


def test_colorado_1701_15_the_reviewer_may_approve_modify_or_override():
    words = packs()[COLORADO].text("en").how_to_request_review
    assert "approve, modify or override" in words
    assert "does not simply follow the system" in words


# ── California ──


@pytest.mark.parametrize(
    ("approval", "is_asked"),
    [
        ({"human_involvement": "reviewed_before_decision"}, True),
        ({"human_involvement": "reviewed_before_decision", "meets_7001_e_1": False}, True),
        ({"human_involvement": "decided_by_human", "meets_7001_e_1": True}, False),
        ({"human_involvement": "none"}, False),
        ({}, False),
    ],
)
def test_california_7222_b_3_needs_the_role_of_a_human_below_7001_e_1(approval, is_asked: bool):
    assert ("human_role" in asked({**record(), "approval": approval}, CALIFORNIA)) is is_asked
    assert ("no_admt" in warned({**record(), "approval": approval}, CALIFORNIA)) is bool(approval.get("meets_7001_e_1"))


def test_california_7222_b_names_the_access_request_it_answers():
    given = {
        **record({"access_request": {"received_at": "2027-01-12T09:00:00Z"}}),
        "decided_at": "2027-01-20T09:00:00Z",
    }
    content = drafted(given, CALIFORNIA)
    assert "events.access_request.received_at" in [item["source"] for item in content["decision_summary"]]
    assert "This letter answers your request for access" in rights(given, CALIFORNIA)
    assert "answers your request" not in rights(record(), CALIFORNIA)


def test_california_7021_b_gives_45_days_and_45_more_with_notice():
    asked_at = {"access_request": {"received_at": "2027-01-04T09:00:00Z"}}
    assert due(record(asked_at), CALIFORNIA, "access").due_at.date() == date(2027, 2, 18)
    extended = {**asked_at, "extension": {"notified_at": "2027-02-10T09:00:00Z"}}
    assert due(record(extended), CALIFORNIA, "access").due_at.date() == date(2027, 4, 4)


def test_california_7221_b_the_appeal_reviewer_can_change_the_decision():
    words = packs()[CALIFORNIA].text("en").how_to_request_review
    assert "what the person should take into account" in words
    assert "knows how to read the system's result, and can change the decision" in words


# ── California: the logic and the output ──

LOGIC = [
    {"logic": "Each answer gives points. 50 points are needed.", "output": {"points": 41, "passMark": 50}},
    {"logic": ["Each answer gives points.", "50 points are needed."], "output": "41 of 50 points"},
    {"parameters": {"answers": "points for each"}, "score": 41},
]


@pytest.mark.parametrize("outcome", LOGIC)
def test_california_7222_b_2_needs_the_logic_and_the_output_of_the_record(outcome: dict[str, Any]):
    given = record(solely_automated=True, **outcome)
    given["decided_at"] = "2027-02-01"
    statements = " ".join(item["statement"] for item in drafted(given, CALIFORNIA)["role_of_automated_system"])
    assert "points" in statements
    assert "41" in statements
    results = elements(given, CALIFORNIA)
    assert {results[name].result for name in ("logic_of_record", "output")} == {"present"}
    assert {"logic_of_record", "output"} <= blocking(given, CALIFORNIA, role_of_automated_system=[])
    assert not {"logic_of_record", "output"} & asked(record(), CALIFORNIA)
