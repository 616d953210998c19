"""The shipped packs: their laws, the certainty of each source, and their current pages."""

import re
from datetime import date

import pytest

from notices.management.commands import pack_pages
from notices.packs import Pack, fill, load, packs, placeholders
from notices.packs.models import STATEMENT_FIELDS, Text
from tests.cases import each_case
from tests.docs.documents import CHECKOUT, blocks

EVERY = sorted(packs())
WORDS = [(name, language) for name in EVERY for language in packs()[name].languages]

# Elements that research marks UNCONFIRMED, second-hand or advisory. None may block.
UNSURE = {
    "ca_qc_12_1": {"language", "answered_in_time", "reasons_given_at_once", "personal_information_given_at_once"},
    "eu_ai_act_86": {
        "complaint",
        "clear_and_meaningful",
        "no_deadline_in_its_name",
        "no_review_in_its_name",
        "high_risk_system_used",
    },
    "eu_ccd2_18": {element.id for element in packs()["eu_ccd2_18"].elements},
    "gdpr_22": {"variation", "no_trade_secret_excuse", "human_review_unknown_ground", "logic_given_at_once"},
    "uk_gdpr_22c": {"solely_automated", "reasons", "inputs", "language", "answered_in_time", "complaint"},
    "us_ca_admt": {"request_answered"},
    "us_co_admt": {"main_factors", "materially_influenced", "withheld", "sent_in_time", "language"},
    "us_ecoa_fcra": {
        "reasons_at_most_four",
        "no_near_empty_reasons",
        "incomplete_is_no_reason",
        "offer_until",
        "accept_offer",
        "score_key_factors_at_most",
        "score_key_factors_with_inquiries",
        "how_to_request_review",
    },
    "us_health_denial": {
        "plan_provision_elsewhere",
        "clinical_criteria",
        "denial_code_elsewhere",
        "clinician_decided_elsewhere",
        "external_review_employer",
        "language",
        "next_level",
        "second_appeal",
        "right_to_sue_after_appeal",
        "reasons_of_appeal",
        "system_did_not_deny",
        "sent_in_time",
        "sent_in_time_expedited",
        "sent_in_time_urgent",
        "independent_review",
    },
    "us_medicaid": {
        "clinical_criteria",
        "language",
        "reasons_of_appeal",
        "fair_hearing_now",
    },
    "us_part_d": {"coverage_rule", "how_to_request_inputs", "reasons_of_redetermination", "reconsideration"},
}
UNSURE_CLOCKS = {
    "ca_qc_12_1": {"thirty_days"},
    "uk_gdpr_22c": {"one_month"},
    "us_ca_admt": {"ten_business_days"},
    "us_health_denial": {"decided_reconsideration_urgent", "prior_authorization", "urgent"},
    "us_medicaid": {clock.id for clock in packs()["us_medicaid"].clocks},
    "us_part_d": {"standard", "expedited", "payment"},
}
LONG_AFTER = date(2100, 1, 1)


def blocking(pack: Pack, on: date = LONG_AFTER) -> set[str]:
    return {element.id for element in pack.elements if pack.blocks(element, on)}


def all_texts(words: Text) -> list[str]:
    fields = [getattr(words, name) for name in Text.model_fields if name not in ("forbidden", "labels", "weak_reasons")]
    return [
        text
        for field in fields
        for text in ([field] if isinstance(field, str) else field.values() if isinstance(field, dict) else field)
    ]


def test_the_packs_of_the_design_are_there_and_without_a_problem():
    assert EVERY == [
        "ca_qc_12_1",
        "eu_ai_act_86",
        "eu_ccd2_18",
        "gdpr_22",
        "general",
        "uk_gdpr_22c",
        "us_ca_admt",
        "us_co_admt",
        "us_ecoa_fcra",
        "us_health_denial",
        "us_medicaid",
        "us_part_d",
    ]


def test_short_names_of_packs_are_distinct_words():
    names = [pack.short_name for pack in packs().values()]
    assert len(set(names)) == len(names)
    assert not [name for name in names if "_" in name or name in packs()]


