"""Unreadable times are warned about, in notices and in the dry run. Warnings are whole English sentences."""

import re

import pytest

from notices import deadlines
from notices.packs import packs
from notices.warnings import times
from tests.cases import each_case
from tests.notices.drafts import EVERY, findings_of, warned, warnings_of

UNREADABLE = ["yesterday", "02/11/2026", "2026-02-30T10:00:00Z", "2026-11-02T25:00:00Z", 1793613600, True, {"day": 2}]
READABLE = ["2026-11-02T10:00:00Z", "2026-11-02T10:00:00+02:00", "2026-11-02", None, ""]


def at(path: str, value: object) -> dict:
    record: dict = {"decision_id": "d", "decided_at": "2026-11-02T10:00:00Z", "outcome": {"action": "denied"}}
    holder = record
    *outer, name = path.split(".")
    for key in outer:
        holder = holder.setdefault(key, {})
    holder[name] = value
    return record


@each_case("path", [*deadlines.TIMES, "approval.approved_at"])
def test_a_time_that_cannot_be_read_warns_once_and_is_named(path):
    for value in UNREADABLE:
        (finding,) = findings_of(times, at(path, value), "us_ecoa_fcra")
        assert finding.sentence.startswith(f"{path} is no time that can be read")
    for value in READABLE:
        assert findings_of(times, at(path, value), "us_ecoa_fcra") == []


@each_case("pack", sorted(packs()))
def test_a_day_of_the_decision_that_cannot_be_read_is_one_fault(pack):
    warnings = warnings_of(at("decided_at", "2.11.2026 um zehn"), pack)
    phrases = ("decided_at is no time", "no readable date")
    assert len([warning for warning in warnings if any(words in warning.sentence for words in phrases)]) == 1


@each_case(("pack", "language"), EVERY)
def test_warnings_are_in_english_in_every_language_of_the_letter(pack, language):
    record = {"decision_id": "d", "decided_at": "x", "outcome": {"action": "denied", "reasons": ["R07"]}}
    english = set(packs()[pack].text("en").labels.values())
    for warning in warned("missing_element", warnings_of(record, pack, language)):
        assert re.sub(r": [^:]*\(.*", "", warning.sentence) in english


def test_a_warning_about_the_whole_begins_with_its_sentence():
    warnings = warnings_of(at("decided_at", "x"), "us_ecoa_fcra")
    assert all(not warning.line.startswith(":") for warning in warnings)
    assert any(warning.line == warning.sentence for warning in warnings)


@each_case("day", ["2027-02-30", "2027-13-01", "45.13.2027", "45/13/2027", 1798761600])
@each_case("language", ["en", "de", "fr"])
def test_an_unreadable_day_of_an_offer_warns(day, language):
    path = "outcome.valid_until"
    warnings = warned("unclear_day", warnings_of(at(path, day), "general", language))
    assert any(warning.sentence.startswith(f"{path} is {day}, which is no clear day") for warning in warnings)


@pytest.mark.parametrize("day", ["01/02/2027", "03-04-27"])
def test_an_ambiguous_day_warns_where_both_orders_are_used(day):
    assert warned("unclear_day", warnings_of(at("outcome.valid_until", day)))
    assert warned("unclear_day", warnings_of(at("outcome.valid_until", day), "general", "fr")) == []


@each_case(
    "day", ["2027-02-28", "2027-02-28T10:00:00Z", "13/02/2027", "02/02/2027", "01.02.2027", "9999-12-31", "soon", 30]
)
def test_an_unambiguous_day_does_not_warn(day):
    assert warned("unclear_day", warnings_of(at("outcome.valid_until", day))) == []
