"""Consumer reports, agencies and scores are recognized by shape, because the FCRA needs their disclosure."""

import json
from typing import Any

import pytest

from notices import shapes
from notices.packs import packs
from notices.record_paths import Facts
from tests.cases import each_case
from tests.notices.drafts import drafted
from tests.notices.law_us import (
    CREDIT,
    asked,
    blocking,
    record,
    rights,
    warned,
)

# ── FCRA: reports and scores recognized by shape ──


REPORTS: dict[str, Any] = {
    "an event of that name": {"consumer_report": {"accounts_past_due": 3}},
    "an event in a list": [{"name": "credit_bureau_pull", "accounts": 3}],
    "in camel case": {"creditReport": {"openAccounts": 4}},
    "deep inside": {"application": {"checks": [{"bureau": {"delinquencies": 2}}]}},
    "an agency as a source": {"history": {"source": "Trans Union LLC"}},
    "an agency in a name": {"checks": {"experian_inquiries": 7}},
    "a FICO score": {"checks": {"ficoScore8": 601}},
    "a VantageScore": [{"name": "checks", "vantage_score_4": "590"}],
    "a credit score": {"application": {"credit_score": 540}},
    "agencies as plain strings": {"consumer_reporting_agencies": ["Example Data", "Example North"]},
    "agencies of a report": {"credit_report": {"agencies": ["Example Data"]}},
    "a score by its kind": {"scoring": {"score": 601, "scoreType": "FICO Score 8"}},
    "a score by its source": [{"name": "scoring", "value": 601, "score_source": "Experian"}],
}
NO_REPORTS: dict[str, Any] = {
    "nothing of the kind": {"application": {"income_usd": 30000, "credit_history": 2}},
    "a consent": {"application": {"credit_report_consent": True, "consents": {"credit_report": True}}},
    "said not to be": {"credit_report": None, "fico_score": "n/a", "bureau": False},
    "an employer of that name": {"application": {"employer": "Equifax", "employment": {"firm": "TransUnion"}}},
    "the limit of a score": {"rules": {"minimum_credit_score": 600}},
    "a score of our own": {"scoring": {"score": 12}},
    "a score by an own model": {"scoring": {"score": 612, "model": "Example Scorecard 4", "provider": "Example Bank"}},
}


@each_case("events", REPORTS.values())
def test_fcra_1681m_a_a_report_in_the_record_needs_disclosure_and_warns(events):
    assert asked(record(events), CREDIT) >= {"report_copy", "report_dispute"}
    assert "a free copy of your report" in rights(record(events), CREDIT)
    assert "consumer_report_assumed" in warned(record(events), CREDIT)


@each_case("events", NO_REPORTS.values())
def test_fcra_1681m_a_other_data_needs_no_report_disclosure(events):
    assert "report_copy" not in asked(record(events), CREDIT)
    assert "consumer reporting agency" not in rights(record(events), CREDIT)
    assert "consumer_report_assumed" not in warned(record(events), CREDIT)


def test_fcra_1681m_a_the_record_s_flag_overrides_the_shape_of_a_report():
    given = record(REPORTS["a FICO score"], consumer_report_used=False)
    assert "report_copy" not in asked(given, CREDIT)
    assert "consumer_report_denied" in warned(given, CREDIT)
    assert "consumer_report_denied" not in warned(record(consumer_report_used=False, score=5), CREDIT)
    assert not {"consumer_report_denied", "consumer_report_assumed"} & warned(
        record(REPORTS["a FICO score"], consumer_report_used=True), CREDIT
    )


NAMED: list[dict[str, Any]] = [
    {"credit_score": 548},
    {"score": 548, "score_provider": "TransUnion"},
    {"score": 548, "score_model": "VantageScore 4.0"},
    {"score": {"value": 548, "name": "FICO"}},
    {"score": {"score": "548", "bureau": "Equifax"}},
    {"score": 548, "consumer_report_used": True},
    {"experian_score": 548},
    {"credit_report": {"score": 548}},
]


@each_case("shown", NAMED)
def test_fcra_1681m_a_2_a_credit_score_in_the_outcome_needs_disclosure(shown: dict[str, Any]):
    assert asked(record(**shown), CREDIT) >= {"score", "score_range", "score_key_factors", "score_date", "report_copy"}
    assert blocking(record(**shown), CREDIT) >= {"score_range", "score_key_factors", "score_date"}


OWN: list[dict[str, Any]] = [
    {"score": 548},
    {"score": 0.31, "score_model": "application risk 3"},
    {"score": {"value": 12, "threshold": 40, "source": "in-house"}},
    {"risk_score": 71, "model_version": "2026-10"},
    {"score": 548, "reasons": ["Equifax reports two payments more than 60 days late."], "consumer_report_used": False},
]


@pytest.mark.parametrize("shown", OWN)
def test_fcra_1681m_a_2_a_score_of_unknown_origin_needs_no_disclosure(shown: dict[str, Any]):
    assert not {"score", "score_range", "report_copy"} & asked(record(**shown), CREDIT)
    assert "consumer report" not in rights(record(**shown), CREDIT)
    unclear = "score" in shown and "consumer_report_used" not in shown
    assert ("whose_score" in warned(record(**shown), CREDIT)) is unclear


def test_fcra_1681m_a_an_approval_or_a_referral_discloses_nothing():
    for action in ("APPROVED", "referred", "withdrawn"):
        given = record(credit_score=548, action=action)
        assert not [name for name in asked(given, CREDIT) if name.startswith("report")]
        assert rights(given, CREDIT) == ""