def test_english_is_everywhere_french_comes_first_in_quebec_and_the_eu_packs_speak_german_and_french():
    assert all("en" in packs()[name].languages for name in EVERY)
    assert packs()["ca_qc_12_1"].languages == ("fr", "en")
    assert all(set(packs()[name].languages) == {"en", "de", "fr"} for name in ("gdpr_22", "eu_ai_act_86", "eu_ccd2_18"))


@each_case("name", EVERY)
def test_a_pack_is_read_the_same_way_twice(name: str):
    directory = CHECKOUT / "notices" / "packs" / name
    assert load(directory) == load(directory)
    assert load(directory).digest == packs()[name].digest


@each_case(("name", "language"), WORDS)
def test_every_language_labels_every_element_and_has_every_locked_text_and_phrase(name: str, language: str):
    pack, words = packs()[name], packs()[name].text(language)
    assert set(words.labels) == {element.id for element in pack.elements}
    assert set(words.locked) == {locked.id for locked in pack.locked}
    assert set(words.forbidden) == {one.id for one in pack.elements if one.check == "forbidden_phrase"}


@each_case(("name", "language"), WORDS)
def test_texts_are_filled_completely_from_the_declared_settings(name: str, language: str):
    pack = packs()[name]
    settings = dict.fromkeys(pack.settings, "something")
    for text in all_texts(pack.text(language)):
        assert not placeholders(fill(text, settings))
        assert "{" not in fill(text, settings)
    assert fill("Write to {contact}, {organization}.", {"contact": " "}) == "Write to {contact}, {organization}."


@each_case(("name", "language"), WORDS)
def test_our_own_sentences_are_short_enough_to_read(name: str, language: str):
    """At most 27 words. The law's own words and inserted lists of names do not count."""
    for text in all_texts(packs()[name].text(language)):
        if text.startswith("The Federal Equal Credit Opportunity Act prohibits"):
            continue
        for sentence in re.split(r"(?<=[.!?:])\s+", text):
            assert len(sentence.split()) <= 27, sentence


@each_case("name", EVERY)
def test_uncertain_elements_never_block(name: str):
    pack = packs()[name]
    unsure = UNSURE.get(name, set())
    assert unsure <= {element.id for element in pack.elements}
    assert not unsure & blocking(pack)
    advised = {clock.id for clock in pack.clocks if clock.authority not in ("statute", "rule")}
    assert advised == UNSURE_CLOCKS.get(name, set())


@each_case("name", EVERY)
def test_rules_not_read_in_a_legal_text_never_block(name: str):
    pack = packs()[name]
    for element in pack.elements:
        if pack.source(element.source).reading in ("secondary", "unconfirmed", "own"):
            assert not pack.blocks(element, LONG_AFTER), element.id


KNOWN_ONLY = [
    "not confirmed", "not read", "CMS-0057-F", "Charter of the French language", "Directive (EU) 2023/2225", "ICO",
    "29 CFR 2560.503-1(f): 72 hours", "29 CFR 2560.503-1(j)", "29 CFR 2590.715-2719", "P-39.1",
]  # fmt: skip
"""Citations that are only known, because the text of the law could not be read."""


@each_case("name", EVERY)
def test_an_element_on_a_law_known_only_by_citation_warns(name: str):
    pack = packs()[name]
    for element in pack.elements:
        cited = f"{element.citation} {pack.source(element.source).citation}"
        if any(known in cited for known in KNOWN_ONLY) and pack.blocks(element, LONG_AFTER):
            # Read of public bodies, in.
            assert (name, element.blocks_if) == ("ca_qc_12_1", "if record system.public_body"), element.id


@pytest.mark.parametrize("name", ["general", "eu_ai_act_86", "us_co_admt"])
def test_a_policy_and_a_law_whose_force_is_unsettled_or_stayed_block_nothing(name: str):
    assert packs()[name].legal_status in ("policy", "enacted")
    assert blocking(packs()[name]) == set()


def test_california_blocks_from_the_day_its_rules_bind():
    pack = packs()["us_ca_admt"]
    assert blocking(pack, date(2026, 12, 31)) == set()
    assert blocking(pack, date(2027, 1, 1)) >= {"logic", "sole_factor", "no_retaliation"}


