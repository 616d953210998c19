"""The profile of a record: every value decoded as its entry declares, and nothing read that no entry explains."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from config.http import strict_json
from decisions.record import profile
from decisions.record.meanings import Entry
from decisions.record.profile import Quantity
from decisions.record.values import Amount, Day, Flag, Number, Rate, Term
from decisions.record.walk import Table
from tests.cases import each_case


def read(record, *entries):
    return profile.read(record, Table(map(Entry.model_validate, entries)))


def value_of(stored, **entry):
    """Return the value and the decode of one field, or the problem of a field that cannot be read."""
    reading = read({"f": stored, "currency": "JPY"}, {"path": "f", **entry})
    if reading.unknown:
        return reading.unknown[0].problem
    (quantity,) = reading.values
    assert isinstance(quantity, Quantity)
    return quantity.value, quantity.origin.decode


TEN_IN_2025 = Day(date(2025, 11, 20), datetime(2025, 11, 20, 10, tzinfo=UTC))


@each_case(
    ("stored", "entry", "value"),
    [
        (
            350000,
            {"means": "amount", "currency": "USD", "scale": "minor"},
            (Amount(Decimal(3500), "USD"), "minor units, told as 3,500.00 USD"),
        ),
        (
            350000,
            {"means": "amount", "currency": ".currency", "scale": "minor"},
            (Amount(Decimal(350000), "JPY"), "minor units, told as 350,000 JPY"),
        ),
        ("1200.50", {"means": "amount", "currency": "currency"}, (Amount(Decimal("1200.50"), "JPY"), "")),
        (12, {"means": "amount", "currency": "events.loan.currency"}, "an amount without a currency"),
        ("1.200,50", {"means": "amount", "currency": "EUR"}, "no number"),
        (True, {"means": "amount", "currency": "EUR"}, "no number"),
        (10**40, {"means": "amount", "currency": "EUR"}, "a number that is too large or too small for a letter"),
        (
            Decimal("0.1349"),
            {"means": "rate", "scale": "fraction"},
            (Rate(Decimal("13.49")), "fraction, told as 13.49 %"),
        ),
        (1349, {"means": "rate", "scale": "basis_points"}, (Rate(Decimal("13.49")), "basis points, told as 13.49 %")),
        (Decimal("13.490"), {"means": "rate", "scale": "percent"}, (Rate(Decimal("13.49")), "")),
        (48, {"means": "term", "unit": "months"}, (Term(Decimal(48), "months"), "")),
        (7, {"means": "number", "unit": "inquiries"}, (Number(Decimal(7), "inquiries"), "")),
        (False, {"means": "flag"}, (Flag(False), "")),
        ("no", {"means": "flag"}, "neither true nor false"),
        ("2026-11-20", {"means": "date"}, (Day(date(2026, 11, 20), None), "")),
        (
            "2026-11-20T10:00:00Z",
            {"means": "date"},
            (Day(date(2026, 11, 20), datetime(2026, 11, 20, 10, tzinfo=UTC)), ""),
        ),
        ("2026-11-20T10:00:00", {"means": "date"}, (Day(date(2026, 11, 20), None), "")),
        (
            "04/03/2026",
            {"means": "date", "notation": "month_first"},
            (Day(date(2026, 4, 3), None), "month first, told as 2026-04-03"),
        ),
        (
            "04.03.2026",
            {"means": "date", "notation": "day_first"},
            (Day(date(2026, 3, 4), None), "day first, told as 2026-03-04"),
        ),
        (
            "20260403",
            {"means": "date", "notation": "compact"},
            (Day(date(2026, 4, 3), None), "compact, told as 2026-04-03"),
        ),
        ("2026-13-01", {"means": "date"}, "a date that is not written as iso"),
        (1763632800, {"means": "date"}, "a date that is no text: say which `epoch` it counts from"),
        (1763632800, {"means": "date", "epoch": "seconds"}, (TEN_IN_2025, "seconds since 1970, told as 2025-11-20")),
        (
            1763632800000,
            {"means": "date", "epoch": "milliseconds"},
            (TEN_IN_2025, "milliseconds since 1970, told as 2025-11-20"),
        ),
        (10**20, {"means": "date", "epoch": "seconds"}, "no time between the years 1 and 9999"),
    ],
)
def test_a_value_is_decoded_as_its_entry_declares(stored, entry, value):
    assert value_of(stored, **entry) == value


DECISION = {
    "path": "outcome.status",
    "means": "decision",
    "values": {"DECL": {"outcome": "denied", "en": "We declined it.", "relation": "equivalent"}},
}
REASON = {
    "path": "outcome.reasons.*.code",
    "means": "reason",
    "values": {"R14": {"en": "Your accounts are too new", "relation": "equivalent"}},
}


def test_a_decision_is_what_the_mapping_says_of_its_code():
    (decision,) = read({"outcome": {"status": "DECL"}}, DECISION).values
    assert (decision.kind, decision.words) == ("denied", {"en": "We declined it."})
    assert (decision.origin.path, decision.origin.stored) == ("outcome.status", "DECL")


def test_a_code_that_no_one_explained_is_unknown():
    record = {"outcome": {"status": "PEND", "reasons": [{"code": "R14"}, {"code": "R99"}]}}
    reading = read(record, DECISION, REASON)
    assert [text.words["en"] for text in reading.values] == ["Your accounts are too new"]
    assert [unknown.path for unknown in reading.unknown] == ["outcome.status", "outcome.reasons.1.code"]
    assert all("R99" not in unknown.problem and "PEND" not in unknown.problem for unknown in reading.unknown)


def test_a_code_is_told_as_written_only_if_the_mapping_says_so():
    reading = read({"outcome": {"reasons": [{"code": "Too new"}]}}, REASON | {"unmapped": "as_written"})
    assert [text.text for text in reading.values] == ["Too new"]


def test_a_factor_has_its_measure_and_direction_beside_it():
    record = {
        "factors": [{"name": "Utilization", "is": {"value": Decimal("0.94")}, "effect": "adverse"}, {"name": "Age"}]
    }
    entry = {"path": "factors.*.name", "means": "factor", "value": ".is.value", "direction": ".effect"}
    reading = read(record, entry)
    first, second = reading.values
    assert reading.unmapped == []
    assert (first.name.text, first.measured.value, first.direction.text) == (
        "Utilization",
        Number(Decimal("0.94"), ""),
        "adverse",
    )
    assert first.measured.origin.path == "factors.0.is.value"
    assert (second.measured, second.direction) == (None, None)


def test_an_input_is_named_by_its_label_and_told_by_value_only_if_declared():
    entries = [
        {"path": "events.bureau.*", "means": "input", "label": {"en": "your credit report"}},
        {"path": "events.bureau.score", "means": "input", "label": {"en": "your score"}, "show": "value"},
    ]
    report, score = read({"events": {"bureau": {"inquiries": 7, "score": 640}}}, *entries).values
    assert (report.origin.label["en"], report.value) == ("your credit report", None)
    assert (score.origin.label["en"], score.value) == ("your score", "640")


def test_a_withheld_field_gives_its_path_and_class_only():
    entry = {"path": "events.coapplicant.**", "means": "not_told", "class": "other_person"}
    reading = read({"events": {"coapplicant": {"bankruptcy": True, "debts": [1]}}}, entry)
    assert [(held.path, held.because) for held in reading.withheld] == [
        ("events.coapplicant.bankruptcy", "other_person"),
        ("events.coapplicant.debts.0", "other_person"),
    ]
    assert (reading.unmapped, reading.unknown, reading.values) == ([], [], [])


def test_a_blank_field_says_nothing_and_an_unmapped_one_is_listed():
    reading = read({"outcome": {"status": " ", "note": "SAR filed"}}, DECISION)
    assert (reading.values, reading.unknown) == ([], [])
    assert [scalar.general for scalar in reading.unmapped] == ["outcome.note"]


@each_case(
    ("entry", "problem"),
    [
        ({"means": "rate"}, "needs `scale`"),
        ({"means": "amount"}, "needs `currency`"),
        ({"means": "amount", "currency": "USD", "scale": "fraction"}, "is units or minor"),
        ({"means": "term", "unit": "fortnights"}, "is days"),
        ({"means": "input"}, "needs `label`"),
        ({"means": "not_told"}, "needs `class`"),
        ({"means": "decision"}, "needs `values`"),
        ({"means": "decision", "values": {"A": {"relation": "equivalent", "en": "Yes"}}}, "has an `outcome`"),
        ({"means": "reason", "values": {"A": {"relation": "equivalent", "outcome": "denied"}}}, "has an `outcome`"),
        ({"means": "reason", "values": {"A": {"relation": "equivalent", "English": "Yes"}}}, "should match"),
        ({"means": "reason", "class": "secret"}, "takes no `class`"),
        ({"means": "date", "currency": "USD"}, "takes no `currency`"),
        ({"means": "reason", "path": "outcome..x"}, "a key is missing"),
        ({"means": "guess"}, "should be"),
    ],
)
def test_an_entry_that_does_not_fit_its_meaning_is_refused(entry, problem):
    with pytest.raises(ValidationError, match=problem):
        Entry.model_validate({"path": "outcome.x", **entry})


@given(
    st.binary(max_size=60), st.sampled_from(["amount", "rate", "date", "term", "flag", "number", "reason", "decision"])
)
def test_any_scalar_is_decoded_or_unknown(raw, means):
    try:
        stored = strict_json.read(b'{"f": ' + raw + b"}", number=Decimal)["f"]
    except (strict_json.InvalidJSON, KeyError):
        return
    options = {
        "amount": {"currency": "EUR", "scale": "minor"},
        "rate": {"scale": "fraction"},
        "date": {"epoch": "milliseconds"},
        "term": {"unit": "days"},
        "decision": {"values": {"A": {"outcome": "denied", "relation": "equivalent"}}},
    }
    reading = read({"f": stored}, {"path": "f", "means": means, **options.get(means, {})})
    listed = [*reading.values, *reading.unknown, *reading.unmapped]
    assert len(listed) <= 1 or isinstance(stored, dict | list)


def test_a_code_without_words_is_unknown_and_one_that_is_not_related_says_nothing():
    values = {"A": {"relation": "equivalent"}, "no": {"relation": "not-related-to"}}
    entry = {"path": "outcome.r.*", "means": "reason", "values": values}
    reading = read({"outcome": {"r": ["A", "no"]}}, entry)
    assert [unknown.path for unknown in reading.unknown] == ["outcome.r.0"]
    assert not reading.values
    as_written = read({"outcome": {"r": ["A"]}}, entry | {"unmapped": "as_written"})
    assert [value.text for value in as_written.values] == ["A"]
