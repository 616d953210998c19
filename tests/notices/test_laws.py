"""Elements of the packs, law by law: review, reasons, appeal, and the conditions under which they apply."""

import json
from datetime import date

import pytest

from notices.packs import Element, Pack, packs
from notices.record_paths import Facts
from tests.cases import each_case
from tests.notices.drafts import drafted, sample
from tests.notices.test_packs import EVERY, WORDS, blocking


def applying(pack: Pack, check: str, record: dict[str, object]) -> list[Element]:
    return [one for one in pack.elements if one.check == check and one.applies_to(record.get)]


@pytest.mark.parametrize(
    ("name", "record"),
    [
        ("gdpr_22", {"outcome.legal_basis": "contract", "outcome.solely_automated": True}),
        ("gdpr_22", {"outcome.legal_basis": "explicit_consent"}),
        ("uk_gdpr_22c", {"outcome.solely_automated": True}),
        ("ca_qc_12_1", {"outcome.solely_automated": True, "system.public_body": True}),
        ("us_health_denial", {}),
    ],
)
def test_where_the_law_grants_a_human_review_a_notice_without_it_is_blocked(name: str, record: dict[str, object]):
    applied = applying(packs()[name], "is_true", record)
    assert applied
    assert all(packs()[name].blocks(element, date(2026, 11, 1)) for element in applied)


@pytest.mark.parametrize("name", ["gdpr_22", "uk_gdpr_22c", "ca_qc_12_1"])
def test_a_person_s_decision_needs_no_review_under_laws_on_automated_decisions(name: str):
    assert applying(packs()[name], "is_true", {"outcome.solely_automated": False}) == []


@pytest.mark.parametrize("name", ["eu_ai_act_86", "us_ecoa_fcra"])
def test_where_no_law_grants_a_review_none_is_required(name: str):
    assert packs()[name].human_review == "not_granted"
    assert not [element for element in packs()[name].elements if element.check == "is_true"]


@pytest.mark.parametrize("language", packs()["eu_ai_act_86"].languages)
def test_the_ai_act_pack_claims_neither_deadline_nor_review_right(language: str):
    pack = packs()["eu_ai_act_86"]
    words = pack.text(language)
    assert pack.clocks == ()
    assert words.deadline_note == ""
    for element_id in ("no_deadline_in_its_name", "no_review_in_its_name"):
        for phrase in words.forbidden[element_id]:
            assert phrase.lower() not in (words.how_to_request_review + words.no_review).lower()


def test_credit_reasons_may_not_hide_behind_a_score_or_a_policy():
    pack = packs()["us_ecoa_fcra"]
    forbidden = pack.text("en").forbidden
    assert {"internal standards", "internal policies", "failed to achieve a qualifying score"} <= set(
        forbidden["no_empty_reasons"]
    )
    assert {"insufficient score", "did not meet our criteria"} <= set(forbidden["no_near_empty_reasons"])
    assert pack.element("no_empty_reasons").where == "main_factors"
    assert "no_empty_reasons" in blocking(pack)


def test_only_credit_has_a_maximum_of_reasons_and_it_only_advises():
    bounded = [(name, one.id) for name in EVERY for one in packs()[name].elements if one.check == "max_items"]
    assert bounded == [
        ("us_ecoa_fcra", "reasons_at_most_four"),
        ("us_ecoa_fcra", "score_key_factors_at_most"),
        ("us_ecoa_fcra", "score_key_factors_with_inquiries"),
    ]
    assert packs()["us_ecoa_fcra"].element("reasons_at_most_four").value == 4


def test_the_ecoa_notice_is_the_regulations_own_words():
    assert packs()["us_ecoa_fcra"].text("en").locked["ecoa_notice"] == (
        "The Federal Equal Credit Opportunity Act prohibits creditors from discriminating against credit applicants on "
        "the basis of race, color, religion, national origin, sex, marital status, age (provided the applicant has the "
        "capacity to enter into a binding contract); because all or part of the applicant's income derives from any "
        "public assistance program; or because the applicant has in good faith exercised any right under the Consumer "
        "Credit Protection Act. The Federal agency that administers compliance with this law concerning this creditor "
        "is {agency_name_and_address}."
    )


def test_a_consumer_report_brings_the_fcra_texts_and_a_score_its_disclosure():
    pack = packs()["us_ecoa_fcra"]
    without: dict[str, object] = {"outcome.consumer_report_used": False, "outcome.score": 548}
    report = {**without, "outcome.consumer_report_used": True}
    assert len(pack.locked_texts("en", without.get)) == 2
    assert len(pack.locked_texts("en", report.get)) == 5
    assert {one.paths[0] for one in applying(pack, "cited", report) if one.where == "inputs_used"} == {
        "outcome.score",
        "outcome.score_range",
        "outcome.key_factors",
        "outcome.score_date",
        "outcome.score_provider",
    }
    assert [one for one in applying(pack, "cited", without) if one.where == "inputs_used"] == []


