# ruff: noqa: RUF001 - real dashes and apostrophes, and scripts of either direction
"""Contents of a draft: the record's facts, each in a sentence its reader understands, and nothing else."""

import pytest

from notices.packs import packs
from notices.phrasebook import Phrase
from tests.cases import each_case
from tests.notices.drafts import LANGUAGES, drafted, factors, inputs, statement_texts

# ── labels ──


@each_case(
    ("fields", "expected"),
    [
        ({"loan_to_value": 0.92}, "Loan to value: 0.92."),
        ({"savings_gbp": 7420}, "Savings: £7,420."),
        ({"savings_gbp": 4380.5}, "Savings: £4,380.50."),
        ({"roof_age_years": 1}, "Roof age: 1 year."),
        ({"age_in_years": 30}, "Age: 30 years."),
        ({"tax_years": 2024}, "Tax years: 2024."),
        ({"number_of_days": 3}, "Number of days: 3."),
        ({"inquiries_6_months": 7}, "Inquiries 6 months: 7."),
        ({"max_dive_depth_m": 45}, "Max dive depth (m): 45."),
        ({"completed_percent": 92.5}, "Completed: 92.5%."),
        ({"approval_rate": 0.92}, "Approval rate: 0.92."),
        ({"pain_all": 3}, "Pain all: 3."),
        ({"licensed": False}, "Licensed: no."),
        ({"term_years": "until retirement"}, "Term years: until retirement."),
        ({"documents": ["lease"]}, "Documents: lease."),
        ({"agency": {"name": "Example Scoring Inc."}}, "Agency name: Example Scoring Inc."),
        ({"agency": {"agency_address": "1 Street"}}, "Agency address: 1 Street."),
        ({"claims": [{"date": "2026-11-05"}]}, "Date (claims no. 1): November 5, 2026."),
        ({"languages": [{"name": "English"}]}, "Languages no. 1: English."),
        ({"fleet": {"members": [{"name": "A"}]}}, "Members no. 1 (fleet): A."),
        ({"received_at": "2026-11-06T08:15:00Z"}, "Application received on November 6, 2026."),
        ({"licence_issued_on": "2026-11-06"}, "Licence issued: November 6, 2026."),
        ({"FICO_score": 700}, "FICO score: 700."),
        ({"annualIncomeEUR": 5}, "Annual income: €5."),
        ({"Größe des Hauses": 5}, "Größe des Hauses: 5."),
        ({"a.b": "x"}, "A b: x."),
        ({"": "x"}, "Detail: x."),
        ({"result": "sent_to_clinician"}, "Result: sent to clinician."),
        ({"file": "scan_0103.pdf"}, "File: scan_0103.pdf."),
    ],
)  # fmt: skip
def test_a_field_s_name_becomes_a_label_and_says_what_the_value_is(fields: dict, expected: str):
    assert inputs(fields) == [expected]


def test_fields_of_one_name_are_distinguished_by_their_events():
    events = {
        "valuation": {"source": "A", "requested_at": "2026-11-05", "inputs": {"source": "B"}},
        "document_check": {"source": "C", "requested_at": "2026-11-06", "pages_read": 8},
    }
    assert statement_texts(drafted({"events": events}), "inputs_used") == [
        "Source (valuation): A.",
        "Valuation requested on November 5, 2026.",
        "Inputs source: B.",
        "Source (document check): C.",
        "Document check requested on November 6, 2026.",
        "Pages read: 8.",
    ]


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ({"data_collection": {"types": ["lease"]}}, "Types (data collection): lease."),
        ({"data_collection": {"data_types": ["lease"]}}, "Data types: lease."),
        ({"application": {"types": ["lease"]}}, "Types: lease."),
        ([{"name": "claim", "types": ["lease"]}], "Types: lease."),
    ],
)
def test_a_label_of_one_word_names_its_event_but_for_what_came_from_the_person(events, expected: str):
    assert statement_texts(drafted({"events": events}), "inputs_used") == [expected]


