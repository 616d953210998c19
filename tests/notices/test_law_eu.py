"""Packs for the laws of the European Union, the United Kingdom and Quebec."""

import re

import pytest

from notices import checklist
from notices.packs import packs
from notices.warnings.national_law import country_of
from tests.cases import each_case
from tests.docs.documents import CHECKOUT
from tests.notices.drafts import EVERY, case, drafted
from tests.notices.judged import AUTOMATED, REVIEW, about, kinds, letter, missing, sentences
from tests.notices.test_packs import LONG_AFTER, blocking
from tests.notices.test_reasons import Words

# ── GDPR ──


def test_gdpr_15_1_h_owes_logic_and_consequences_on_request():
    bare = about(reasons=None)
    assert missing(bare, "gdpr_22") == set()
    assert missing(bare, "gdpr_22", asked=True) == {"logic", "consequences"}
    by_record = {**bare, "events": {"access_request": {"received_at": "2026-11-22"}}}
    assert missing(by_record, "gdpr_22") == {"logic", "consequences"}
    assert all("on request" in packs()["gdpr_22"].element(name).citation for name in ("logic", "consequences"))
    assert {packs()["gdpr_22"].element(name).authority for name in ("logic", "consequences")} == {"statute"}


def test_gdpr_recital_71_a_denial_without_a_reason_warns():
    assert "missing_element" in kinds(about(reasons=None), "gdpr_22")
    assert "missing_element" not in kinds(AUTOMATED, "gdpr_22")
    assert "missing_element" not in kinds(about(reasons=None, action="APPROVED"), "gdpr_22")


def test_c_203_22_advises_a_counterfactual_and_does_not_require_it():
    element = packs()["gdpr_22"].element("variation")
    assert (element.authority, element.advice) == ("guidance", True)
    assert "not required" in element.citation


# ── UK GDPR ──


def test_uk_gdpr_22c_missing_reasons_warn_and_ico_guidance_is_called_a_draft():
    pack = packs()["uk_gdpr_22c"]
    assert "missing_element" in kinds(about(reasons=None), "uk_gdpr_22c")
    assert "missing_element" not in kinds(AUTOMATED, "uk_gdpr_22c")
    assert missing(about(reasons=None), "uk_gdpr_22c") == set()
    resting = [part for part in (*pack.elements, *pack.clocks) if part.source == "ico_guidance"]
    assert {part.authority for part in resting} == {"draft"}
    assert all("draft" in part.citation for part in resting)
    assert "draft" in pack.source("ico_guidance").citation


def test_uk_gdpr_22c_one_month_is_draft_guidance_and_never_blocks():
    pack = packs()["uk_gdpr_22c"]
    assert pack.clock("one_month").authority == "draft"
    assert "answered_in_time" not in blocking(pack)


# ── AI Act ──


def test_ai_act_86_never_blocks_and_warns_before_2_december_2027():
    assert blocking(packs()["eu_ai_act_86"], LONG_AFTER) == set()
    assert sentences(AUTOMATED, "eu_ai_act_86", "not_in_force") == [
        "EU AI Act Article 86 is for decisions from December 2, 2027 on. This one was made on November 21, 2026. "
        "Its law may not apply. Whether it can be relied on before is unsettled."
    ]
    assert "missing_element" in kinds(about(reasons=None), "eu_ai_act_86")
    later = {**AUTOMATED, "decided_at": "2027-12-02"}
    assert "not_in_force" not in kinds(later, "eu_ai_act_86")


def test_ai_act_85_a_complaint_is_offered_from_2_august_2026():
    for day, count in (("2026-08-01", 0), ("2026-08-02", 1)):
        rights = letter({**AUTOMATED, "decided_at": day}, "eu_ai_act_86")["rights"]
        assert len([right for right in rights if "market surveillance" in right]) == count


def test_ai_act_86_asks_nothing_of_a_review_by_a_person():
    assert "missing_element" not in kinds(REVIEW, "eu_ai_act_86")


# ── Quebec: P-39.1 for businesses, A-2.1 for public bodies ──


def test_quebec_65_2_blocks_public_bodies_and_12_1_does_not_block_others():
    bare = {**about(solely_automated=None, reasons=None)}
    assert missing(bare, "ca_qc_12_1") == set()
    assert "missing_element" in kinds(bare, "ca_qc_12_1")
    public = {**bare, "system": {"name": "Example", "public_body": True}}
    assert missing(public, "ca_qc_12_1") == {"exclusively_automated"}
    assert "A-2.1" in letter(public, "ca_qc_12_1")["framework"]
    assert "P-39.1" in letter(bare, "ca_qc_12_1")["framework"]


def test_quebec_65_2_public_body_must_be_a_json_boolean():
    unsure = {**AUTOMATED, "system": {"public_body": "yes"}}
    assert any(
        "system.public_body" in problem
        for problem in checklist.problems(case(unsure, "ca_qc_12_1"), Words(letter(unsure, "ca_qc_12_1")))
    )


# ── Consumer Credit Directive (EU) 2023/2225 ──

