"""The pack for US health denials, as the law was on 21 November 2026."""

import json
from datetime import UTC, date, datetime
from typing import Any

import pytest

from notices import checklist, deadlines, kinds
from notices.packs import packs
from notices.record_paths import Facts
from tests.cases import each_case
from tests.notices.drafts import case, drafted, statements
from tests.notices.law_us import (
    HEALTH,
    RECEIVED,
    Words,
    asked,
    blocking,
    due,
    elements,
    record,
    rights,
    warned,
)

# ── ERISA and the ACA: employer and individual plans ──


def care(plan: Any, events: dict | None = None, **outcome: Any) -> dict[str, Any]:
    request = {"received_at": "2026-11-02T10:00:00Z", "procedure": {"description": "MRI of the knee"}}
    return record({"request": request, **(events or {})}, {"plan_type": plan}, **outcome)


SPELLED = [
    ("employer", "ERISA"), ("employer", "Self-Funded"), ("employer", "group health plan"),
    ("individual", "Marketplace"), ("individual", "QHP"), ("medicare_advantage", "Medicare Advantage"),
    ("medicare_advantage", "MAPD"), ("medicare_advantage", "Part C"), ("employer", "Employer Group (ERISA)"),
    ("medicare_advantage", "MEDICARE ADVANTAGE - HMO"), ("individual", "PPO / Individual"),
]  # fmt: skip


@each_case(("kind", "word"), SPELLED)
def test_erisa_individual_and_medicare_plans_are_recognized_in_any_spelling(kind: str, word: str):
    assert kinds.value("subject.plan_type", {"subject.plan_type": word}.get) == kind
    assert asked(care(word), HEALTH) == asked(care(kind), HEALTH)


def test_medicare_plan_is_read_from_subject_type_and_a_record_without_a_plan_warns():
    given = record(subject={"type": "Medicare Advantage enrollee"})
    assert "cms_form" in asked(given, HEALTH)
    assert "plan_unknown" in warned(record(subject={"type": "member"}), HEALTH)
    assert "plan_unknown" not in warned(care("employer"), HEALTH)


@pytest.mark.parametrize("pack", ["us_health_denial"])
@pytest.mark.parametrize("plan", ["employer", "individual", "medicare_advantage", None])
def test_erisa_503_1_g_1_needs_the_service_for_every_plan(plan: str | None, pack: str):
    assert elements(care(plan), pack)["service"].result == "present"
    assert "service" in blocking(record(subject={"plan_type": plan}), pack)


NO_SERVICES: dict[str, Any] = {
    "days and places": {"claim": {"date_of_service": "2026-10-01", "place_of_service": "office", "service_count": 2}},
    "a diagnosis": {"request": {"diagnosis": {"description": "Sprain"}, "diagnosis_description": "Sprain"}},
    "nothing": {"request": {"received_at": "2026-11-02T10:00:00Z"}},
}


@pytest.mark.parametrize("events", NO_SERVICES.values(), ids=NO_SERVICES)
def test_a_date_a_place_or_a_diagnosis_names_no_service(events: Any):
    assert "service" in blocking(record(events, {"plan_type": "employer"}), HEALTH)


@each_case(
    "fields",
    [
        {"serviceDate": "2026-11-01"}, {"benefitYear": "2026 plan"}, {"benefit_period": "2026 plan year"},
        {"service": "2026-11-01"}, {"service": "73721"}, {"service": "SVC-000123"}, {"service_id": "abc"},
        {"item_number": "four"}, {"procedure": {"code": "73721", "date": "2 March 2026"}},
        {"treatment_facility": "North Hall"},
        {"place_of_service": "office"}, {"drug": True}, {"line_items": [{"item": 3}]}, {"serviceFrom": "Nov 2026"},
    ],
)  # fmt: skip
def test_a_date_a_year_a_number_or_an_id_is_no_service(fields: dict[str, Any]):
    for given in (
        record(subject={"plan_type": "employer"}, **fields),
        record({"request": fields}, {"plan_type": "employer"}),
    ):
        assert "service" in blocking(given, HEALTH)


@each_case(
    "fields",
    [
        {"service": "MRI", "serviceDate": "2026-11-01"}, {"service": "CT scan, 2 views"}, {"service": "X-ray"},
        {"service": "Röntgen"}, {"service": {"code": "73721", "description": "Knee (left)"}},
    ],
)  # fmt: skip
def test_a_service_in_words_counts_beside_its_date_or_code(fields: dict[str, Any]):
    assert "service" not in blocking(record({"request": fields}, {"plan_type": "employer"}), HEALTH)
    assert "service" not in blocking(record(subject={"plan_type": "employer"}, **fields), HEALTH)