@each_case("name", EVERY)
def test_neither_a_maximum_nor_lateness_blocks(name: str):
    pack = packs()[name]
    checks = {pack.element(element_id).check for element_id in blocking(pack)}
    assert not checks & {"max_items", "sent_before"}


@pytest.mark.parametrize(
    ("name", "days"),
    [("eu_ai_act_86", 183), ("us_ecoa_fcra", 762), ("us_co_admt", 1096), ("gdpr_22", 0), ("eu_ccd2_18", 0)],
)
def test_retention_floors_are_those_that_were_read(name: str, days: int):
    assert packs()[name].retention_days == days


def test_twenty_five_months_are_never_longer_than_the_floor_of_credit_records():
    starts = [date(year, month, 1) for year in range(2024, 2028) for month in range(1, 13)]
    lengths = [(date(day.year + 2 + day.month // 12, day.month % 12 + 1, 1) - day).days for day in starts]
    assert packs()["us_ecoa_fcra"].retention_days == max(lengths)


@each_case("name", EVERY)
def test_paths_of_a_pack_are_looked_for_where_statements_are(name: str):
    for element in packs()[name].elements:
        assert not element.paths or element.where in STATEMENT_FIELDS


@each_case("name", EVERY)
def test_every_source_is_used(name: str):
    pack = packs()[name]
    parts = (*pack.elements, *pack.clocks, *pack.by_law, *pack.cautions, *pack.prohibited_bases)
    used = {part.source for part in parts} | {pack.retention_source}
    assert {source.id for source in pack.sources} == used - {None}


def test_dates_and_money_are_written_as_in_the_country_of_the_law():
    assert {name: packs()[name].locales for name in EVERY} == {
        "ca_qc_12_1": {"fr": "fr_CA", "en": "en_CA"},
        "eu_ai_act_86": {"en": "en_IE"},
        "eu_ccd2_18": {"en": "en_IE"},
        "gdpr_22": {"en": "en_IE"},
        "general": {},
        "uk_gdpr_22c": {"en": "en_GB"},
        "us_ca_admt": {"en": "en_US"},
        "us_co_admt": {"en": "en_US"},
        "us_ecoa_fcra": {"en": "en_US"},
        "us_health_denial": {"en": "en_US"},
        "us_medicaid": {"en": "en_US"},
        "us_part_d": {"en": "en_US"},
    }


def test_a_regional_language_falls_back_to_its_language():
    pack = packs()["gdpr_22"]
    assert {pack.language_for(wish) for wish in ("de-AT", "de_AT", " DE")} == {"de"}
    assert pack.language_for("pl", "fr") == "fr"
    assert pack.language_for(None) == "en"
    assert packs()["ca_qc_12_1"].language_for("pl") == "fr"


def test_placeholders_are_named_once_in_order():
    assert placeholders("{b} and {a} and {b}") == ("b", "a")


def test_the_pages_match_the_packs():
    assert pack_pages.outdated(pack_pages.DIRECTORY) == []


def test_a_missing_page_and_a_page_without_a_pack_are_reported(tmp_path):
    pack_pages.write(tmp_path)
    assert pack_pages.outdated(tmp_path) == []
    (tmp_path / "general.md").unlink()
    (tmp_path / "gdpr_22.md").write_text("Something else")
    (tmp_path / "old_law.md").write_text("Repealed")
    assert pack_pages.outdated(tmp_path) == ["gdpr_22.md", "general.md", "old_law.md"]
    pack_pages.write(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(pack_pages.pages())


def test_the_pack_that_the_manual_shows_is_a_whole_one(tmp_path):
    directory = tmp_path / "example_rule"
    directory.mkdir()
    for block in blocks(CHECKOUT / "docs" / "adding-a-pack.md"):
        if block.language == "toml":
            (directory / block.code.splitlines()[0].removeprefix("# ")).write_text(block.code)
    pack = load(directory)
    assert blocking(pack) == {"reasons", "human_review", "office"}
    assert (pack.clock("ten_days").length, pack.clock("ten_days").calendar) == ("10 business days", "US")
    assert pack.lock("office").placeholders == ("office_address",)