AGENCIES = [
    ({"consumer_report": {"agency": {"name": "Acme Credit Data", "address": "1 Elm St", "telephone": "555"}}},
     "Acme Credit Data, 1 Elm St, 555"),
    ({"credit_bureau": {"name": "TransUnion", "address": "2 Elm St", "phone": "555"}}, "TransUnion, 2 Elm St, 555"),
    ([{"name": "credit_report", "provider": "Acme Data"}],
     "Acme Data, {report_agency_address}, {report_agency_telephone}"),
    ({"credit_bureau": "Acme Data"}, "Acme Data, {report_agency_address}, {report_agency_telephone}"),
]  # fmt: skip


@pytest.mark.parametrize(("events", "printed"), AGENCIES)
def test_fcra_1681m_a_3_the_record_s_agency_never_gets_another_s_address(events, printed: str):
    settings = {
        "consumer_reporting_agency": "Default Agency, 9 Oak St",
        "report_agency_name": "Default Agency",
        "report_agency_address": "9 Oak St",
        "report_agency_telephone": "999",
    }
    text = rights(record(events), CREDIT, **settings)
    assert f"this consumer reporting agency: {printed}." in text
    assert "Default Agency" not in text


TWO = [{"name": "Example North", "address": "1 Elm St", "phone": "555"}, {"name": "Equifax", "address": "2 Elm St",
        "telephone": "556"}]  # fmt: skip
SEVERAL: list[tuple[Any, str, bool]] = [
    ({"check": {"equifax_score": 600, "other": "from TransUnion"}}, "Equifax; TransUnion", False),
    ({"consumer_report": {"agencies": TWO}}, "Example North, 1 Elm St, 555; Equifax, 2 Elm St, 556", True),
    ({"credit_bureaus": TWO}, "Example North, 1 Elm St, 555; Equifax, 2 Elm St, 556", True),
    ([{"name": "pull", "bureaus": ["Example North", "Example South"]}], "Example North; Example South", False),
    (
        {"a": [{"bureau": "Example North"}, {"bureau": TWO[1]}]},
        "Example North; Equifax, 2 Elm St, 556",
        False,
    ),
]


@pytest.mark.parametrize(("events", "printed", "whole"), SEVERAL)
def test_fcra_1681m_a_3_each_agency_has_its_address_and_a_missing_one_warns(events, printed: str, whole: bool):
    given = record(events, consumer_report_used=True)
    assert f"from these consumer reporting agencies: {printed}. The agencies did not" in rights(given, CREDIT)
    assert "{report_agency" not in rights(given, CREDIT)
    assert not {name for name in blocking(given, CREDIT) if name.startswith("report")}
    assert ("agencies_without_address" in warned(given, CREDIT)) is not whole


def test_a_credit_line_of_a_report_is_no_agency():
    lines = {
        "consumer_report": {"agency": "Example Data", "tradelines": [{"name": "Example Store Card", "past_due": 2}]}
    }
    assert shapes.find({"events": lines})["report_agency_name"] == "Example Data"


def test_the_settings_fill_in_the_address_of_the_agency_that_they_name():
    known = {"report_agency_name": " experian ", "report_agency_address": "9 Oak St", "report_agency_telephone": "999"}
    text = rights(record({"credit_bureau": "Experian"}), CREDIT, **known)
    assert "this consumer reporting agency: Experian, 9 Oak St, 999." in text


def test_the_default_agency_is_printed_where_the_record_names_none():
    text = rights(record(credit_score=548), CREDIT, consumer_reporting_agency="Default Agency, 9 Oak St")
    assert "this consumer reporting agency: Default Agency, 9 Oak St." in text


# ── cost ──


def test_a_record_is_searched_once_for_all_questions_of_shape(monkeypatch):
    looked, find = [], shapes.find
    monkeypatch.setattr(shapes, "find", lambda document: looked.append(1) or find(document))
    whole = Facts(json.dumps(record({"credit_bureau": {"name": "Equifax", "fico_score": 601}})).encode())
    for _ in range(3):
        packs()[CREDIT].locked_texts("en", whole.get)
        packs()[CREDIT].recorded(whole.get)
    assert looked == [1]


def test_a_field_named_found_belongs_to_the_record():
    assert Facts(b'{"found": {"credit": "yes"}}').get("found.credit") == "yes"
    assert Facts(b'{"events": {"loan_amount": 1}}').get("found.credit") == "events.loan_amount"


@pytest.mark.parametrize("in_a_list", [True, False])
def test_agencies_in_a_list_never_get_the_address_of_the_settings(in_a_list: bool):
    names = ("North Bureau", "South Bureau")
    report = {"agencies": [{"name": name, "address": "1 Example Street"} for name in names]}
    events = [{"name": "consumer_report", **report}] if in_a_list else {"consumer_report": report}
    assert shapes.find({"events": events})["report_agencies"] == (
        "North Bureau, 1 Example Street; South Bureau, 1 Example Street"
    )


def test_the_outcome_s_score_is_printed_beside_the_report_s():
    report = {"consumer_report": {"agencies": [{"name": "Example Data", "score": 588}]}}
    used = drafted(record(report, consumer_report_used=True, score=588), CREDIT)["inputs_used"]
    assert {"outcome.score", "events.consumer_report.agencies.0.score"} <= {item["source"] for item in used}
