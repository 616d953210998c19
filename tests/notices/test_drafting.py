# ruff: noqa: RUF001 - real dashes and apostrophes, and scripts of either direction
"""What a draft says: the record's facts, each in a sentence that its reader understands, and nothing else."""

import pytest

from tests.notices.drafts import drafted, factors, inputs, told

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
