# ruff: noqa: RUF001 - real dashes and apostrophes, and scripts of either direction
"""What a draft says: the record's facts, each in a sentence that its reader understands, and nothing else."""

import csv
import json
import re
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decisions import samples
from notices.drafting import draft
from notices.facts import Facts, NoSuchField
from notices.management.commands.import_phrasebook import COLUMNS
from notices.models import Phrase
from notices.packs import packs
from notices.phrasebook import Phrasebook

STATEMENTS = ("decision_summary", "role_of_automated_system", "main_factors", "inputs_used")
EVERY = [(name, language) for name in sorted(packs()) for language in packs()[name].languages]
LANGUAGES = ("en", "de", "fr")
END_MARKS = (".", "!", "?", "…")


def drafted(record: dict | bytes, pack: str = "general", language: str = "en", *phrases: Phrase) -> dict:
    raw = record if isinstance(record, bytes) else json.dumps(record).encode()
    return draft(Facts(raw), packs()[pack], language, Phrasebook(phrases), {})


def statements(content: dict) -> list[dict]:
    return [item for name in STATEMENTS for item in content[name]]


def told(content: dict, *fields: str) -> list[str]:
    return [item["statement"] for name in fields or STATEMENTS for item in content[name]]


def inputs(fields: dict, language: str = "en", *phrases: Phrase) -> list[str]:
    return told(drafted({"events": {"check": fields}}, "general", language, *phrases), "inputs_used")


def factors(outcome: dict, events: dict | list | None = None, language: str = "en", *phrases: Phrase) -> list[str]:
    return told(drafted({"events": events or {}, "outcome": outcome}, "general", language, *phrases), "main_factors")


def sample(decision_id: str) -> bytes:
    return next(raw for raw in samples.synthetic_records() if json.loads(raw)["decision_id"] == decision_id)


def sample_phrases(language: str) -> list[Phrase]:
    with open(samples.SAMPLES / "phrasebook.csv", newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["language"] == language]
    return [Phrase(**row | {"withheld": row["withheld"] == "yes"}) for row in rows]


# ── whole letters ──


def test_a_claim_in_english():
    content = drafted(sample("synthetic-insurance-03"), "gdpr_22")
    assert told(content, "decision_summary")[:5] == [
        "Your claim was approved in part.",
        "The decision was made on November 10, 2026.",
        "The decision takes effect on November 10, 2026.",
        "Amount paid: €9,280.",
        "Amount claimed: €11,220.",
    ]
    assert told(content, "role_of_automated_system") == [
        "An automated system named Example Claims Assessor took part in the decision.",
        "The system’s version was 3.8.0.",
        "The system was provided by Example Claims Technology DAC.",
        "The purpose of the system: choosing between repair and settlement at market value for motor damage claims.",
        "The decision was made by the automated system alone.",
        "The legal basis of the decision is a contract.",
    ]
    assert told(content, "main_factors")[2:5] == [
        "Repair cost to value: 0.92 – this counted against you.",
        "Vehicle age: 6 years – this counted against you.",
        "Child seat: €180 – this counted for you.",
    ]
    assert told(content, "inputs_used") == [
        "Claim received on November 6, 2026.",
        "Claim number: CL-2026-0003.",
        "Incident date: November 5, 2026.",
        "Items claimed: vehicle repair.",
        "Items claimed: child seat.",
        "Child seat: €180.",
        "Policy excess: €300.",
        "Document check completed on November 7, 2026.",
        "Photos: 8.",
        "Repair estimate: €11,040.",
        "Estimate source: Example Repair Network.",
        "Valuation completed on November 10, 2026.",
        "Market value: €12,000.",
        "Salvage value: €2,600.",
        "Source: Example Vehicle Values.",
        "Inputs vehicle age: 6 years.",
        "Inputs vehicle odometer: 98,400 km.",
        "Scoring completed on November 10, 2026.",
        "Repair cost to value: 0.92.",
        "Policy limit: 0.7.",
    ]


