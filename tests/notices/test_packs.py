"""The packs that are shipped: what each says of its law, how sure it is of it, and that its pages are current."""

import re
from datetime import date

import pytest

from notices.management.commands import pack_pages
from notices.packs import Element, Pack, fill, load, packs, placeholders, problems
from notices.packs.models import STATEMENT_FIELDS, Text
from tests.docs.documents import CHECKOUT, blocks

EVERY = sorted(packs())
WORDS = [(name, language) for name in EVERY for language in packs()[name].languages]

# What design and research mark UNCONFIRMED, read second hand, or only advised. None of it may block.
UNSURE = {
    "ca_qc_12_1": {"language", "answered_in_time", "reasons_given_at_once"},
    "eu_ai_act_86": {
        "complaint",
        "clear_and_meaningful",
        "no_deadline_in_its_name",
        "no_review_in_its_name",
        "high_risk_system_used",
    },
    "gdpr_22": {"variation", "no_trade_secret_excuse", "human_review_unknown_ground"},
    "uk_gdpr_22c": {"solely_automated", "factors", "inputs", "language", "answered_in_time", "complaint"},
    "us_co_admt": {"main_factors", "withheld", "sent_in_time", "language"},
    "us_ecoa_fcra": {"reasons_at_most_four", "score_key_factors_at_most", "how_to_request_review"},
    "us_health_denial": {
        "clinician_decided_elsewhere",
        "system_did_not_deny",
        "decided_in_time",
        "decided_in_time_expedited",
        "independent_review",
    },
}
UNSURE_CLOCKS = {
    "ca_qc_12_1": {"thirty_days"},
    "uk_gdpr_22c": {"one_month"},
    "us_ca_admt": {"ten_business_days"},
    "us_health_denial": {"prior_authorization", "prior_authorization_expedited"},
}
LONG_AFTER = date(2100, 1, 1)


def blocking(pack: Pack, on: date = LONG_AFTER) -> set[str]:
    return {element.id for element in pack.elements if pack.blocks(element, on)}


def all_texts(words: Text) -> list[str]:
    fields = [getattr(words, name) for name in Text.model_fields if name not in ("forbidden", "labels")]
    return [
        text
        for field in fields
        for text in ([field] if isinstance(field, str) else field.values() if isinstance(field, dict) else field)
    ]


def test_the_packs_of_the_design_are_there_and_without_a_problem():
    assert EVERY == [
        "ca_qc_12_1",
        "eu_ai_act_86",
        "gdpr_22",
        "general",
        "uk_gdpr_22c",
        "us_ca_admt",
        "us_co_admt",
        "us_ecoa_fcra",
        "us_health_denial",
    ]
    assert problems() == []


def test_english_is_everywhere_french_comes_first_in_quebec_and_the_eu_packs_speak_german_and_french():
    assert all("en" in packs()[name].languages for name in EVERY)
    assert packs()["ca_qc_12_1"].languages == ("fr", "en")
    assert set(packs()["gdpr_22"].languages) == set(packs()["eu_ai_act_86"].languages) == {"en", "de", "fr"}


@pytest.mark.parametrize("name", EVERY)
def test_a_pack_is_read_the_same_way_twice(name: str):
    directory = CHECKOUT / "notices" / "packs" / name
    assert load(directory) == load(directory)
    assert load(directory).digest == packs()[name].digest


@pytest.mark.parametrize(("name", "language"), WORDS)
def test_every_language_labels_every_element_and_has_every_locked_text_and_phrase(name: str, language: str):
    pack, words = packs()[name], packs()[name].text(language)
    assert set(words.labels) == {element.id for element in pack.elements}
    assert set(words.locked) == {locked.id for locked in pack.locked}
    assert set(words.forbidden) == {one.id for one in pack.elements if one.check == "forbidden_phrase"}