@each_case(
    ("plan", "recorded", "printed"),
    [
        ("employer", None, "within 180 days after you get this letter"),
        ("individual", None, "within 180 days after you get this letter"),
        ("individual", 240, "within 240 days after you get this letter"),
        ("employer", 60, "within 180 days after you get this letter"),
        ("medicare_advantage", None, "within 65 calendar days from the date of this letter"),
        ("medicare_advantage", 60, "within 65 calendar days from the date of this letter"),
        (None, None, "within 30 days after you get this letter"),
        (None, 45, "within 45 days after you get this letter"),
    ],
)
def test_erisa_503_1_h_3_i_and_medicare_set_the_days_to_appeal(plan, recorded, printed: str):
    appeal = {"appeal": {"internal_days": recorded}} if recorded else {}
    assert printed in rights(care(plan, **appeal), HEALTH, appeal_days="30")
    contradicts = f"within {recorded} " not in printed and recorded is not None
    assert ("other_than_by_law" in warned(care(plan, **appeal), HEALTH)) is contradicts


@each_case("plan", ["employer", "individual"])
@each_case("basis", ["medical_necessity", "Not medically necessary", "experimental", "Investigational"])
def test_erisa_503_1_g_1_v_b_a_missing_clinical_explanation_blocks(plan: str, basis: str):
    given = care(plan, basis=basis)
    assert "scientific or clinical judgment" in rights(given, HEALTH)
    assert elements(given, HEALTH)["clinical_explanation"].result == "present"
    assert "clinical_explanation" in blocking(given, HEALTH, rights=[])


def test_aca_147_136_b_3_an_individual_plan_identifies_the_claim():
    given = care("individual", basis="medical_necessity", denial_code="X1", claim_type="post_service")
    assert blocking(given, HEALTH) >= {
        "plan_provision", "standard_used", "denial_code", "provider", "date_of_service", "claim_amount",
    }  # fmt: skip
    claim = {"date_of_service": "2026-10-01", "amount": 300, "provider": "Example Clinic"}
    whole = care(
        "individual",
        {"claim": claim},
        basis="medical_necessity",
        claim_type="post_service",
        denial_code="X1",
        denial_code_meaning="criteria not met",
        clinical_criteria="Example Criteria 2",
        plan_provision="Section 4",
    )
    assert blocking(whole, HEALTH) == set()
    assert "the diagnosis code and the treatment code" in rights(whole, HEALTH)


@each_case("code", [{"denial_code": "X1"}, {"denial_codes": ["X1"]}, {"denial_code": {"code": "X1"}}])
@each_case("plan", ["individual", "employer", "medicare_advantage", None])
def test_aca_147_136_b_3_a_bare_code_blocks_individual_plans_and_warns_others(code, plan):
    assert ("denial_code" in blocking(care(plan, **code), HEALTH)) is (plan == "individual")
    assert ("code_without_meaning" in warned(care(plan, **code), HEALTH)) is (plan != "individual")
    assert "code_without_meaning" not in warned(care(plan, denial_code="X1", denial_code_meaning="criteria"), HEALTH)


def test_aca_147_136_b_3_external_review_says_how_to_start_and_until_when():
    text = rights(care("individual"), HEALTH, external_review_contact="Example Review, 1 Elm St")
    assert "You have four months after you get our decision on your appeal. Start it here: Example Review" in text
    recorded = care("individual", appeal={"external_review_contact": "Example Board"})
    assert "Start it here: Example Board." in rights(recorded, HEALTH, external_review_contact="Other")


@pytest.mark.parametrize(("grandfathered", "is_owed"), [(False, True), (True, False), (None, False)])
def test_aca_2719_external_review_holds_unless_grandfathered_and_never_blocks(grandfathered, is_owed: bool):
    given = care("employer", plan_provision="Section 4")
    if grandfathered is not None:
        given["subject"]["grandfathered"] = grandfathered
    assert ("external_review_employer" in asked(given, HEALTH)) is is_owed
    assert ("external review" in rights(given, HEALTH)) is is_owed
    assert blocking(given, HEALTH) == set()
    assert ("grandfathered_unknown" in warned(given, HEALTH)) is (grandfathered is None)