def test_an_application_in_german_in_the_sample_phrasebook_s_words():
    content = drafted(sample("synthetic-insurance-01"), "gdpr_22", "de", *sample_phrases("de"))
    assert told(content, "decision_summary")[:3] == [
        "Ihr Antrag wurde abgelehnt.",
        "Die Entscheidung wurde am 21. Oktober 2026 getroffen.",
        "Die Entscheidung gilt ab dem 21. Oktober 2026.",
    ]
    assert "Die Entscheidung hat ein Mensch getroffen." in told(content, "role_of_automated_system")
    assert "Größte Tauchtiefe in Metern: 45 – das sprach gegen Sie." in told(content, "main_factors")
    assert told(content, "inputs_used")[:6] == [
        "Antrag eingegangen am 5. Oktober 2026.",
        "Produkt: Risikolebensversicherung.",
        "Versicherungssumme: 400.000\u00a0€.",
        "Laufzeit: 20 Jahre.",
        "Weg des Antrags: Maklerportal.",
        "Anschrift: Beispielstraße 3.",
    ]


def test_a_reduced_benefit_in_french():
    content = drafted(sample("synthetic-benefits-01"), "gdpr_22", "fr")
    assert told(content, "decision_summary")[:5] == [
        "Ce que vous recevez a été réduit.",
        "La décision a été prise le 4 novembre 2026.",
        "La décision prend effet le 1er décembre 2026.",
        "Monthly amount\u00a0: 142,50\u00a0€.",
        "Previous monthly amount\u00a0: 236\u00a0€.",
    ]
    assert "Une personne a examiné le dossier avant la décision." in told(content, "role_of_automated_system")
    assert "Monthly rent\u00a0: 690\u00a0€ – cela a joué en votre faveur." in told(content, "main_factors")
    assert told(content, "inputs_used")[:4] == [
        "Date de réception (declaration)\u00a0: 26 octobre 2026.",
        "Household size\u00a0: 3.",
        "Monthly rent\u00a0: 690\u00a0€.",
        "Address unchanged\u00a0: oui.",
    ]
    assert "Salary net annual (household, members n°\u00a02, income)\u00a0: 9\u202f480\u00a0€." in told(content)


def test_a_real_denial_in_the_sample_phrasebook_s_words():
    raw = next(raw for raw in samples.mortgage_records() if b'"boston-hmda-1990-9"' in raw)
    assert told(drafted(raw, "us_ecoa_fcra", "en", *sample_phrases("en"))) == [
        "Your application was denied.",
        "For each $1 of income, $0.31 went to monthly debt payments.",
        "For each $1 of income, $0.24 went to housing.",
        "For each $1 of the home’s assessed value, you asked for a loan of $0.89726.",
        "Your history of paying consumer credit was rated 2, on a scale from 1 (no slow payments) to 6 "
        "(serious delinquencies).",
        "Your history of paying mortgages was rated 2, on a scale from 1 (no late payments) to 4 "
        "(more than two late payments).",
        "Bankruptcy, charge-off or collection on record: no.",
        "Unemployment in your industry was 3.1 percent in Massachusetts in 1989.",
        "Self-employed: no.",
        "Mortgage insurance applied for and denied: yes.",
        "Condominium: no.",
        "High school diploma: yes.",
    ]


DENIALS = [raw for raw in samples.mortgage_records() if b'"denied"' in raw]
ROUGH = re.compile(r"\b\d+ used\b|(?<!\.)\.\.(?!\.)|[a-z]_[a-z]|[{}\n]| {2}|: \.|: *$")


@pytest.mark.parametrize(("pack", "language"), EVERY)
@pytest.mark.parametrize("with_phrasebook", [True, False])
def test_no_letter_about_the_sample_data_reads_like_a_record(pack: str, language: str, with_phrasebook: bool):
    phrases = sample_phrases(language) if with_phrasebook else []
    content = [drafted(raw, pack, language, *phrases) for raw in [*samples.synthetic_records(), *DENIALS]]
    lines = {line for each in content for line in told(each)}
    assert len(DENIALS) == 285
    assert len(lines) > 500
    assert [line for line in lines if ROUGH.search(line) or not line.endswith(END_MARKS) or line[0].islower()] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_phrase_of_the_sample_phrasebook_says_something_about_the_sample_data(language: str):
    records, phrases = [*samples.synthetic_records(), DENIALS[0]], sample_phrases(language)
    with_phrases = [told(drafted(raw, "general", language, *phrases)) for raw in records]
    for left_out in phrases:
        others = [phrase for phrase in phrases if phrase is not left_out]
        assert [told(drafted(raw, "general", language, *others)) for raw in records] != with_phrases, left_out.key