@pytest.mark.parametrize(("name", "language"), WORDS)
def test_texts_are_filled_completely_from_the_declared_settings(name: str, language: str):
    pack = packs()[name]
    settings = dict.fromkeys(pack.settings, "something")
    for text in all_texts(pack.text(language)):
        assert not fill(text, settings).unfilled
        assert "{" not in fill(text, settings).text
    unfilled = fill("Write to {contact}, {organization}.", {"contact": " "})
    assert unfilled.unfilled == ("contact", "organization")
    assert unfilled.text == "Write to {contact}, {organization}."


@pytest.mark.parametrize(("name", "language"), WORDS)
def test_our_own_sentences_are_short_enough_to_read(name: str, language: str):
    """Twenty-seven words at most. The law's own words, and lists of names that fill a text, are not ours to shorten."""
    for text in all_texts(packs()[name].text(language)):
        if text.startswith("The Federal Equal Credit Opportunity Act prohibits"):
            continue
        for sentence in re.split(r"(?<=[.!?:])\s+", text):
            assert len(sentence.split()) <= 27, sentence


@pytest.mark.parametrize("name", EVERY)
def test_what_is_not_sure_never_blocks(name: str):
    pack = packs()[name]
    unsure = UNSURE.get(name, set())
    assert unsure <= {element.id for element in pack.elements}
    assert not unsure & blocking(pack)
    advised = {clock.id for clock in pack.clocks if clock.authority not in ("statute", "rule")}
    assert advised == UNSURE_CLOCKS.get(name, set())


@pytest.mark.parametrize("name", EVERY)
def test_what_was_not_read_in_a_text_of_law_never_blocks(name: str):
    pack = packs()[name]
    for element in pack.elements:
        if pack.source(element.source).reading in ("secondary", "unconfirmed", "own"):
            assert not pack.blocks(element, LONG_AFTER), element.id


@pytest.mark.parametrize("name", ["general", "eu_ai_act_86", "us_co_admt"])
def test_a_policy_and_a_law_whose_force_is_unsettled_or_stayed_block_nothing(name: str):
    assert packs()[name].legal_status in ("policy", "enacted")
    assert blocking(packs()[name]) == set()


def test_california_blocks_from_the_day_its_rules_bind():
    pack = packs()["us_ca_admt"]
    assert blocking(pack, date(2026, 12, 31)) == set()
    assert blocking(pack, date(2027, 1, 1)) >= {"logic", "sole_factor", "no_retaliation"}


@pytest.mark.parametrize("name", EVERY)
def test_neither_a_maximum_nor_lateness_blocks(name: str):
    pack = packs()[name]
    checks = {pack.element(element_id).check for element_id in blocking(pack)}
    assert not checks & {"max_items", "sent_before"}


def applying(pack: Pack, check: str, record: dict[str, object]) -> list[Element]:
    return [one for one in pack.elements if one.check == check and one.applies_to(record.get)]


@pytest.mark.parametrize(
    ("name", "record"),
    [
        ("gdpr_22", {"outcome.legal_basis": "contract", "outcome.solely_automated": True}),
        ("gdpr_22", {"outcome.legal_basis": "explicit_consent"}),
        ("uk_gdpr_22c", {"outcome.solely_automated": True}),
        ("ca_qc_12_1", {"outcome.solely_automated": True}),
        ("us_health_denial", {}),
    ],
)
def test_where_the_law_gives_a_person_to_ask_a_notice_without_one_is_blocked(name: str, record: dict[str, object]):
    found = applying(packs()[name], "is_true", record)
    assert found
    assert all(packs()[name].blocks(element, date(2026, 11, 1)) for element in found)


@pytest.mark.parametrize("name", ["gdpr_22", "uk_gdpr_22c", "ca_qc_12_1"])
def test_a_decision_that_a_person_made_needs_no_review_under_the_laws_on_automated_ones(name: str):
    assert applying(packs()[name], "is_true", {"outcome.solely_automated": False}) == []


