# ruff: noqa: RUF001 - real dashes and apostrophes, and scripts of either direction
"""Contents of a draft: what the profile of the record says, each in one sentence about one field, and nothing else."""

from notices.packs import packs
from tests.cases import each_case
from tests.notices.drafts import LANGUAGES, drafted, factors, statement_texts


def test_an_unknown_action_is_printed_unchanged():
    content = drafted({"outcome": {"action": "held_over"}})
    assert statement_texts(content) == ["The decision: held over."]


def test_a_record_without_human_involvement_says_that_no_person_took_part():
    content = drafted({"approval": {"human_involvement": "none", "authority": "rule 1.3"}})
    assert statement_texts(content, "role_of_automated_system") == [
        "No person took part in the decision.",
        "The person who decided had this authority: rule 1.3.",
    ]


def test_a_system_took_part_only_where_a_flag_says_so():
    alone = {"system": {"name": "X"}, "outcome": {"solely_automated": True}}
    assert statement_texts(drafted(alone)) == [
        "We used the automated system X.",
        "The decision was made by the automated system alone.",
    ]
    assert statement_texts(drafted(alone, "general", "de"))[0] == "Wir haben das automatische System X verwendet."
    assert statement_texts(drafted(alone, "general", "fr"))[0] == "Nous avons utilisé le système automatisé X."
    influenced = drafted({"system": {"name": "X"}, "outcome": {"materially_influenced_by_system": True}})
    assert statement_texts(influenced)[0] == "An automated system named X took part in the decision."
    silent = drafted({"system": {"name": "X"}})
    assert statement_texts(silent) == ["We used the system X for the decision."]


def test_a_material_influence_of_the_system_is_printed():
    record = {"outcome": {"materially_influenced_by_system": True}}
    assert [statement_texts(drafted(record, "general", language)) for language in LANGUAGES] == [
        ["The system’s result weighed materially in the decision."],
        ["Das Ergebnis des Systems hatte bei der Entscheidung erhebliches Gewicht."],
        ["Le résultat du système a eu un poids important dans la décision."],
    ]
    assert statement_texts(drafted({"outcome": {"materially_influenced_by_system": False}})) == []


@each_case(
    ("events", "action"),
    [
        ({"claim": {"a": 1}, "scoring": {}}, "Your claim was denied."),
        ([{"name": "application"}], "Your application was denied."),
        ({"scoring": {}}, "Your request was denied."),
    ],
)
def test_what_was_denied_is_what_the_events_call_it(events, action):
    assert statement_texts(drafted({"events": events, "outcome": {"action": "denied"}}), "decision_summary") == [action]


def test_a_summary_says_what_was_asked_for_decided_and_offered():
    events = {"application": {"product": "car loan", "amount_requested_usd": 20000}}
    offer = {"amount_usd": 12500, "rate_percent": 17.99, "term_months": 48, "valid_until": "2026-12-10"}
    outcome = {"action": "counteroffer", "counteroffer": offer, "conditions": ["Proof of income"]}
    record = {"decided_at": "2026-11-20T10:00:00Z", "events": events, "outcome": outcome}
    assert statement_texts(drafted(record), "decision_summary") == [
        "This decision is about: car loan.",
        "This is our decision on your application for $20,000.",
        "We could not approve your application as you asked, but we can make you another offer.",
        "The decision was made on November 20, 2026.",
        "We can offer you $12,500.",
        "The rate of the offer is 17.99%.",
        "The term of the offer is 48 months.",
        "You can accept the offer until December 10, 2026.",
        "A condition: Proof of income.",
    ]


def test_information_is_named_without_its_value_and_by_its_event():
    events = {"application": {"income_eur": 31000, "received_at": "2026-11-01"}, "check": {"result": {"grade": "B"}}}
    assert statement_texts(drafted({"events": events}), "inputs_used") == [
        "Income (application).",
        "Result grade (check).",
    ]


@each_case("field", ["model_version", "amount", "risk", "shap_values", "internal_note"])
def test_a_field_of_the_outcome_without_a_published_name_is_not_printed(field):
    assert "canary" not in str(drafted({"outcome": {"action": "denied", field: ["canary"]}}))


@each_case(
    ("reasons", "expected"),
    [
        (["The income is too low. Two payments are late."], ["The income is too low.", "Two payments are late."]),
        (["late_payments"], ["Late payments."]),
        ([{"code": "R03", "text": "Three accounts\nwere past due"}], ["Three accounts were past due."]),
        ("The income is too low", ["The income is too low."]),
        (["Late payments.", "late payments"], ["Late payments."]),
        ([None, {}, "", {"text": " "}, []], []),
    ],
)
def test_reasons_are_printed_a_sentence_each_and_once(reasons, expected):
    assert factors({"reasons": reasons}) == expected