def test_the_sample_phrasebook_has_the_columns_that_are_imported():
    with open(samples.SAMPLES / "phrasebook.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert set(rows[0]) == set(COLUMNS)
    keys = [(row["language"], row["key"]) for row in rows]
    assert len(keys) == len(set(keys))


# ── labels ──


@pytest.mark.parametrize(
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
        ({"savings_gbp": None}, "Savings: no information."),
        ({"term_years": "until retirement"}, "Term years: until retirement."),
        ({"documents": ["lease"]}, "Documents: lease."),
        ({"agency": {"name": "Example Scoring Inc."}}, "Agency name: Example Scoring Inc."),
        ({"agency": {"agency_address": "1 Street"}}, "Agency address: 1 Street."),
        ({"claims": [{"date": "2026-11-05"}]}, "Date (claims no. 1): November 5, 2026."),
        ({"received_at": "2026-11-06T08:15:00Z"}, "Check received on November 6, 2026."),
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


def test_fields_of_one_name_are_told_apart_by_their_events():
    events = {
        "valuation": {"source": "A", "completed_at": "2026-11-05", "inputs": {"source": "B"}},
        "document_check": {"source": "C", "completed_at": "2026-11-06", "photos": 8},
    }
    assert told(drafted({"events": events}), "inputs_used") == [
        "Source (valuation): A.",
        "Valuation completed on November 5, 2026.",
        "Inputs source: B.",
        "Source (document check): C.",
        "Document check completed on November 6, 2026.",
        "Photos: 8.",
    ]


def test_events_in_a_list_go_by_their_names_and_without_names_by_their_numbers():
    events = [
        {"name": "claims_check", "source": "A"},
        {"source": "B", "received_at": "2026-11-06"},
        {"name": 5},
        "note",
    ]
    assert told(drafted({"events": events}), "inputs_used") == [
        "Source (claims check): A.",
        "Source (step 2): B.",
        "Step 2 received on November 6, 2026.",
        "Name: 5.",
        "Events: note.",
    ]


def test_events_of_one_name_are_numbered():
    events = [{"name": "check", "score": 1}, {"name": "call", "score": 2}, {"name": "check", "score": 3}]
    assert told(drafted({"events": events}), "inputs_used") == [
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
    assert told(drafted({"events": events, "outcome": {"action": "denied"}}), "decision_summary") == [action]


def test_an_unknown_action_is_told_as_it_is():
    content = drafted({"outcome": {"action": "counter_offer"}})
    assert told(content) == ["The decision: counter offer."]


def test_nobody_is_said_to_have_taken_part_where_the_record_says_nobody_did():
    content = drafted({"approval": {"human_involvement": "none", "authority": "rule 1.3"}})
    assert told(content, "role_of_automated_system") == [
        "No person took part in the decision.",
        "The decision was made under this authority: rule 1.3.",
    ]


# ── reasons and factors ──


@pytest.mark.parametrize(
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
def test_reasons_are_told_a_sentence_each_and_once(reasons, expected):
    assert factors({"reasons": reasons}) == expected


EVENTS = {"check": {"savings_gbp": 7420, "licensed": True}}


@pytest.mark.parametrize(
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
        ({"feature": "age"}, "Feature: age.", "outcome.principal_factors.0.feature"),
        ("too little time", "Too little time.", "outcome.principal_factors.0"),
    ],
)  # fmt: skip
def test_a_factor_cites_the_field_it_is_about_or_itself(factor, expected, source):
    content = drafted({"events": EVENTS, "outcome": {"principal_factors": [factor]}})
    assert content["main_factors"] == [{"statement": expected, "source": source}]


def test_a_factor_that_only_repeats_a_reason_is_not_told_again():
    assert factors({"reasons": ["Too little time."], "principal_factors": ["too little time"]}) == ["Too little time."]


# ── values that are hard to print ──


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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
    assert told(drafted(raw, "general", "de"), "inputs_used") == [expected]


def test_ten_thousand_fields_and_as_many_factors_are_all_told():
    events = [{"name": f"step_{n}", "score": n} for n in range(10_000)]
    cited = [{"factor": f"factor {n}", "path": f"events.step_{n}.score"} for n in range(10_000)]
    content = drafted({"events": events, "outcome": {"principal_factors": cited}})
    assert len(content["inputs_used"]) == len(content["main_factors"]) == 10_000
    assert content["main_factors"][-1] == {"statement": "Factor 9999: 9999.", "source": "events.9999.score"}


# ── the phrasebook ──


def test_a_phrase_counts_by_path_by_the_event_s_name_or_by_the_field_s():
    record = {"events": [{"name": "check", "score": 5, "limits": [1, 2]}]}
    for key in ("events.0.score", "events.check.score", "score"):
        content = drafted(record, "general", "en", Phrase(key=key, sentence="You had {value} points."))
        assert "You had 5 points." in told(content)
    labelled = drafted(record, "general", "en", Phrase(key="limits", label="Limit"), Phrase(key="check", label="test"))
    assert told(labelled) == ["Score: 5.", "Limit: 1.", "Limit: 2."]


def test_a_phrase_s_sentence_can_be_a_factor():
    phrase = Phrase(key="savings_gbp", sentence="Your savings were {value}.")
    factor = {"factor": "savings", "path": "events.check.savings_gbp", "direction": "adverse"}
    assert factors({"principal_factors": [factor]}, EVENTS, "en", phrase) == [
        "Your savings were £7,420 – this counted against you."
    ]


SECRET = "canary"


@pytest.mark.parametrize(
    ("key", "record"),
    [
        ("note", {"events": {"check": {"note": SECRET}}}),
        ("check", {"events": {"check": {"a": {"b": [SECRET]}}}}),
        ("events.check.a", {"events": [{"name": "check", "a": {"b": [{"c": SECRET}]}}]}),
        ("events.check.notes", {"events": {"check": {"notes": ["x", SECRET]}}}),
        ("events.check.note", {"events": {"check": {"note": SECRET}},
         "outcome": {"principal_factors": [{"factor": "n", "path": "events.check.note"}]}}),
        ("events.check.note", {"events": {"check": {"note": "other"}},
         "outcome": {"principal_factors": [{"factor": "n", "path": "events.check.note", "value": SECRET}]}}),
        ("hidden", {"outcome": {"principal_factors": [{"factor": "hidden", "value": SECRET}]}}),
        ("R1", {"outcome": {"reasons": [{"code": "R1", "text": SECRET}]}}),
        ("outcome.reasons", {"outcome": {"reasons": [SECRET]}}),
        ("text", {"outcome": {"reasons": [{"code": "R1", "text": SECRET}]}}),
        ("outcome", {"outcome": {"action": SECRET, "consequences": SECRET, "amount_paid": SECRET}}),
        ("system.name", {"system": {"name": SECRET}}),
        ("name", {"events": [{"name": SECRET, "completed_at": "2026-11-05"}]}),
    ],
)  # fmt: skip
def test_what_is_withheld_is_nowhere_in_the_notice(key: str, record: dict):
    assert SECRET in str(drafted(record)).lower()
    content = drafted(record, "general", "en", Phrase(key=key, withheld=True))
    assert SECRET not in str(content).lower()


def test_a_notice_that_leaves_something_out_says_so():
    withheld = drafted({"events": {"check": {"note": "x"}}}, "general", "en", Phrase(key="note", withheld=True))
    assert set(withheld["rights"]) - set(drafted({})["rights"]) == {packs()["general"].text("en").withheld}


# ── any record ──

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12)
KEYS = TEXTS | st.sampled_from(
    ["received_at", "savings_eur", "term_years", "share_percent", "a.b", 'say "x"', "name", "score", "path", "value"]
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(10**300, 10**301)
    | st.decimals(allow_nan=False, allow_infinity=False).map(float)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
    | st.sampled_from(["2026-11-05", "2026-11-05T10:00:00Z", "\u202e", "שלום", "explicit_consent", "R03", "A. B. C."])
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
)
FACTORS = VALUES | st.fixed_dictionaries(
    {},
    optional={
        "factor": SCALARS,
        "value": VALUES,
        "path": st.sampled_from(["events", "events.0", "events.check.score", "outcome.action", '"', "..", "events.9"]),
        "direction": SCALARS | st.sampled_from(["adverse", "favourable"]),
    },
)
REASONS = VALUES | st.fixed_dictionaries({}, optional={"code": SCALARS, "text": SCALARS})
EVENTS_OF_ANY_SHAPE = (
    VALUES
    | st.dictionaries(KEYS, st.dictionaries(KEYS, VALUES, max_size=4), max_size=3)
    | st.lists(st.dictionaries(KEYS, VALUES, max_size=4), max_size=3)
)
OUTCOMES = VALUES | st.fixed_dictionaries(
    {},
    optional={
        "action": VALUES | st.sampled_from(["denied", "approved"]),
        "reasons": VALUES | st.lists(REASONS, max_size=3),
        "reason_codes": VALUES,
        "principal_factors": VALUES | st.lists(FACTORS, max_size=3),
        "consequences": VALUES,
        "legal_basis": VALUES,
        "amount_eur": VALUES,
        "score": VALUES,
        "solely_automated": SCALARS,
    },
)
RECORDS = st.fixed_dictionaries(
    {"decision_id": TEXTS},
    optional={"decided_at": VALUES, "system": VALUES, "events": EVENTS_OF_ANY_SHAPE, "outcome": OUTCOMES}
    | {"approval": VALUES},
)


@settings(max_examples=150, deadline=None)
@given(RECORDS, st.sampled_from(EVERY))
def test_every_statement_about_any_record_is_one_line_that_ends_and_has_a_source(record: dict, under: tuple[str, str]):
    pack, language = under
    raw = json.dumps(record).encode()
    content = drafted(raw, pack, language)
    facts = Facts(raw)
    for item in statements(content):
        line = item["statement"]
        assert len(line.splitlines()) == 1
        assert line.endswith(END_MARKS)
        assert line.count("\u2068") == line.count("\u2069")
        assert line[0] == line[0].upper() or len(line[0].upper()) > 1
        assert facts.find(item["source"]).path == item["source"]
    assert drafted(raw, pack, language) == content


PLAIN = st.text("abcdefgh XYZäéß日本0123456789", min_size=1, max_size=20).filter(lambda text: text.strip())
AMOUNTS = st.integers(-(10**25), 10**25) | st.decimals(-(10**6), 10**6, places=3, allow_nan=False)


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.sampled_from(["city", "ratio", "a.b", "Note", "x y"]), PLAIN | AMOUNTS, min_size=1),
       st.booleans(), st.sampled_from(LANGUAGES))  # fmt: skip
