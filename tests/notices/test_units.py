"""The unit of a number comes from the cited field, and an amount and its currency are one amount."""

import json

import pytest

from notices import checklist, unit_conflicts
from notices.drafting import redaction_of
from notices.packs import packs
from notices.phrasebook import Phrase, Phrasebook
from notices.record_paths import Facts
from tests.cases import each_case
from tests.notices.drafts import case, drafted, factors, inputs, listed_problems, statement_texts, warnings_of


def conflicts(record: dict, *phrases: Phrase) -> list[str]:
    content = drafted(record, "general", "en", *phrases)
    problems = listed_problems(case(record, "general", *phrases), content)
    return [problem for problem in problems if "by its name" in problem]


def about(factor: dict, **fields: object) -> dict:
    events = {"application": fields}
    return {"decision_id": "d", "events": events, "outcome": {"principal_factors": [factor]}}


# ── units ──


@each_case(
    ("factor", "fields", "expected"),
    [
        ({"factor": "debt_percent", "path": "events.application.debt"}, {"debt": 0.48}, "Debt: 0.48."),
        ({"factor": "debt_eur", "path": "events.application.debt"}, {"debt": 48}, "Debt: 48."),
        ({"factor": "debt", "path": "events.application.total_eur"}, {"total_eur": 48}, "Debt: €48."),
        ({"factor": "debt", "path": "events.application.total"}, {"total": 48, "currency": "EUR"}, "Debt: €48."),
        ({"factor": "time_employed", "path": "events.application.m_months"}, {"m_months": 5},
         "Time employed: 5 months."),
        ({"factor": "debt_eur", "value": 48}, {}, "Debt: €48."),
        ({"factor": "debt", "value": 48, "currency": "EUR"}, {}, "Debt: €48."),
        ({"factor": "debt", "value": 48, "unit": "percent"}, {}, "Debt: 48%."),
        ({"factor": "pressure", "value": 158, "unit": "mmHg"}, {}, "Pressure: 158 mmHg."),
        ({"factor": "sugar", "value": 158.5, "unit": "mg/dL"}, {}, "Sugar: 158.5 mg/dL."),
    ],
)  # fmt: skip
def test_a_unit_comes_from_the_cited_field_and_not_from_a_factor_s_name(factor: dict, fields: dict, expected: str):
    record = about(factor, **fields)
    assert statement_texts(drafted(record), "main_factors") == [expected]
    assert conflicts(record) == []
    assert not [warning for warning in warnings_of(record) if warning.id.startswith("not_in_field")]


CONFLICTS = [
    (about({"factor": "debt_percent", "path": "events.application.debt_eur"}, debt_eur=48), "in percent", "in EUR"),
    (about({"feature": "debtUSD", "source": "events.application.debt_eur"}, debt_eur=48), "in USD", "in EUR"),
    (about({"factor": "age_years", "path": "events.application.age_months"}, age_months=48), "in year", "in month"),
    (about({"factor": "debt_percent", "path": "events.application.debt"}, debt=48, currency="EUR"), "percent", "EUR"),
    (about({"factor": "debt_usd", "value": 48, "currency": "EUR"}), "in USD", "in EUR"),
    (about({"factor": "weight_kg", "value": 48, "unit": "percent"}), "in kilogram", "in percent"),
]


@each_case(("record", "named", "measured"), CONFLICTS)
def test_a_factor_that_says_another_unit_than_the_field_blocks(record: dict, named: str, measured: str):
    (problem,) = conflicts(record)
    assert named in problem
    assert measured in problem
    assert "send the record again" in problem
    factor = record["outcome"]["principal_factors"][0]
    withheld = Phrase(key=factor.get("factor") or factor.get("feature"), withheld=True)
    assert conflicts(record, withheld) == []


