"""The packs that are shipped: what each says of its law, how sure it is of it, and that its pages are current."""

import json
import re
from datetime import date

import pytest

from notices.facts import Facts
from notices.management.commands import pack_pages
from notices.packs import Element, Pack, fill, load, packs, placeholders, problems
from notices.packs.models import STATEMENT_FIELDS, Text
from tests.docs.documents import CHECKOUT, blocks
from tests.notices.drafts import drafted, sample

EVERY = sorted(packs())
WORDS = [(name, language) for name in EVERY for language in packs()[name].languages]

# What design and research mark UNCONFIRMED, read second hand, or only advised. None of it may block.
UNSURE = {
    "ca_qc_12_1": {"language", "answered_in_time", "reasons_given_at_once", "personal_information_given_at_once"},
    "eu_ai_act_86": {
        "complaint",
        "clear_and_meaningful",
        "no_deadline_in_its_name",
        "no_review_in_its_name",
        "high_risk_system_used",
    },
    "gdpr_22": {"variation", "no_trade_secret_excuse", "human_review_unknown_ground"},
    "uk_gdpr_22c": {"solely_automated", "factors", "inputs", "language", "answered_in_time", "complaint"},
    "us_co_admt": {"main_factors", "materially_influenced", "withheld", "sent_in_time", "language"},
    "us_ecoa_fcra": {"reasons_at_most_four", "score_key_factors_at_most", "how_to_request_review"},
    "us_health_denial": {
        "plan_provision_elsewhere",
        "clinical_criteria",
        "denial_code_elsewhere",
        "clinician_decided_elsewhere",
        "system_did_not_deny",
        "sent_in_time",
        "sent_in_time_expedited",
        "sent_in_time_urgent",
        "independent_review",
    },
}
UNSURE_CLOCKS = {
    "ca_qc_12_1": {"thirty_days"},
    "uk_gdpr_22c": {"one_month"},
    "us_ca_admt": {"ten_business_days"},
    "us_health_denial": {"prior_authorization", "prior_authorization_expedited", "urgent"},
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
        assert not placeholders(fill(text, settings))
        assert "{" not in fill(text, settings)
    assert fill("Write to {contact}, {organization}.", {"contact": " "}) == "Write to {contact}, {organization}."


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
    assert packs()["us_ecoa_fcra"].element("reasons_at_most_four").counts("anything.at.all")


@pytest.mark.parametrize(
    ("name", "decision_id", "told"),
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
def test_what_differs_from_case_to_case_is_filled_from_the_record(name: str, decision_id: str, told: dict[str, str]):
    assert packs()[name].recorded(Facts(sample(decision_id)).get) == told


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


@pytest.mark.parametrize(("name", "language"), WORDS)
def test_no_title_says_how_it_was_decided(name: str, language: str):
    """A person may have decided under each of these laws: what the system did is said where it can be cited."""
    assert "automat" not in packs()[name].text(language).title.lower()


@pytest.mark.parametrize(("name", "language"), WORDS)
def test_where_a_record_says_that_there_is_no_review_the_notice_can_say_it(name: str, language: str):
    assert packs()[name].text(language).no_review.endswith(".")


@pytest.mark.parametrize("name", EVERY)
def test_what_is_asked_of_a_language_is_that_the_reader_reads_it(name: str):
    assert {one.check for one in packs()[name].elements if one.where == "language"} <= {"readers_language"}


def test_only_what_nothing_else_tells_of_applies_by_the_field_that_it_looks_for():
    """Such an element never finds the field missing. These are about things that not every decision has."""
    found = {
        (name, one.id)
        for name in EVERY
        for one in packs()[name].elements
        for condition in one.when.conditions
        if one.paths and one.counts(condition.path) and not (condition.negated or condition.compared)
    }
    assert found == {
        ("us_ca_admt", "human_role"),
        ("us_ca_admt", "further_use"),
        ("us_ecoa_fcra", "score"),
        ("us_health_denial", "additional_material"),
        ("us_health_denial", "internal_rule"),
        ("us_health_denial", "plan_provision_elsewhere"),
        ("us_health_denial", "denial_code_elsewhere"),
    }


@pytest.mark.parametrize("element_id", ["solely_automated", "legal_basis", "consequences"])
@pytest.mark.parametrize(("told", "applies"), [(None, True), (True, True), (False, False)])
def test_a_record_that_does_not_say_who_decided_is_treated_as_if_no_person_did(
    element_id: str, told: bool | None, applies: bool
):
    record: dict[str, object] = {"outcome.solely_automated": told}
    assert packs()["gdpr_22"].element(element_id).applies_to(record.get) is applies


@pytest.mark.parametrize(
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


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("action", ["approved", "referred"])
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
        ("employer", {"plan_provision", "right_to_sue"}),
        ("individual", {"denial_code", "external_review_individual", "assistance_individual"}),
        ("medicare_advantage", set()),
        (None, set()),
    ],
)
def test_what_one_plan_s_rules_ask_for_is_demanded_though_the_record_lacks_it(plan: str | None, demanded: set[str]):
    pack = packs()["us_health_denial"]
    record: dict[str, object] = {"subject.plan_type": plan, "outcome.action": "denied", "outcome.denial_code": "X1"}
    applied = {one.id for one in pack.elements if one.applies_to(record.get)}
    shared = {
        "determination",
        "specific_reasons",
        "how_to_request_inputs",
        "appeal",
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
def test_a_fast_appeal_is_offered_before_the_service_unless_the_record_knows_of_none(
    record: dict[str, object], offered: bool
):
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
def test_what_a_law_asks_about_is_told_where_the_record_answers_it(name: str, decision_id: str, field: str, path: str):
    content = drafted(sample(decision_id), name, packs()[name].languages[0])
    assert path in [item["source"] for item in content[field]]


@pytest.mark.parametrize("name", EVERY)
def test_every_source_is_one_that_something_rests_on(name: str):
    pack = packs()[name]
    used = {part.source for part in (*pack.elements, *pack.clocks)} | {pack.retention_source}
    assert {source.id for source in pack.sources} == used - {None}


def test_dates_and_money_are_written_as_in_the_country_of_the_law():
    assert {name: packs()[name].locales for name in EVERY} == {
        "ca_qc_12_1": {"fr": "fr_CA", "en": "en_CA"},
        "eu_ai_act_86": {"en": "en_IE"},
        "gdpr_22": {"en": "en_IE"},
        "general": {},
        "uk_gdpr_22c": {"en": "en_GB"},
        "us_ca_admt": {"en": "en_US"},
        "us_co_admt": {"en": "en_US"},
        "us_ecoa_fcra": {"en": "en_US"},
        "us_health_denial": {"en": "en_US"},
    }


def test_a_wish_for_a_regional_language_gets_the_language():
    pack = packs()["gdpr_22"]
    assert {pack.language_for(wish) for wish in ("de-AT", "de_AT", " DE")} == {"de"}
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