@pytest.mark.parametrize("name", ["eu_ai_act_86", "us_ecoa_fcra"])
def test_where_no_law_grants_a_review_none_is_demanded(name: str):
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
    assert {"insufficient score", "internal policy"} <= set(pack.text("en").forbidden["no_empty_reasons"])
    assert pack.element("no_empty_reasons").where == "main_factors"
    assert "no_empty_reasons" in blocking(pack)


def test_only_credit_knows_a_maximum_of_reasons_and_it_only_advises():
    found = [(name, one.id) for name in EVERY for one in packs()[name].elements if one.check == "max_items"]
    assert found == [("us_ecoa_fcra", "reasons_at_most_four"), ("us_ecoa_fcra", "score_key_factors_at_most")]
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
    ("record", "days"),
    [
        ({}, 30),
        ({"outcome.application_incomplete": True}, 30),
        ({"outcome.existing_account": True}, 30),
        ({"outcome.counteroffer_not_accepted": True}, 90),
    ],
)
def test_one_clock_of_regulation_b_runs_at_a_time(record: dict[str, object], days: int):
    running = [clock for clock in packs()["us_ecoa_fcra"].clocks if clock.applies_to(record.get)]
    assert [(clock.unit, clock.amount) for clock in running] == [("days", days)]
    assert [clock.trigger for clock in running] == ["decision_date" if record else "application_completed"]


def test_answers_and_acknowledgements_have_clocks_of_their_own():
    on_request = {(name, one.id, one.what) for name in EVERY for one in packs()[name].clocks if one.what != "notice"}
    assert on_request == {
        ("ca_qc_12_1", "thirty_days", "answer"),
        ("gdpr_22", "one_month", "answer"),
        ("uk_gdpr_22c", "one_month", "answer"),
        ("uk_gdpr_22c", "complaint_acknowledged", "acknowledgement"),
        ("us_ca_admt", "forty_five_days", "answer"),
        ("us_ca_admt", "ten_business_days", "acknowledgement"),
    }


@pytest.mark.parametrize(
    ("name", "days"), [("eu_ai_act_86", 183), ("us_ecoa_fcra", 762), ("us_co_admt", 1096), ("gdpr_22", 0)]
)
def test_retention_floors_are_those_that_were_read(name: str, days: int):
    assert packs()[name].retention_days == days


def test_twenty_five_months_are_never_longer_than_the_floor_of_credit_records():
    starts = [date(year, month, 1) for year in range(2024, 2028) for month in range(1, 13)]
    lengths = [(date(day.year + 2 + day.month // 12, day.month % 12 + 1, 1) - day).days for day in starts]
    assert packs()["us_ecoa_fcra"].retention_days == max(lengths)


@pytest.mark.parametrize("name", EVERY)
def test_paths_of_a_pack_are_looked_for_where_statements_are(name: str):
    for element in packs()[name].elements:
        assert not element.paths or element.where in STATEMENT_FIELDS


def test_only_statements_at_or_below_an_elements_paths_count():
    element = packs()["us_ecoa_fcra"].element("score")
    assert element.counts("outcome.score")
    assert element.counts("outcome.score.value")
    assert not element.counts("outcome.score_date")
    assert packs()["us_ecoa_fcra"].element("specific_reasons").counts("events.0.score")


def test_a_wish_for_a_regional_language_gets_the_language():
    pack = packs()["gdpr_22"]
    assert pack.language_for("de-AT") == "de"
    assert pack.language_for("pl", "fr") == "fr"
    assert pack.language_for(None) == "en"
    assert packs()["ca_qc_12_1"].language_for("pl") == "fr"


def test_placeholders_are_named_once_in_order():
    assert placeholders("{b} and {a} and {b}") == ("b", "a")


def test_the_pages_say_what_the_packs_say():
    assert pack_pages.outdated(pack_pages.DIRECTORY) == []


def test_a_page_is_missed_when_it_is_gone_and_noticed_when_it_is_of_no_pack(tmp_path):
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
