"""Texts that packs print only where a record gives cause: automation, reports, databases, regulators, reviews."""

from typing import Any

import pytest

from notices.packs import packs
from tests.cases import each_case
from tests.notices.drafts import drafted, statement_texts, warnings_of
from tests.notices.law_us import record, rights, warned

CONSUMER_CREDIT, AUTOMATED = "eu_ccd2_18", "An automated system helped us"
AGENCY = "Example Reports, 1 Example Ave, 1-800-555-0103"
REVIEW = {"reconsiders": {"decision_id": "d0"}, "approval": {"approver": "reviewer 2"}}


@each_case(
    ("flags", "is_said"),
    [
        ({}, False), ({"materially_influenced_by_system": False}, False), ({"solely_automated": False}, False),
        ({"solely_automated": True}, True), ({"materially_influenced_by_system": True}, True),
    ],
)  # fmt: skip
def test_a_systems_part_is_printed_only_under_its_flag(flags: dict, is_said: bool):
    given = {**record(**flags), "system": {"name": "Loan Desk"}}
    assert (AUTOMATED in rights(given, CONSUMER_CREDIT)) is is_said


def test_a_record_that_names_a_system_still_gets_the_right_to_a_person():
    assert "right to have a person" in rights({**record(), "system": {"name": "Loan Desk"}}, CONSUMER_CREDIT)
    given = {**record(materially_influenced_by_system=False), "system": {"name": "Loan Desk"}}
    assert "right to have a person" not in rights(given, CONSUMER_CREDIT)


@pytest.mark.parametrize("language", ["en", "de", "fr"])
def test_the_name_of_the_own_policy_claims_no_automation(language: str):
    assert "utomati" not in packs()["general"].text(language).framework


@each_case("pack", ["general", "us_co_admt", "us_ca_admt"])
def test_fcra_615_a_is_told_of_a_consumer_report_outside_credit(pack: str):
    given = record(consumer_report_used=True, consumer_reporting_agency=AGENCY)
    printed = rights({**given, "decided_at": "2027-02-01T10:00:00Z"}, pack)
    assert AGENCY in printed
    assert "within 60 days" in printed
    assert "wrong or incomplete" in printed
    for other in (record(), record(consumer_report_used=False), record(action="approved", consumer_report_used=True)):
        assert "reporting agency" not in rights({**other, "decided_at": "2027-02-01T10:00:00Z"}, pack)


@each_case("pack", ["us_co_admt", "us_ca_admt"])
def test_a_report_that_no_flag_tells_of_is_cautioned(pack: str):
    events = {"background_check": {"consumer_report": {"agency": "Example Reports"}}}
    assert "report_unsaid" in warned(record(events), pack)
    assert "report_unsaid" not in warned(record(events, consumer_report_used=False), pack)


def test_ccd2_19_6_a_rejection_after_a_query_names_the_database_and_its_result():
    database = {"name": "Kreditregister", "contact": "1 Example Street", "result": "Two arrears.",
                "categories": ["loans", "arrears"]}  # fmt: skip
    given = record(database=database)
    assert "Kreditregister, 1 Example Street" in rights(given, CONSUMER_CREDIT)
    inputs = " ".join(statement_texts(drafted(given, CONSUMER_CREDIT), "inputs_used"))
    assert "Two arrears" in inputs
    assert "arrears" in inputs
    assert "Kreditregister" not in rights(record(action="approved", database=database), CONSUMER_CREDIT)


def test_uk_letters_name_the_ico():
    assert "Information Commissioner's Office (ICO)" in rights(record(), "uk_gdpr_22c")


@each_case("pack", sorted(packs()))
def test_no_title_or_law_over_an_approval_says_denied(pack: str):
    content = drafted(record(action="approved"), pack)
    assert not {"denied", "denial", "adverse"} & set(f"{content['title']} {content['framework']}".lower().split())


def review(**outcome: Any) -> dict[str, Any]:
    return {**record(**outcome), **REVIEW}


@each_case("pack", ["general", "gdpr_22", "uk_gdpr_22c", "us_co_admt", "us_ecoa_fcra"])
def test_a_review_without_reasons_is_asked_why(pack: str):
    def kinds(given: dict) -> set[str]:
        return {warning.id.rpartition("-")[0] for warning in warnings_of(given, pack)}

    asked = {"review_without_reasons", "missing_element"}
    assert asked & kinds(review(result="overturned", action="approved", reasons=[]))
    assert "review_without_reasons" not in kinds(review(result="overturned", action="approved"))


def test_a_changed_decision_says_what_holds_now():
    assert "review_without_change" in warned(review(result="modified", action=None), "general")
    assert "review_without_change" not in warned(review(result="upheld", action=None), "general")
    changed = review(result="modified", action=None, changes="You get 20 hours instead of 12.")
    assert "review_without_change" not in warned(changed, "general")
    statements = statement_texts(drafted(changed, "us_health_denial"), "decision_summary")
    assert "What changed: You get 20 hours instead of 12." in statements
