"""Medicaid managed care and Part D, and what a pack says of plans its law is not for."""

from typing import Any

import pytest

from notices import kinds
from notices.packs import packs
from tests.cases import each_case
from tests.notices.drafts import case, drafted, listed_problems, statement_texts
from tests.notices.law_us import HEALTH, asked, due, elements, record, rights, warned

MEDICAID, DRUGS = "us_medicaid", "us_part_d"
HEARING = {"fair_hearing_contact": "State Office of Hearings, 1-800-555-0100"}
PLAN = {"appeal_address": "Appeals, 1 Main St", "appeal_telephone": "1-800-555-0101"}


def problems_of(given: dict[str, Any], pack: str) -> list[str]:
    return listed_problems(case(given, pack), drafted(given, pack))


def care(plan: Any, **outcome: Any) -> dict[str, Any]:
    request = {"received_at": "2026-11-02T10:00:00Z", "service": "Home care, 20 hours a week", "urgency": "standard"}
    return record({"request": request}, {"plan_type": plan}, **outcome)


def drug(plan: Any = "part_d", events: dict | None = None, **outcome: Any) -> dict[str, Any]:
    request = {"received_at": "2026-11-02T10:00:00Z", "drug": "Exampline 5 mg"}
    return record({"request": request, **(events or {})}, {"plan_type": plan}, **outcome)


@each_case(
    ("word", "kind"),
    [
        ("Medicaid", "medicaid"), ("Medicaid managed care", "medicaid"), ("CHIP", "chip"), ("PDP", "part_d"),
        ("Medicare Part D", "part_d"), ("stand-alone drug plan", "part_d"), ("Original Medicare", "medicare"),
        ("Medicaid FFS", "medicaid_fee_for_service"),
    ],
)  # fmt: skip
def test_erisa_pack_blocks_for_plans_with_other_laws(word: str, kind: str):
    assert kinds.value("subject.plan_type", {"subject.plan_type": word}.get) == kind
    assert any("draft under another pack" in sentence for sentence in problems_of(care(word), HEALTH))


@pytest.mark.parametrize("word", ["Platinum 3000", "Employer Group (Medicare Advantage)", ["employer"]])
def test_a_word_of_no_kind_blocks_too(word: Any):
    assert any("draft under another pack" in sentence for sentence in problems_of(care(word), HEALTH))


@each_case(
    ("plan", "pack"),
    [("employer", HEALTH), ("Marketplace", HEALTH), ("Medicaid", MEDICAID), ("PDP", DRUGS), ("MAPD", DRUGS)],
)
def test_the_pack_of_a_plan_does_not_block_for_it(plan: str, pack: str):
    assert not [sentence for sentence in problems_of(care(plan), pack) if "another pack" in sentence]


@each_case("pack", [MEDICAID, DRUGS])
def test_a_record_without_a_plan_warns(pack: str):
    assert "unknown_value" in warned(care(None), pack)
    assert not [sentence for sentence in problems_of(care(None), pack) if "another pack" in sentence]


def test_438_402_medicaid_gets_sixty_days_a_state_hearing_and_continued_benefits():
    printed = rights(care("Medicaid", action="reduced"), MEDICAID, **PLAN, **HEARING)
    assert "You have 60 calendar days from the date of this letter" in printed
    assert "State fair hearing" in printed
    assert "120 calendar days from the date of our decision" in printed
    assert "go on with it while we decide your appeal" in printed
    assert "may have to pay" in printed
    assert "180" not in printed
    assert "ERISA" not in printed


def test_438_402_other_days_of_a_record_are_not_printed():
    given = care("Medicaid", appeal={"internal_days": 180})
    assert "60 calendar days" in rights(given, MEDICAID, **PLAN)
    assert "other_than_by_law" in warned(given, MEDICAID)


def test_438_408_a_failed_medicaid_appeal_leads_to_the_hearing_at_once():
    printed = rights({**care("Medicaid", result="upheld"), "reconsiders": {"decision_id": "d0"}}, MEDICAID, **HEARING)
    assert "You have the right to a State fair hearing" in printed
    assert "until the hearing is decided" in printed
    assert "right to appeal" not in printed


@each_case("pack", [MEDICAID, DRUGS])
def test_an_approval_denies_nothing(pack: str):
    given = care("Medicaid" if pack == MEDICAID else "PDP", action="approved")
    content = drafted(given, pack)
    assert content["rights"] == []
    assert "den" not in content["title"] + content["framework"]


def test_438_210_seven_days_for_a_standard_request():
    assert due(care("Medicaid"), MEDICAID, "authorization").due_at.isoformat().startswith("2026-11-09")


def test_423_582_part_d_gets_65_days_from_the_date_of_the_letter_and_cms_form():
    printed = rights(drug(), DRUGS, **PLAN)
    assert "You or your prescriber" in printed
    assert "65 calendar days from the date of this letter" in printed
    assert "180" not in printed
    assert "cms_form" in asked(drug(), DRUGS)
    assert elements(drug(), DRUGS)["drug"].result == "present"
    assert any("Exampline" in text for text in statement_texts(drafted(drug(), DRUGS), "decision_summary"))


def test_423_584_no_fast_redetermination_for_a_drug_already_furnished():
    assert "expedited_redetermination" in asked(drug(), DRUGS)
    assert "expedited_redetermination" not in asked(drug(claim_type="post_service"), DRUGS)


def test_423_590_a_failed_redetermination_leads_to_the_independent_reviewer():
    given = {**drug(events={"appeal": {"received_at": "2026-11-10T10:00:00Z"}}), "reconsiders": {"decision_id": "d0"}}
    assert "independent reviewer" in rights(given, DRUGS, external_review_contact="Reviewer, 1-800-555-0102")
    assert due(given, DRUGS, "decided_redetermination").due_at.isoformat().startswith("2026-11-17")


def test_a_drug_of_a_medicare_advantage_plan_is_cautioned_under_the_other_pack():
    assert "part_d_drug" in warned(drug("MAPD", drug="Exampline"), HEALTH)


def test_the_packs_name_the_plans_they_are_for():
    covered = {name: pack.covers["subject.plan_type"] for name, pack in packs().items() if pack.covers}
    assert covered == {
        HEALTH: ("employer", "individual", "medicare_advantage"),
        MEDICAID: ("medicaid",),
        DRUGS: ("part_d", "medicare_advantage"),
    }