@each_case(
    ("factor", "expected", "source"),
    [
        ({"factor": "savings_gbp", "value": 7420, "direction": "adverse"},
         "Savings: £7,420 – this counted against you.", "outcome.principal_factors.0.value"),
        ({"factor": "licensed", "path": "events.check.licensed", "value": True, "direction": "favourable"},
         "Licensed: yes – this counted for you.", "outcome.principal_factors.0.value"),
        ({"factor": "grade", "value": "D"}, "Grade: D.", "outcome.principal_factors.0.value"),
        ({"factor": "late_payments", "direction": "adverse"},
         "Late payments – this counted against you.", "outcome.principal_factors.0.factor"),
        ("too little time", "Too little time.", "outcome.principal_factors.0"),
    ],
)  # fmt: skip
def test_a_factor_has_its_value_and_its_direction_and_cites_the_value(factor, expected, source):
    content = drafted({"outcome": {"principal_factors": [factor]}})
    assert content["main_factors"] == [{"statement": expected, "source": source}]


def test_a_factor_that_only_repeats_a_reason_is_not_printed_again():
    assert factors({"reasons": ["Too little time."], "principal_factors": ["too little time"]}) == ["Too little time."]


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


@each_case(
    ("language", "locale", "expected"),
    [
        ("en", "", ["CA$465,000.", "Valid until November 30, 2026."]),
        ("en", "en_GB", ["CA$465,000.", "Valid until 30 November 2026."]),
        ("fr", "fr_CA", ["465\u00a0000\u00a0$.", "Valable jusqu’au 30 novembre 2026."]),
    ],
)
def test_dates_and_money_are_written_as_in_the_region_of_the_pack(language, locale, expected):
    pack = packs()["general"].model_copy(update={"locales": {language: locale} if locale else {}})
    record = {"outcome": {"valid_until": "2026-11-30", "amount_paid_cad": 465000}}
    paid, valid = statement_texts(drafted(record, pack, language))
    assert [paid.rpartition(": ")[2], valid] == expected


@each_case(
    ("value", "expected"),
    [
        ("Two\nlines\tand\x07a bell", "Two lines and a bell."),
        ("<b>Bold</b> {value}", "<b>Bold</b> {value}."),
        ("שלום", "\u2068שלום.\u2069"),
        ("evil\u202etxt", "\u2068evil\u202etxt\u2069."),
        ("Out\u2069\u2069side\u200f", "\u2068Outside\u200f\u2069."),
        ("Really?", "Really?"),
    ],
)
def test_a_text_stays_on_its_line_and_in_its_place(value, expected):
    [statement] = factors({"reasons": [value]})
    assert statement.replace(".\u2069", "\u2069.") == expected.replace(".\u2069", "\u2069.")


@each_case(
    ("spelled", "expected"),
    [("0.920", "0,92"), ("-0.5", "-0,5"), ("12345.5", "12.345,5"), ("0.33333333", "0,333")],
)
def test_numbers_are_written_as_in_the_language(spelled, expected):
    raw = f'{{"outcome": {{"principal_factors": [{{"factor": "balance", "value": {spelled}}}]}}}}'.encode()
    assert statement_texts(drafted(raw, "general", "de"), "main_factors") == [f"Balance: {expected}."]


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


def test_where_the_law_wants_few_reasons_factors_are_among_the_information():
    factor = {"factor": "late payments", "value": 2, "direction": "adverse"}
    outcome = {"action": "denied", "reasons": ["Two payments were late."], "principal_factors": [factor]}
    printed = "Late payments: 2 – this counted against you."
    brief, full = drafted({"outcome": outcome}, "us_ecoa_fcra"), drafted({"outcome": outcome}, "gdpr_22")
    assert statement_texts(brief, "main_factors") == ["Two payments were late."]
    assert statement_texts(brief, "inputs_used") == [printed]
    assert statement_texts(full, "main_factors") == ["Two payments were late.", printed]
    outcome["reasons"] = []
    assert statement_texts(drafted({"outcome": outcome}, "us_ecoa_fcra"), "main_factors") == [printed]


@each_case("moment", ["yesterday", "20/11/2026 14:05", "2026-13-45T00:00:00Z", 1790000000000, "0000-00-00"])
def test_an_invalid_day_is_no_day_of_decision(moment):
    record = {"decided_at": moment, "outcome": {"action": "denied"}}
    assert statement_texts(drafted(record), "decision_summary") == ["Your request was denied."]


@each_case(
    ("version", "is_printed"),
    [("sha256:1f3c", False), ("main@0000000", False), ("9fceb02d0ae598e9", False), ("8.2", True), ("2026-11", True),
     ("20261101", True), ("v3-beta", True), (7, True)],
)  # fmt: skip
def test_a_version_is_printed_where_people_can_read_it(version, is_printed):
    content = drafted({"system": {"name": "Engine", "version": version}})
    assert any(item["source"] == "system.version" for item in content["role_of_automated_system"]) is is_printed