REQUEST = {"sent_at": "2026-11-10T10:00:00Z"}
EXTENSION = {"notified_at": "2026-11-12T10:00:00Z"}
LENGTHENED: list[tuple[dict[str, Any], date]] = [
    ({}, date(2026, 11, 17)),
    ({"extension": EXTENSION}, date(2026, 12, 2)),
    ({"extension": {"notified_at": "2026-11-19T10:00:00Z"}}, date(2026, 11, 17)),
    ({"information_request": {**REQUEST, "received_at": "2026-11-20T10:00:00Z"}}, date(2026, 11, 27)),
    ({"information_request": REQUEST}, date(2027, 1, 1)),
    ({"information_request": {**REQUEST, "due_at": "2027-01-09T10:00:00Z"}}, date(2027, 1, 16)),
    ({"information_request": {**REQUEST, "due_at": "2026-11-20T10:00:00Z"}}, date(2027, 1, 1)),
    ({"information_request": {**REQUEST, "received_at": "2027-03-20T10:00:00Z"}}, date(2027, 1, 1)),
    ({"information_request": {**REQUEST, "due_at": "9999-12-31T23:59:59Z"}}, date(2027, 11, 18)),
    ({"information_request": {"sent_at": "2026-11-18T10:00:00Z"}}, date(2026, 11, 17)),
    ({"information_request": {"sent_at": "2026-10-18T10:00:00Z"}}, date(2026, 11, 17)),
    ({"information_request": REQUEST, "extension": EXTENSION}, date(2027, 1, 16)),
]


@each_case("plan", ["employer", "individual"])
@each_case(("events", "day"), LENGTHENED)
def test_erisa_503_1_f_4_extends_once_and_tolls_for_missing_information(plan: str, events, day: date):
    deadline = due(care(plan, events, claim_type="prior authorization"))
    assert deadline.due_at.date() == day
    lengthened = day != date(2026, 11, 17)
    assert ("extended" in deadline.arithmetic or "stood still" in deadline.arithmetic) is lengthened


def test_erisa_503_1_f_2_iii_fewer_than_45_days_for_information_warn():
    short = {"information_request": {**REQUEST, "due_at": "2026-11-20T10:00:00Z"}}
    enough = {"information_request": {**REQUEST, "due_at": "2027-01-09T10:00:00Z"}}
    assert "too_few_days" in warned(care("employer", short, claim_type="pre_service"), HEALTH)
    assert "too_few_days" not in warned(care("employer", enough, claim_type="pre_service"), HEALTH)


@pytest.mark.parametrize(
    ("given", "length"),
    [
        (care("employer", claim_type="pre_service"), "30 days"),
        (care("individual", claim_type="post_service"), "60 days"),
        (care("employer", {"request": {"urgency": "URGENT"}}), "72 hours"),
    ],
)
def test_erisa_503_1_i_2_an_appeal_is_answered_in_the_time_of_its_claim_type(given: dict, length: str):
    facts = Facts(json.dumps(given).encode())
    [answer] = deadlines.compute(packs()[HEALTH], facts, received_at=RECEIVED, requested_at=RECEIVED, what="answer")
    assert answer.arithmetic.startswith(f"{length} after")


def second(plan: str | None = None, **outcome: Any) -> dict[str, Any]:
    subject = {"plan_type": plan} if plan else {}
    fields = {"result": "upheld", **outcome}
    return {"decision_id": "r", "reconsiders": {"decision_id": "d"}, "subject": subject, "outcome": fields}


@pytest.mark.parametrize("plan", ["employer", None])
def test_erisa_503_1_j_a_second_denial_offers_the_next_level_and_a_suit(plan: str | None):
    text = rights(second(plan), HEALTH, external_review_contact="Example Review")
    assert "Start it here: Example Review" in text
    assert "bring a civil action under its section 502(a)" in text
    assert "You have the right to appeal this decision" not in text
    assert asked(second(plan), HEALTH) >= {"next_level", "right_to_sue_after_appeal", "reasons_of_appeal"}
    assert blocking(second(plan), HEALTH) == set(), "what could not be read only warns"


def test_erisa_503_1_j_a_second_level_is_offered_where_the_plan_has_one():
    level = second(appeal={"second_level_available": True, "second_level_days": 60})
    assert "You can appeal to us once more. Send your appeal to A within 60 days" in rights(
        level, HEALTH, appeal_address="A"
    )
    assert "once more" not in rights(second(), HEALTH)


@pytest.mark.parametrize("outcome", [{"result": "overturned"}, {"result": "modified", "action": "approved"}])
def test_erisa_503_1_j_a_review_that_grants_care_offers_no_rights(outcome: dict[str, str]):
    assert rights(second(**outcome), HEALTH) == ""


def test_erisa_502_a_only_an_employer_plan_can_be_sued():
    assert "502(a)" not in rights(second("individual"), HEALTH)
    assert "502(a)" not in rights(care("individual"), HEALTH)
    assert "502(a)" in rights(care("employer"), HEALTH)


# ── Medicare Advantage ──