def test_the_times_of_steps_are_printed_only_where_there_is_nothing_else_to_tell():
    step = {"started_at": "2026-11-05T10:00:00Z", "completed_at": "2026-11-06T10:00:00Z"}
    assert statement_texts(drafted({"events": {"scoring": step}})) == [
        "Scoring started on November 5, 2026.",
        "Scoring completed on November 6, 2026.",
    ]
    events = {"application": {"completed_at": "2026-11-04"}, "scoring": {**step, "completed_on": "in part"}}
    assert statement_texts(drafted({"events": events})) == [
        "Application completed on November 4, 2026.",
        "Completed on: in part.",
    ]
    phrase = Phrase(key="completed_at", sentence="We were done on {value}.")
    assert "We were done on November 6, 2026." in statement_texts(
        drafted({"events": {"scoring": step}}, "general", "en", phrase)
    )


def test_events_in_a_list_go_by_their_names_and_without_names_by_their_numbers():
    events = [
        {"name": "claims_check", "source": "A"},
        {"source": "B", "received_at": "2026-11-06"},
        {"name": 5},
        "note",
    ]
    assert statement_texts(drafted({"events": events}), "inputs_used") == [
        "Source (claims check): A.",
        "Source (step 2): B.",
        "Step 2 received on November 6, 2026.",
        "Name (step 3): 5.",
        "Events: note.",
    ]


def test_events_of_one_name_are_numbered():
    events = [{"name": "check", "score": 1}, {"name": "call", "score": 2}, {"name": "check", "score": 3}]
    assert statement_texts(drafted({"events": events}), "inputs_used") == [
        "Score (check no. 1): 1.",
        "Score (call): 2.",
        "Score (check no. 2): 3.",
    ]


@pytest.mark.parametrize(
    ("events", "action"),
    [
        ({"claim": {}, "scoring": {}}, "Your claim was denied."),
        ([{"name": "application"}], "Your application was denied."),
        ({"scoring": {}}, "Your request was denied."),
    ],
)
def test_what_was_denied_is_what_the_record_s_events_call_it(events, action):
    assert statement_texts(drafted({"events": events, "outcome": {"action": "denied"}}), "decision_summary") == [action]


def test_an_unknown_action_is_printed_unchanged():
    content = drafted({"outcome": {"action": "held_over"}})
    assert statement_texts(content) == ["The decision: held over."]


def test_a_record_without_human_involvement_says_that_no_person_took_part():
    content = drafted({"approval": {"human_involvement": "none", "authority": "rule 1.3"}})
    assert statement_texts(content, "role_of_automated_system") == [
        "No person took part in the decision.",
        "The person who decided had this authority: rule 1.3.",
    ]


def test_a_system_that_decided_alone_was_used_and_one_that_did_not_took_part():
    alone = {"system": {"name": "X"}, "outcome": {"solely_automated": True}}
    assert statement_texts(drafted(alone)) == [
        "We used the automated system X.",
        "The decision was made by the automated system alone.",
    ]
    assert statement_texts(drafted(alone, "general", "de"))[0] == "Wir haben das automatische System X verwendet."
    assert statement_texts(drafted(alone, "general", "fr"))[0] == "Nous avons utilisé le système automatisé X."
    silent = drafted({"system": {"name": "X"}})
    assert statement_texts(silent) == ["An automated system named X took part in the decision."]


def test_a_material_influence_of_the_system_is_printed():
    record = {"outcome": {"materially_influenced_by_system": True}}
    assert [statement_texts(drafted(record, "general", language)) for language in LANGUAGES] == [
        ["The system’s result weighed materially in the decision."],
        ["Das Ergebnis des Systems hatte bei der Entscheidung erhebliches Gewicht."],
        ["Le résultat du système a eu un poids important dans la décision."],
    ]
    assert statement_texts(drafted({"outcome": {"materially_influenced_by_system": False}})) == []


# ── reasons and factors ──


@each_case(
    ("reasons", "expected"),
    [
        (["The income is too low. Two payments are late."], ["The income is too low.", "Two payments are late."]),
        (["Dr. Smith of Example Inc. saw it on 3. November."], ["Dr. Smith of Example Inc. saw it on 3. November."]),
        (["late_payments"], ["Late payments."]),
        ([{"code": "R03", "text": "Three accounts\nwere past due"}], ["Three accounts were past due."]),
        ([{"code": "R03"}], ["Reason code: R03."]),
        (["R03"], ["Reason code: R03."]),
        ("The income is too low", ["The income is too low."]),
        (["Late payments.", "late payments"], ["Late payments."]),
        ([None, {}, "", {"text": " "}, []], []),
    ],
)
def test_reasons_are_printed_a_sentence_each_and_once(reasons, expected):
    assert factors({"reasons": reasons}) == expected


