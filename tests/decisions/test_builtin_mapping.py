"""The built-in mapping reads the published profile: exact names, a few aliases, and nothing else of a record."""

import json
from decimal import Decimal

import pytest

from decisions import samples
from decisions.mapping import builtin
from decisions.record.meanings import Entry
from decisions.record.walk import Table
from notices.dry_runs import record_names
from tests.cases import each_case


def read(record, *entries):
    return builtin.read(record, Table(map(Entry.model_validate, entries)) if entries else None)


def said(reading):
    return {value.origin.path: value.origin.meaning for value in reading.profile.values}


def test_every_field_that_a_pack_asks_for_by_name_is_in_the_built_in_mapping():
    known = {entry.path.replace(".*", "") for entry in builtin._entries()} | set(builtin._DECISION)
    asked = {name for name in record_names() if "." in name}
    missing = {name for name in asked if name.replace(".0.", ".") not in known}
    assert {name for name in missing if not any(path.startswith(f"{name}.") for path in known)} == set()


def test_nothing_below_the_outcome_of_a_sample_is_unexplained():
    for raw in samples.synthetic_records():
        reading = read(json.loads(raw, parse_float=Decimal))
        assert [scalar.path for scalar in reading.profile.unmapped if scalar.path.startswith("outcome.")] == []
        assert reading.profile.unknown == []


@each_case(
    ("outcome", "path"),
    [
        ({"action": "denied", "status": "final"}, "outcome.action"),
        ({"decision": "declined"}, "outcome.decision"),
        ({"status": "complete", "decision": "DENIED"}, "outcome.decision"),
        ({"result": "rejected"}, "outcome.result"),
        ({"status": "Abgelehnt"}, "outcome.status"),
        ({"status": "R27"}, "outcome.status"),
    ],
)
def test_the_decision_is_at_the_first_field_with_a_known_word(outcome, path):
    assert [at for at, means in said(read({"outcome": outcome})).items() if means == "decision"] == [path]


def test_a_field_of_another_name_says_nothing_and_is_proposed():
    reading = read({"decision_id": "a", "outcome": {"action": "denied", "refusalReason": "Too little income"}})
    assert "outcome.refusalReason" not in said(reading)
    assert [proposal.field.path for proposal in reading.proposals] == ["outcome.refusalReason"]


@each_case(
    "path", ["events.bureau.ssn", "events.applicant.religion", "events.coapplicant.income", "events.model.prompt"]
)
def test_a_field_that_may_be_secret_protected_internal_or_of_another_person_is_no_input(path):
    event, name = path.split(".")[1:]
    assert said(read({"events": {event: {name: "x", "rooms": 3}}})).get(path) is None


def test_plain_information_of_the_events_is_an_input_without_its_value():
    [value] = read({"events": {"application": {"rooms": 3}}}).profile.values
    assert (value.origin.path, value.value) == ("events.application.rooms", None)


def test_a_mapping_goes_before_the_built_in_one_field_by_field():
    record = {"system": {"name": "S"}, "outcome": {"action": "denied", "status": "DECL", "reasons": ["Own", "Other"]}}
    entries = [
        {
            "path": "outcome.status",
            "means": "decision",
            "values": {"DECL": {"outcome": "ended", "relation": "equivalent"}},
        },
        {"path": "outcome.reasons.**", "means": "not_told", "class": "internal"},
    ]
    reading = read(record, *entries)
    assert said(reading) == {"system.name": "system.name", "outcome.status": "decision"}
    assert [scalar.path for scalar in reading.profile.unmapped] == ["outcome.action"]


@pytest.mark.parametrize("record", [{}, {"outcome": []}, {"outcome": {"action": {"code": "x"}}}, {"events": [[1]]}])
def test_a_record_of_any_shape_is_read(record):
    assert read(record).profile