@pytest.mark.parametrize(
    ("record", "days", "trigger"),
    [
        ({}, 30, "application_completed"),
        ({"outcome.application_incomplete": True}, 30, "decision_date"),
        ({"outcome.existing_account": True}, 30, "decision_date"),
        ({"outcome.counteroffer_not_accepted": True}, 90, "counteroffer_made"),
    ],
)
def test_one_clock_of_regulation_b_runs_at_a_time(record: dict[str, object], days: int, trigger: str):
    running = [clock for clock in packs()["us_ecoa_fcra"].clocks if clock.applies_to(record.get)]
    assert [(clock.unit, clock.amount) for clock in running] == [("days", days)]
    assert [clock.trigger for clock in running] == [trigger]


def test_answers_and_acknowledgements_have_clocks_of_their_own():
    on_request = {(name, one.id, one.what) for name in EVERY for one in packs()[name].clocks if one.what != "notice"}
    assert on_request == {
        ("ca_qc_12_1", "thirty_days", "answer"),
        ("gdpr_22", "one_month", "answer"),
        ("uk_gdpr_22c", "one_month", "answer"),
        ("uk_gdpr_22c", "complaint_acknowledged", "acknowledgement"),
        ("us_ca_admt", "forty_five_days", "answer"),
        ("us_ca_admt", "ten_business_days", "acknowledgement"),
        ("us_health_denial", "appeal_pre_service", "answer"),
        ("us_health_denial", "appeal_post_service", "answer"),
        ("us_health_denial", "appeal_urgent", "answer"),
        ("us_medicaid", "appeal_answer", "answer"),
        ("us_part_d", "redetermination_answer", "answer"),
    }


def test_only_statements_at_or_below_an_elements_paths_count():
    element = packs()["us_ecoa_fcra"].element("score")
    assert element.counts("outcome.score")
    assert element.counts("outcome.score.value")
    assert not element.counts("outcome.score_date")
    assert packs()["us_ecoa_fcra"].element("reasons_at_most_four").counts("anything.at.all")


@pytest.mark.parametrize(
    ("name", "decision_id", "expected"),
    [
        (
            "us_health_denial",
            "synthetic-prior-authorization-01",
            {"appeal_days": "180", "consumer_assistance_contact": "Example Consumer Assistance Program"},
        ),
        (
            "us_health_denial",
            "synthetic-prior-authorization-03",
            {"appeal_days": "65", "consumer_assistance_contact": "Example State Health Insurance Assistance Program"},
        ),
        (
            "us_ecoa_fcra",
            "synthetic-insurance-04",
            {
                "report_agency_name": "Example Consumer Reports Co.",
                "report_agency_address": "100 Example Avenue, Example City, TX",
                "report_agency_telephone": "1-800-555-0199",
            },
        ),
    ],
)
def test_case_specific_placeholders_come_from_the_record(name: str, decision_id: str, expected: dict[str, str]):
    assert packs()[name].recorded(Facts(sample(decision_id)).get) == expected


@pytest.mark.parametrize(
    ("agency", "locked"), [({}, "report_agency"), ({"name": "Example Reports"}, "report_agency_of_record")]
)
def test_the_agency_a_record_names_never_gets_the_address_of_the_settings(agency: dict[str, str], locked: str):
    pack = packs()["us_ecoa_fcra"]
    record = Facts(
        _json({"events": {"consumer_report": {"agency": agency}}, "outcome": {"consumer_report_used": True}})
    )
    applied = [one for one in pack.locked if one.id.startswith("report_agency") and one.applies_to(record.get)]
    assert [one.id for one in applied] == [locked]
    demanded = [one for one in pack.elements if one.id.startswith("report_agency") and one.applies_to(record.get)]
    assert [one.locked for one in demanded] == [locked]
    assert ("consumer_reporting_agency" in applied[0].placeholders) is (locked == "report_agency")


def _json(record: dict[str, object]) -> bytes:
    return json.dumps(record).encode()


@each_case(("name", "language"), WORDS)
def test_no_title_says_how_it_was_decided(name: str, language: str):
    """A person may have decided under each of these laws. The system's role is stated where it can be cited."""
    assert "automat" not in packs()[name].text(language).title.lower()


@each_case(("name", "language"), WORDS)
def test_where_a_record_says_that_there_is_no_review_the_notice_can_say_it(name: str, language: str):
    assert packs()[name].text(language).no_review.endswith(".")


@each_case("name", EVERY)
def test_a_language_element_checks_only_the_reader_s_language(name: str):
    assert {one.check for one in packs()[name].elements if one.where == "language"} <= {"readers_language"}