def test_medicare_422_568_e_blocks_without_form_cms_10003():
    given = care("medicare_advantage", basis="medical_necessity")
    assert "cms_form" in blocking(given, HEALTH)
    [problem] = [sentence for sentence in checklist.problems(case(given, HEALTH), Words(drafted(given, HEALTH)))
                 if "CMS-10003" in sentence]  # fmt: skip
    assert "this letter cannot replace" in problem


def test_medicare_422_568_e_an_appeal_has_65_days_from_the_notice_date():
    text = rights(care("medicare_advantage"), HEALTH)
    assert "within 65 calendar days from the date of this letter" in text
    assert "after you get this letter" not in text


def test_medicare_422_566_d_needs_a_clinician_for_medical_necessity():
    given = care("medicare_advantage", basis="medical_necessity")
    assert "clinician_decided_medicare" in blocking(given, HEALTH)
    assert "clinician_decided_medicare" not in blocking({**given, "approval": {"licensed_clinician": True}}, HEALTH)


def test_medicare_422_572_a_gives_72_hours_and_14_days_more_with_notice():
    fast = {"request": {"urgency": "expedited", "received_at": "2026-11-02T10:00:00Z"}}
    clock = "prior_authorization_expedited"
    assert due(care("ma", fast), clock=clock).due_at == datetime(2026, 11, 5, 10, tzinfo=UTC)
    extended = {**fast, "extension": {"notified_at": "2026-11-04T10:00:00Z"}}
    assert due(care("ma", extended), clock=clock).due_at == datetime(2026, 11, 19, 10, tzinfo=UTC)
    assert packs()[HEALTH].clock(clock).authority == "rule"
    assert packs()[HEALTH].clock("prior_authorization").authority == "guidance"


# ── words, codes and standards ──


@pytest.mark.parametrize(
    ("path", "word", "kind"),
    [
        ("outcome.claim_type", "Pre-Service", "pre_service"),
        ("outcome.claim_type", "POSTSERVICE (claim)", "post_service"),
        ("events.request.urgency", "STANDARD", "standard"),
        ("events.request.urgency", "Urgent / Expedited", "expedited"),
        ("outcome.basis", "Not Medically Necessary", "medical_necessity"),
    ],
)
def test_kinds_are_recognized_in_any_case_and_spelling(path: str, word: str, kind: str):
    assert kinds.value(path, {path: word}.get) == kind
    assert list(kinds.unknown((path,), {path: word}.get)) == []
    assert list(kinds.unknown((path,), {path: "Gold"}.get)) == [(path, "Gold")]


MEANING = "The visit is part of another service."
CODED: list[dict[str, Any]] = [
    {"denial_code": {"code": "CO-97", "meaning": MEANING}},
    {"denial_code": "CO-97", "denial_code_meaning": MEANING},
    {"denial_codes": [{"code": "CO-97", "meaning": MEANING}, {"code": 4, "description": "The code is not known."}]},
]


@pytest.mark.parametrize("coded", CODED)
def test_aca_147_136_b_3_a_code_and_its_meaning_are_printed_once_each(coded: dict[str, Any]):
    given = care("individual", basis="plan_exclusion", plan_provision="Section 4", **coded)
    sentences = [item["statement"] for item in statements(drafted(given, HEALTH))]
    assert sum(MEANING in sentence for sentence in sentences) == 1
    assert sum("97." in sentence for sentence in sentences) == 1
    assert not {name for name in blocking(given, HEALTH) if name.startswith("denial_code")}
    assert "denial_code_itself" in blocking(given, HEALTH, inputs_used=[])


def test_aca_147_136_b_3_a_standard_is_printed_for_a_plan_exclusion_too():
    given = care("individual", basis="plan_exclusion", standard="One visit a day")
    assert "One visit a day" in str(drafted(given, HEALTH)["main_factors"])
    assert "standard_if_any" not in asked(care("individual", basis="plan_exclusion"), HEALTH)


@pytest.mark.parametrize("action", ["terminated", "discontinued", "ENDED"])
def test_medicare_422_624_b_care_that_ends_needs_form_cms_10123(action: str):
    blocked = blocking(care("medicare_advantage", action=action), HEALTH)
    assert "cms_form_care_ends" in blocked
    assert "cms_form" not in blocked
    assert "fast_track_appeal" in warned(care("medicare_advantage", action=action), HEALTH)
    assert "cms_form_care_ends" not in asked(care("employer", action=action), HEALTH)


@pytest.mark.parametrize("action", ["denied", "reduced"])
def test_medicare_422_568_e_denied_or_reduced_care_needs_form_cms_10003(action: str):
    blocked = blocking(care("medicare_advantage", action=action), HEALTH)
    assert "cms_form" in blocked
    assert "cms_form_care_ends" not in blocked
