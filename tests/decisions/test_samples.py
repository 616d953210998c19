"""Samples: real records have exactly the values of their source, and invented records say that they are invented."""

import csv
import json
from collections import Counter
from decimal import Decimal

import pytest

from accounts import callers
from config.http import strict_json
from decisions import samples
from decisions.models import Decision
from decisions.services import ingest_lines

YES_NO = {"yes": True, "no": False}


@pytest.fixture(scope="module")
def mortgages():
    return [strict_json.read(raw, number=Decimal) for raw in samples.mortgage_records()]


@pytest.fixture(scope="module")
def rows():
    with open(samples.SAMPLES / "mortgage_decisions.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def synthetic():
    return [strict_json.read(raw) for raw in samples.synthetic_records()]


def test_there_are_2380_mortgage_decisions_of_which_285_were_denied(mortgages):
    actions = Counter(record["outcome"]["action"] for record in mortgages)
    assert actions == {"denied": 285, "not_denied": 2095}
    assert len({record["decision_id"] for record in mortgages}) == 2380


def test_each_mortgage_record_has_exactly_the_values_of_its_row(mortgages, rows):
    for record, row in zip(mortgages, rows, strict=True):
        number = row.pop("application")
        action = "denied" if row.pop("denied") == "yes" else "not_denied"
        facts = {name: YES_NO[value] if value in YES_NO else Decimal(value) for name, value in row.items()}
        assert record == {
            "decision_id": f"boston-hmda-1990-{number}",
            "subject": {"reference": f"application {number}"},
            "events": {"application": facts},
            "outcome": {"action": action},
        }


def test_a_number_keeps_the_spelling_of_the_row():
    first = next(samples.mortgage_records())
    assert b'"payments_to_income": 0.221,' in first
    assert b'"loan_to_value": 0.8,' in first


def test_booleans_and_numbers_keep_their_types(mortgages):
    for record in mortgages:
        facts = record["events"]["application"]
        yes_no = {name for name, value in facts.items() if isinstance(value, bool)}
        assert yes_no == {
            "public_bad_credit_record",
            "self_employed",
            "denied_mortgage_insurance",
            "condominium",
            "high_school_diploma",
        }


def test_no_sample_has_a_protected_attribute(rows, mortgages):
    text = json.dumps([list(rows[0]), mortgages[0]], default=str)
    for word in ("race", "black", "hispanic", "married", "single", "sex", "age"):
        assert f'"{word}' not in text


def test_20_synthetic_records_are_marked_as_synthetic(synthetic):
    assert len({record["decision_id"] for record in synthetic}) == 20
    assert all(record["synthetic"] is True for record in synthetic)
    assert all(record["decision_id"].startswith("synthetic-") for record in synthetic)
    assert Counter(record["field"] for record in synthetic) == {
        "insurance": 5,
        "hiring": 5,
        "benefits": 5,
        "prior_authorization": 5,
    }


@pytest.mark.parametrize(
    "path",
    ["decided_at", "subject.reference", "system.name", "system.version", "system.provider", "outcome.action",
     "outcome.reasons", "outcome.principal_factors", "approval.approver", "approval.authority"],
)  # fmt: skip
def test_the_synthetic_records_use_every_field_of_the_profile(synthetic, path):
    def value(record):
        for key in path.split("."):
            record = record.get(key) if isinstance(record, dict) else None
        return record

    assert any(value(record) for record in synthetic)


def test_events_occur_as_an_object_and_as_a_list_with_names(synthetic):
    shapes = Counter(type(record["events"]) for record in synthetic)
    assert shapes[dict] > 0
    assert shapes[list] > 0
    for record in synthetic:
        if isinstance(record["events"], list):
            assert all(event["name"] for event in record["events"])


def test_the_synthetic_records_have_spellings_that_custody_must_preserve():
    everything = b"\n".join(samples.synthetic_records())
    for spelling in (b"0.920", b"\\u00e9", b"9007199254740993", b'"vehicle.age_years"'):
        assert spelling in everything


@pytest.mark.once
@pytest.mark.django_db
def test_every_sample_is_stored_and_indexed(organization, mortgages):
    raws = [*samples.mortgage_records(), *samples.synthetic_records()]
    lines = ingest_lines(caller=callers.system(organization.id), lines=raws, source="samples")
    assert Counter(line.status for line in lines) == {"created": 2400}
    assert Decision.objects.filter(action="denied", decision_id__startswith="boston-hmda-1990-").count() == 285
    shown = Decision.objects.get(decision_id="synthetic-insurance-01")
    assert shown.system_name == "Example Life Screener"
    assert shown.subject_reference == "Antragsteller L-0001"
    assert shown.decided_at.isoformat() == "2026-10-21T12:05:33+00:00"
    assert Decision.objects.get(decision_id=mortgages[0]["decision_id"]).decided_at is None