def test_an_element_that_applies_by_its_own_field_is_never_missing():
    """Such an element is never missing: not every decision has its subject."""
    elements_by_pack = {
        (name, one.id)
        for name in EVERY
        for one in packs()[name].elements
        for condition in one.when.conditions
        for path in condition.paths
        if one.paths and one.counts(path) and not (condition.negated or condition.values)
    }
    assert elements_by_pack == {
        ("us_ca_admt", "human_role"),
        ("us_ca_admt", "further_use"),
        ("us_ca_admt", "logic_of_record"),
        ("us_ca_admt", "output"),
        ("us_ecoa_fcra", "automatic_denial"),
        ("us_ecoa_fcra", "score"),
        ("us_health_denial", "additional_material"),
        ("us_health_denial", "internal_rule"),
        ("us_health_denial", "plan_provision_elsewhere"),
        ("us_health_denial", "standard_if_any"),
        ("us_health_denial", "denial_code_itself"),
        ("us_health_denial", "denial_code_elsewhere"),
    }


@each_case("element_id", ["solely_automated", "legal_basis", "right_to_intervention"])
@each_case(("recorded", "applies"), [(None, True), (True, True), (False, False)])
def test_a_record_that_does_not_say_who_decided_is_treated_as_if_no_person_did(
    element_id: str, recorded: bool | None, applies: bool
):
    record: dict[str, object] = {"outcome.solely_automated": recorded}
    assert packs()["gdpr_22"].element(element_id).applies_to(record.get) is applies


@each_case(
    ("source", "counts"),
    [
        ("outcome.reasons.0.text", True),
        ("outcome.reason_codes.0", True),
        ("outcome.principal_factors.0.factor", True),
        ("events.1.accounts_past_due", True),
        ("outcome.score", False),
        ("outcome.key_factors.0", False),
    ],
)
def test_neither_a_score_nor_its_key_factors_are_reasons_for_credit(source: str, counts: bool):
    assert packs()["us_ecoa_fcra"].element("specific_reasons").counts(source) is counts


PLANS = ["employer", "individual", "medicare_advantage"]


@each_case("plan", PLANS)
@each_case("action", ["approved", "referred"])
def test_a_letter_that_denies_no_care_says_nothing_of_an_appeal(plan: str, action: str):
    pack = packs()["us_health_denial"]
    record: dict[str, object] = {
        "subject.plan_type": plan,
        "outcome.action": action,
        "outcome.basis": "medical_necessity",
    }
    assert pack.locked_texts("en", record.get) == ()
    demanded = {one.id for one in pack.elements if one.applies_to(record.get, {"human_review_available": False})}
    assert demanded == {"determination", "how_to_request_inputs", "system_did_not_deny"}


@pytest.mark.parametrize(
    ("plan", "demanded"),
    [
        ("employer", {"appeal", "plan_provision", "right_to_sue", "denial_code_elsewhere"}),
        (
            "individual",
            {
                "appeal",
                "plan_provision",
                "denial_code",
                "denial_code_itself",
                "codes_on_request",
                "provider",
                "external_review_individual",
                "assistance_individual",
            },
        ),
        ("medicare_advantage", {"cms_form", "appeal_medicare", "denial_code_elsewhere"}),
        (None, {"appeal", "denial_code_elsewhere"}),
    ],
)
def test_elements_of_a_plan_s_rules_are_required_though_the_record_lacks_them(plan: str | None, demanded: set[str]):
    pack = packs()["us_health_denial"]
    record: dict[str, object] = {"subject.plan_type": plan, "outcome.action": "denied", "outcome.denial_code": "X1"}
    applied = {one.id for one in pack.elements if one.applies_to(record.get)}
    shared = {
        "determination",
        "service",
        "specific_reasons",
        "how_to_request_inputs",
        "expedited_appeal",
        "human_review",
    }
    assert applied == shared | demanded


@pytest.mark.parametrize(
    ("record", "offered"),
    [
        ({}, True),
        ({"outcome.appeal.expedited_available": True}, True),
        ({"outcome.appeal.expedited_available": False}, False),
        ({"outcome.claim_type": "post_service"}, False),
    ],
)
def test_an_expedited_appeal_is_offered_before_the_service_unless_ruled_out(record: dict[str, object], offered: bool):
    pack = packs()["us_health_denial"]
    assert pack.element("expedited_appeal").applies_to(record.get) is offered
    assert pack.lock("expedited_appeal").applies_to(record.get) is offered


def test_a_health_letter_names_one_address_for_the_appeal():
    assert "{contact}" not in packs()["us_health_denial"].text("en").how_to_request_review


@pytest.mark.parametrize(
    ("name", "decision_id", "field", "path"),
    [
        (
            "us_co_admt",
            "synthetic-hiring-04",
            "role_of_automated_system",
            "outcome.materially_influenced_by_system",
        ),
        ("ca_qc_12_1", "synthetic-insurance-05", "inputs_used", "outcome.personal_information_used.0"),
    ],
)
def test_record_fields_that_a_law_needs_are_printed(name: str, decision_id: str, field: str, path: str):
    content = drafted(sample(decision_id), name, packs()[name].languages[0])
    assert path in [item["source"] for item in content[field]]