EVENTS = {"check": {"savings_gbp": 7420, "licensed": True}}


@each_case(
    ("factor", "expected", "source"),
    [
        ({"factor": "savings_gbp", "path": "events.check.savings_gbp", "value": 7420, "direction": "adverse"},
         "Savings: £7,420 – this counted against you.", "events.check.savings_gbp"),
        ({"factor": "money_saved", "path": "events.check.savings_gbp", "direction": "favourable"},
         "Money saved: £7,420 – this counted for you.", "events.check.savings_gbp"),
        ({"factor": "money_saved", "path": "events.check.savings_gbp", "value": 1},
         "Money saved: 1.", "outcome.principal_factors.0.value"),
        ({"factor": "licensed", "path": "events.check.licensed", "value": 1},
         "Licensed: 1.", "outcome.principal_factors.0.value"),
        ({"factor": "late_payments", "direction": "adverse"},
         "Late payments – this counted against you.", "outcome.principal_factors.0.factor"),
        ({"factor": "late_payments", "path": "events.nowhere", "direction": "adverse"},
         "Late payments – this counted against you.", "outcome.principal_factors.0.factor"),
        ({"factor": "documents_missing", "value": ["lease"]},
         "Documents missing: lease.", "outcome.principal_factors.0.value.0"),
        ({"feature": "age"}, "Age.", "outcome.principal_factors.0.feature"),
        ("too little time", "Too little time.", "outcome.principal_factors.0"),
    ],
)  # fmt: skip
def test_a_factor_cites_the_field_it_is_about_or_itself(factor, expected, source):
    content = drafted({"events": EVENTS, "outcome": {"principal_factors": [factor]}})
    assert content["main_factors"] == [{"statement": expected, "source": source}]


def test_an_input_printed_before_is_repeated_only_if_it_is_the_only_one():
    factor = {"factor": "savings", "path": "events.check.savings_gbp", "direction": "adverse"}
    outcome = {"principal_factors": [factor], "weeks_paid": 5}
    events = {"check": {**EVENTS["check"], "weeks_paid": 5}}
    assert statement_texts(drafted({"events": events, "outcome": outcome}), "inputs_used") == ["Licensed (check): yes."]
    again = drafted({"events": {"check": {"savings_gbp": 7420, "weeks_paid": 5}}, "outcome": outcome})
    assert statement_texts(again, "inputs_used") == ["Savings (check): £7,420.", "Weeks paid: 5."]
    assert statement_texts(again, "decision_summary", "main_factors") == [
        "Weeks paid: 5.",
        "Savings: £7,420 – this counted against you.",
    ]


def test_a_factor_that_only_repeats_a_reason_is_not_printed_again():
    assert factors({"reasons": ["Too little time."], "principal_factors": ["too little time"]}) == ["Too little time."]


# ── offers of the law and of the record ──

OFFER, NONE, SILENCE = "how_to_request_review", "no_review", ""


@each_case(
    ("pack", "outcome", "passage"),
    [
        ("general", {}, SILENCE),
        ("general", {"review": {"available": True}}, OFFER),
        ("general", {"review": {"available": False}}, NONE),
        ("general", {"review": {"available": "perhaps"}}, SILENCE),
        ("uk_gdpr_22c", {}, OFFER),
        ("uk_gdpr_22c", {"solely_automated": False}, SILENCE),
        ("uk_gdpr_22c", {"solely_automated": False, "review": {"available": True}}, OFFER),
        ("us_co_admt", {"review": {"available": True, "not_commercially_reasonable": "a fixed quota"}}, NONE),
    ],
)
def test_a_review_is_offered_or_denied_only_where_the_law_or_the_record_says_so(pack: str, outcome: dict, passage: str):
    content = drafted({"outcome": outcome}, pack)
    assert content["human_review_available"] is (passage == OFFER)
    assert content["how_to_request_review"] == (getattr(packs()[pack].text("en"), passage) if passage else "")