def test_a_conflict_is_found_in_any_shape_of_factors():
    part = {"factor": "debt_percent", "path": "outcome.x_eur"}
    for factors_of in ([part], part, {"first": part}, [{"items": [part]}]):
        for name in ("principal_factors", "reasons", "keyDrivers"):
            facts = Facts(json.dumps({"outcome": {"x_eur": 5, name: factors_of}}).encode())
            redaction = redaction_of(facts, packs()["general"], Phrasebook(()))
            assert len(list(unit_conflicts.find(facts, redaction))) == 1


# ── amounts with a currency ──


@each_case(
    ("fields", "expected"),
    [
        ({"loan": {"amount": 5000, "currency": "EUR"}}, ["Loan amount: €5,000."]),
        ({"loan": {"amount": "5000.50", "currency": "eur"}}, ["Loan amount: €5,000.50."]),
        ({"loan": {"amount": 5000, "currencyCode": "USD"}}, ["Loan amount: $5,000."]),
        ({"loan": {"value": 5, "currency": "JPY"}}, ["Loan value: ¥5."]),
        ({"loan_amount": 5000, "loan_currency": "EUR", "rent": 5}, ["Loan amount: €5,000.", "Rent: 5."]),
        ({"amount_owed": 5000, "currency": "EUR"}, ["Amount owed: €5,000."]),
        ({"currency": "EUR", "amount_owed": 1, "fee": 2, "months": 3},
         ["Amount owed: €1.", "Fee: €2.", "Months: 3."]),
        ({"currency": "EUR", "loan": {"amount": 1}}, ["Loan amount: €1."]),
        ({"currency": "EUR", "loans": [{"amount": 1}]}, ["Amount (loans no. 1): €1."]),
        ({"amounts": [1, 2], "currency": "EUR"}, ["Amounts: €1.", "Amounts: €2."]),
        ({"amount_owed_usd": 5, "currency": "EUR"}, ["Amount owed: $5.", "Currency: EUR."]),
        ({"currency": "EUR", "children": 2}, ["Currency: EUR.", "Children: 2."]),
        ({"currency": "doubloons", "amount": 2}, ["Currency: doubloons.", "Amount: 2."]),
        ({"amount": "about 5", "currency": "EUR"}, ["Amount: about 5.", "Currency: EUR."]),
        ({"interest_rate": 5, "currency": "EUR"}, ["Interest rate: 5.", "Currency: EUR."]),
    ],
)  # fmt: skip
def test_an_amount_and_its_currency_are_one_amount_in_one_sentence(fields: dict, expected: list[str]):
    assert inputs(fields) == expected
    record = {"decision_id": "d", "events": {"application": fields}}
    assert not [warning for warning in warnings_of(record) if warning.id.startswith("not_in_field")]


def test_a_currency_told_with_its_amount_is_not_untold():
    record = {"decision_id": "d", "outcome": {"refund": {"amount": 5, "currency": "EUR"}, "other": {"currency": "EUR"}}}
    fields = checklist.untold_fields(case(record), drafted(record))
    assert [field.path for field in fields] == ["outcome.other.currency"]


# ── numbers for people ──


@each_case(
    ("value", "shown"),
    [
        (0.3333333, "0.333"), (0.48333333333333334, "0.483"), (0.999999, "1"), (0.00012345678, "0.000123"),
        (33.333333333, "33.3"), (1234.56789, "1235"), (-0.66666, "-0.667"), (0.92, "0.92"), (0.125, "0.125"),
        (4.125, "4.125"), (12, "12"), (98765.4321, "98,765"),
    ],
)  # fmt: skip
def test_a_ratio_of_many_decimals_is_rounded_for_people_and_stays_exact_where_it_is_cited(value: float, shown: str):
    record = {"decision_id": "d", "events": {"application": {"usage": value}}}
    assert inputs({"usage": value}) == [f"Usage: {shown}."]
    (citation,) = checklist.citations(case(record).facts, drafted(record), {})
    assert citation.as_json()["value"] == str(value) or citation.value == value
    assert not [warning for warning in warnings_of(record) if warning.id.startswith("not_in_field")]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"usage_percent": 33.333333}, "Usage: 33.3%."),
        ({"owed_eur": 5000.123456}, "Owed: €5,000.12."),
        ({"waited_months": 4.333333}, "Waited: 4.33 months."),
        ({"latitude": 52.520008}, "Latitude: 52.520008."),
        ({"customer_number": 1.23456}, "Customer number: 1.23456."),
    ],
)
def test_percents_and_amounts_are_rounded_too_and_names_made_of_digits_are_not(fields: dict, expected: str):
    assert inputs(fields) == [expected]