CREDIT = packs()["eu_ccd2_18"]
RIGHTS = ["automation", "intervention", "explanation", "view", "review", "debt_advice"]


def test_ccd2_18_is_in_force_since_20_november_2026_and_never_blocks():
    assert CREDIT.legal_status == "in_force"
    assert CREDIT.effective_from.isoformat() == "2026-11-20"
    assert blocking(CREDIT) == set()
    assert not any(element.advice for element in CREDIT.elements)
    assert CREDIT.source("article_18").reading == "secondary"


@pytest.mark.parametrize("language", ["en", "fr", "de"])
def test_ccd2_18_8_and_9_a_rejection_offers_every_right_and_debt_advice(language):
    content = letter(AUTOMATED, "eu_ccd2_18", language)
    assert len(content["rights"]) == len(RIGHTS)
    assert set(RIGHTS) == set(CREDIT.text(language).locked) - {"database"}
    assert content["human_review_available"] is True
    assert "Example Bank" in content["how_to_request_review"]
    assert kinds(AUTOMATED, "eu_ccd2_18", language) in (["national_law"], ["national_law", "other_language"])


def test_ccd2_18_8_covers_a_person_s_decision_that_used_a_system():
    by_person = {**about(solely_automated=False), "approval": {"approver": "officer 3"}}
    assert len(letter(by_person, "eu_ccd2_18")["rights"]) == len(RIGHTS) - 1
    without = {**by_person, "system": None}
    assert "not_automated" in kinds(without, "eu_ccd2_18")
    assert [right for right in letter(without, "eu_ccd2_18")["rights"] if "automated" in right] == []


@pytest.mark.parametrize("field", ["rights", "main_factors", "role_of_automated_system", "decision_summary"])
def test_ccd2_18_missing_content_warns_and_never_blocks(field):
    assert "missing_element" in kinds(AUTOMATED, "eu_ccd2_18", **{field: []})
    checked = checklist.check(case(AUTOMATED, "eu_ccd2_18"), Words({**letter(AUTOMATED, "eu_ccd2_18"), field: []}))
    assert not any(element.blocks for element in checked)


def test_ccd2_18_9_an_approval_has_no_rights_and_an_offer_no_debt_advice():
    assert letter(about(action="Approved"), "eu_ccd2_18")["rights"] == []
    assert len(letter(about(action="counter-offer"), "eu_ccd2_18")["rights"]) == len(RIGHTS) - 1


@each_case(
    ("jurisdiction", "told_of"),
    [("DE", "DE"), ("de-BY", "DE"), ("FR_75", "FR"), (" at ", "AT"), ("EL", "GR"), ("US-CA", "no country of the"),
     ("GB", "no country of the"), ("Germany", "names no country"), (None, "names no country"), (7, "names no country"),
     ("", "names no country"), ("d" * 5000, "names no country")],
)  # fmt: skip
def test_ccd2_18_warns_of_national_law_by_country(jurisdiction, told_of):
    (sentence,) = sentences({**AUTOMATED, "subject": {"jurisdiction": jurisdiction}}, "eu_ccd2_18", "national_law")
    assert told_of in sentence
    assert (len(told_of) == 2) is ("was not read" in sentence)


def test_ccd2_18_national_law_lists_the_27_member_states():
    assert len(CREDIT.scope.national_law) == 27
    assert all(country_of(code) == code for code in CREDIT.scope.national_law)


def test_ccd2_18_documentation_languages_and_retention_agree():
    index = (CHECKOUT / "docs/packs/README.md").read_text()
    assert "[`eu_ccd2_18`](eu_ccd2_18.md)" in index
    page = (CHECKOUT / "docs/packs/eu_ccd2_18.md").read_text()
    assert "blocks approval" not in page
    assert "AT, BE, BG" in page
    assert CREDIT.languages == ("en", "fr", "de")
    assert (CREDIT.retention_days, CREDIT.retention_source, CREDIT.human_review) == (0, None, "optional")


# ── decided and undecided cases, in every pack ──


@each_case("word", ["pended", "Under Review", "referred", "manual_review"])
@each_case(("pack", "language"), [pair for pair in EVERY if pair[0] not in ("us_ca_admt", "us_co_admt")])
def test_an_undecided_case_offers_nothing_to_contest(pack: str, language: str, word: str):
    given = {"decision_id": "d", "decided_at": "2028-01-10", "outcome": {"action": word, "solely_automated": True}}
    content = drafted(given, pack, language)
    assert content["title"] == packs()[pack].text(language).title_undecided
    assert not content["human_review_available"]
    contests = r"\b(contest|appeal|anfechten|contester)\b|have a person|by a person|What the decision mainly|beruht"
    assert not re.search(contests, " ".join([*content["rights"], content["how_to_request_review"]]))


@each_case(("pack", "language"), EVERY)
def test_a_decided_case_has_the_title_of_a_decision(pack: str, language: str):
    content = drafted({"decision_id": "d", "outcome": {"action": "denied"}}, pack, language)
    assert content["title"] == packs()[pack].text(language).title