def test_what_the_record_says_fills_a_text_before_the_settings_do():
    pack = packs()["general"].model_copy(update={"from_record": {"contact": ("outcome.review.contact",)}})
    record = {"outcome": {"review": {"contact": "reviews@bank.example"}}}
    ask = drafted(record, pack, placeholders={"contact": "the settings"})["how_to_request_inputs"]
    assert "reviews@bank.example" in ask
    assert "the settings" in drafted({}, pack, placeholders={"contact": "the settings"})["how_to_request_inputs"]


@pytest.mark.parametrize(
    ("language", "locale", "expected"),
    [
        ("en", "", ["CA$465,000.", "Valid until November 30, 2026."]),
        ("en", "en_GB", ["CA$465,000.", "Valid until 30 November 2026."]),
        ("fr", "fr_CA", ["465\u00a0000\u00a0$.", "Valable jusqu’au 30 novembre 2026."]),
    ],
)
def test_dates_and_money_are_written_as_in_the_pack_s_region(language: str, locale: str, expected: list[str]):
    pack = packs()["general"].model_copy(update={"locales": {language: locale} if locale else {}})
    record = {"outcome": {"valid_until": "2026-11-30", "paid_cad": 465000}}
    paid, valid = statement_texts(drafted(record, pack, language))
    assert [paid.rpartition(": ")[2], valid] == expected


def test_a_path_of_a_pack_resolves_to_a_text_or_a_list():
    element = (
        packs()["general"]
        .elements[0]
        .model_copy(update={"where": "inputs_used", "check": "cited", "paths": ("outcome.personal_information_used",)})
    )
    pack = packs()["general"].model_copy(update={"elements": (element,)})
    used = [
        statement_texts(drafted({"outcome": {"personal_information_used": value}}, pack)) for value in (["a", "b"], "a")
    ]
    assert used == [
        ["Personal information used: a.", "Personal information used: b."],
        ["Personal information used: a."],
    ]


# ── values that are hard to print ──


@each_case(
    ("value", "expected"),
    [
        ("two\nlines\tand\x07a bell", "Note: two lines and a bell."),
        ("<b>bold</b> {value}", "Note: <b>bold</b> {value}."),
        ("שלום", "Note: \u2068שלום\u2069."),
        ("مرحبا.", "Note: \u2068مرحبا\u2069."),
        ("evil\u202etxt", "Note: \u2068evil\u202etxt\u2069."),
        ("out\u2069\u2069side\u200f", "Note: \u2068outside\u200f\u2069."),
        ("x" * 3000, f"Note: {'x' * 2000}…"),
        ("Really?", "Note: Really?"),
        ("2026-13-45", "Note: 2026-13-45."),
    ],
)  # fmt: skip
def test_a_text_stays_on_its_line_and_in_its_place(value: str, expected: str):
    assert inputs({"note": value}) == [expected]


@each_case(
    ("spelled", "expected"),
    [
        ("9007199254740993", "Quote number: 9007199254740993."),
        ("0.920", "Quote number: 0,92."),
        ("0.1234567890123456789012345678901", "Quote number: 0,1234567890123456789012345678901."),
        ("1" * 4300, f"Quote number: {'1' * 4300}."),
        ("1e-999999999", "Quote number: 1E-999999999."),
        ("-0.5", "Quote number: -0,5."),
    ],
)
def test_numbers_are_exact(spelled: str, expected: str):
    raw = f'{{"events": {{"check": {{"quote_number": {spelled}}}}}}}'.encode()
    assert statement_texts(drafted(raw, "general", "de"), "inputs_used") == [expected]


@each_case(
    ("fields", "expected"),
    [
        ({"annual_mileage": 14000}, "Annual mileage: 14,000."),
        ({"town_population": 1250000}, "Town population: 1,250,000."),
        ({"average_balance": -12345.5}, "Average balance: -12,345.5."),
        ({"meters_driven": 9999}, "Meters driven: 9999."),
        ({"meters_driven": 1234567890}, "Meters driven: 1234567890."),
        ({"claim_number": 12345}, "Claim number: 12345."),
        ({"postal_code_2": 10115}, "Postal code 2: 10115."),
        ({"customerID": 20231}, "Customer ID: 20231."),
        ({"tax_year": 12026}, "Tax year: 12026."),
    ],
)
def test_counts_have_their_digits_grouped_and_what_may_be_a_name_has_not(fields: dict, expected: str):
    assert inputs(fields) == [expected]