def test_a_factor_s_ratio_is_rounded_in_every_language():
    factor = {"factor": "usage", "value": 0.3333333}
    shown = {language: factors({"principal_factors": [factor]}, None, language) for language in ("en", "de", "fr")}
    assert shown == {"en": ["Usage: 0.333."], "de": ["Usage: 0,333."], "fr": ["Usage\u00a0: 0,333."]}


def test_measures_are_found_in_time_linear_in_the_record():
    fields = {f"fee_{n}": {"amount": n, "currency": "EUR"} for n in range(1000)} | {"currency": "USD"}
    lines = inputs(fields)
    assert len(lines) == 1001
    assert lines[7] == "Fee 7 amount: €7."


# ── units in names ──


@each_case(
    ("fields", "language", "expected"),
    [
        ({"inquiriesLast6Months": 3}, "en", "Inquiries last 6 months: 3."),
        ({"late90DaysCount": 1}, "en", "Late 90 days count: 1."),
        ({"dpd90Days": 2}, "en", "Dpd90 days: 2."),
        ({"last12_months": 2}, "en", "Last 12 months: 2."),
        ({"amount_minor": 98000, "currency": "USD"}, "en", "Amount: $980."),
        ({"amount_minor": 98050, "currency": "EUR"}, "de", "Betrag: 980,50 €."),
        ({"amount_minor": 98000, "currency": "JPY"}, "en", "Amount: ¥98,000."),
        ({"amount_minor": 98000}, "en", "Amount minor: 98,000."),
        ({"income_usd_cents": 312550}, "en", "Income: $3,125.50."),
        ({"income_cents": 312500}, "en", "Income: 312,500 cents."),
        ({"laufzeit_monate": 60}, "de", "Laufzeit: 60 Monate."),
        ({"score_prozent": 87.4}, "de", "Score: 87,4 %."),
        ({"alter_in_jahren": 5}, "de", "Alter: 5 Jahre."),
        ({"duree_mois": 48}, "fr", "Durée : 48 mois."),
        ({"taux_pourcent": 8.99}, "fr", "Taux : 8,99 %."),
        ({"retards_derniers_mois": 2}, "fr", "Retards derniers mois : 2."),
        ({"rueckstaende_12_monate": 2}, "de", "Rückstände 12 Monate: 2."),
    ],
)  # fmt: skip
def test_a_unit_at_the_end_of_a_name_is_its_number_s_and_not_that_of_a_number_in_the_name(fields, language, expected):
    assert [" ".join(sentence.split()) for sentence in inputs(fields, language)] == [expected]
    record = {"decision_id": "d", "events": {"application": fields}}
    assert not [warning for warning in warnings_of(record, "general", language) if "inputs_used" in warning.where]


def test_cents_stay_cents_under_a_factor_called_otherwise():
    factor = {"factor": "monthly_income_usd", "path": "events.application.income_monthly_cents"}
    assert factors({"principal_factors": [factor]}, {"application": {"income_monthly_cents": 312500}}) == [
        "Monthly income: 312,500 cents."
    ]


# ── amounts as text, and percent ──