def test_the_value_at_the_source_stands_in_the_sentence(fields: dict, in_list: bool, language: str):
    events = [{"name": "check", **fields}] if in_list else {"check": {"nested": [fields]}}
    raw = json.dumps({"events": events}, default=float).encode()
    facts = Facts(raw)
    content = drafted(raw, "general", language)
    assert len(content["inputs_used"]) == len(fields)
    for item in content["inputs_used"]:
        value = facts.find(item["source"]).value
        shown = " ".join(value.split()) if isinstance(value, str) else f"{Decimal(value).normalize():f}"
        if not isinstance(value, str) and language != "en":
            shown = shown.replace(".", ",")
        assert shown in item["statement"]


@settings(max_examples=60, deadline=None)
@given(EVENTS_OF_ANY_SHAPE, KEYS)
def test_no_value_below_a_withheld_name_is_told(events: object, key: str):
    secret = {"reference": SECRET, "list": [SECRET, {"deep": SECRET}]}
    record = {"events": [events, {key: secret, "note": "told"}, {"name": "last", "held": {key: SECRET}}]}
    content = drafted(record, "general", "en", Phrase(key=key, withheld=True))
    assert SECRET not in str(content).lower()


def test_paths_that_lead_nowhere_are_no_fields():
    facts = Facts(b'{"events": [{"name": "a", "x": 1}], "s": "text"}')
    assert facts.find("events.a.x").path == "events.0.x"
    for path in (
        "",
        ".",
        "events",
        "events.1.x",
        "events.b.x",
        "s.x",
        '"\\q"',
        '"',
        "events..x",
        f"events.{'9' * 5000}",
    ):
        with pytest.raises(NoSuchField):
            facts.find(path)