def test_thousands_of_fields_and_as_many_factors_are_all_told():
    events = [{"name": f"step_{n}", "score": n} for n in range(1_000)]
    cited = [{"factor": f"factor {n}", "path": f"events.step_{n}.score"} for n in range(1_000)]
    content = drafted({"events": events, "outcome": {"principal_factors": cited}})
    assert len(content["inputs_used"]) == len(content["main_factors"]) == 1_000
    assert content["main_factors"][-1] == {"statement": "Factor 999: 999.", "source": "events.999.score"}


# ── reconsiderations ──


def test_the_notice_about_a_review_begins_with_what_came_out_of_it_and_names_no_system():
    record = {
        "decided_at": "2026-11-20T10:00:00Z",
        "reconsiders": {"decision_id": "loan-1"},
        "outcome": {"result": "overturned", "action": "approved"},
        "approval": {"approver": "A. Reviewer", "authority": "credit officer"},
    }
    content = drafted(record)
    assert statement_texts(content, "decision_summary") == [
        "A person looked at our earlier decision again.",
        "The earlier decision was changed.",
        "Your original request was approved.",
        "The decision was made on November 20, 2026.",
        "The person who decided had this authority: credit officer.",
    ]
    assert statement_texts(content, "role_of_automated_system") == []


# ── few reasons ──


def test_where_the_law_wants_few_reasons_what_they_rest_on_is_among_the_information():
    factor = {"factor": "late payments", "path": "events.check.late_payments", "direction": "adverse"}
    outcome = {"action": "denied", "reasons": ["Two payments were late."], "principal_factors": [factor]}
    record = {"events": {"check": {"late_payments": 2}}, "outcome": outcome}
    brief, full = drafted(record, "us_ecoa_fcra"), drafted(record, "gdpr_22")
    assert statement_texts(brief, "main_factors") == ["Two payments were late."]
    assert statement_texts(brief, "inputs_used") == ["Late payments: 2 – this counted against you."]
    assert statement_texts(full, "main_factors") == [
        "Two payments were late.",
        "Late payments: 2 – this counted against you.",
    ]
    outcome["reasons"] = []
    assert statement_texts(drafted(record, "us_ecoa_fcra"), "main_factors") == [
        "Late payments: 2 – this counted against you."
    ]


@each_case("language", LANGUAGES)
@each_case("moment", ["yesterday", "20/11/2026 14:05", "2026-13-45T00:00:00Z", 1790000000000, "0000-00-00"])
def test_an_invalid_day_is_no_day_of_decision(moment, language):
    record = {"decided_at": moment, "outcome": {"action": "denied", "effective_date": "next month"}}
    first, *others = statement_texts(drafted(record, "general", language), "decision_summary")
    label = {"en": "Effective date", "de": "Gültig ab", "fr": "Prise d’effet\u00a0"}[language]
    assert others == [f"{label}: next month."]
    assert str(moment) not in first


@pytest.mark.parametrize("value", ["0000-00-00", "9999-12-31", "9999-12-31T23:59:59Z", "31.12.9999"])
def test_a_day_that_only_fills_its_field_is_not_printed(value):
    assert inputs({"expires_at": value, "born": "1990-01-02"}) == ["Born: January 2, 1990."]


def test_one_statement_under_two_names_is_printed_once():
    assert inputs({"receivedAt": "2026-11-01T00:00:00Z", "received_at": "2026-11-01T00:00:00Z"}) == [
        "Application received on November 1, 2026."
    ]


@each_case(
    ("version", "is_told"),
    [("sha256:1f3c", False), ("main@0000000", False), ("9fceb02d0ae598e9", False), ("8.2", True), ("2026-11", True),
     ("20261101", True), ("v3-beta", True), (7, True)],
)  # fmt: skip
def test_a_version_is_printed_where_people_can_read_it(version, is_told):
    content = drafted({"system": {"name": "Engine", "version": version}})
    assert any(item["source"] == "system.version" for item in content["role_of_automated_system"]) is is_told


def test_the_numbers_of_an_embedding_are_no_information_to_read():
    assert inputs({"text_embedding": [0.0132, -0.9921], "marks": [3, 4]}) == ["Marks: 3.", "Marks: 4."]