@each_case(
    ("text", "shown"),
    [
        ("2,450.00", "$2,450"), ("1,234,567", "$1,234,567"), ("2.450,00", "$2,450"),
        ("1.234.567,89", "$1,234,567.89"), ("1 234,50", "$1,234.50"), ("1'234.50", "$1,234.50"), ("12,50", "$12.50"),
        ("-2,450.00", "-$2,450"), (" 98.50 ", "$98.50"),
    ],
)  # fmt: skip
def test_an_amount_written_with_marks_between_thousands_is_one_amount_with_its_currency(text: str, shown: str):
    for fields in ({"amount": text, "currency": "USD"}, {"amount_usd": text}, {"loan": {"amount": text, "ccy": "USD"}}):
        (line,) = inputs(fields)
        assert line.endswith(f"mount: {shown}.")
        record = {"decision_id": "d", "events": {"application": fields}}
        assert not [warning for warning in warnings_of(record) if warning.id.startswith("not_in_field")]


@pytest.mark.parametrize("text", ["2,45,000.00", "1,2345", "about 2,450.00", "1.234.56", "², 450"])
def test_an_amount_that_can_be_read_in_two_ways_is_printed_as_the_record_has_it(text: str):
    assert inputs({"amount": text, "currency": "USD"})[0] == f"Amount: {text}."


@each_case(
    ("fields", "value"),
    [
        ({"apr": 18.9}, "18.9%"), ({"offered_apr": 7}, "7%"), ({"dti": 0.46}, "46%"), ({"DTI": 46}, "46%"),
        ({"ltvRatio": 0.9137}, "91.4%"), ({"max_ltv": 1.2}, "120%"), ({"dti_limit": 43}, "43%"),
        ({"percent_paid": 12}, "12%"), ({"savings_percentage": 12}, "12%"), ({"apr": 0.189}, "0.189"),
        ({"usage_ratio": 0.3}, "0.3"), ({"apr": {"value": 18.9, "unit": "%"}}, "18.9%"), ({"ltv": 3}, "3"),
    ],
)  # fmt: skip
def test_a_percentage_has_its_sign_where_the_name_says_percent_and_the_number_leaves_no_doubt(fields, value):
    (line,) = inputs(fields)
    assert line.endswith(f": {value}.")
    record = {"decision_id": "d", "events": {"application": fields}}
    assert not [warning for warning in warnings_of(record) if warning.id.startswith("not_in_field")]


# ── unreadable amounts ──


@each_case("language", ["en", "de", "fr"])
@each_case("amount", ["5.000", "1,500", "-12.500", "999,999"])
@each_case("currency", ["EUR", "USD", "BHD"])
def test_three_digits_after_one_mark_are_printed_unchanged_with_their_currency(language, amount, currency):
    for fields in ({"amount": amount, "currency": currency}, {f"amount_{currency.lower()}": amount}):
        (sentence,) = inputs(fields, language)
        assert sentence.endswith(f" {amount} {currency}.")


@each_case(
    ("fields", "own", "beside"),
    [
        ({"amount_eur": 5000, "currency": "USD"}, "EUR", "USD"),
        ({"incomeGBP": "5000", "currencyCode": "EUR"}, "GBP", "EUR"),
        ({"amount": "5000 EUR", "currency": "USD"}, "EUR", "USD"),
        ({"total": "CHF 1'500.50", "ccy": "eur"}, "CHF", "EUR"),
    ],
)
@each_case("place", ["outcome", "events"])
def test_one_amount_in_two_currencies_blocks(fields: dict, own: str, beside: str, place: str):
    record: dict = {"decision_id": "d", "outcome": {"action": "denied"}, "events": {}}
    record[place]["offer"] = fields
    (problem,) = conflicts(record)
    assert f"is in {own} by its name" in problem
    assert f" in {beside}: send" in problem


@each_case(
    "fields",
    [
        {"amount_eur": 5000, "amount_usd": 5400, "currency": "USD"},
        {"amount_eur": 5000, "amount": 5400, "currency": "USD"},
        {"amount_eur": 5000, "currency": "EUR"},
        {"amount": "5000 EUR", "currency": "EUR"},
        {"children": "5000 EUR", "currency": "none"},
        {"amount": "5000 xyz", "currency": "EUR"},
    ],
)
def test_amounts_of_which_each_has_its_currency_do_not(fields: dict):
    assert conflicts({"decision_id": "d", "events": {"application": fields}}) == []
