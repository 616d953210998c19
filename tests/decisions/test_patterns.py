"""Patterns of a mapping: what they name, which of several counts, and what is refused."""

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from custody.sealing import field_paths
from decisions.record import patterns
from decisions.record.meanings import Entry
from decisions.record.walk import MAX_FILTERS, DuplicatePattern, Table, TooManyFilters
from tests.cases import each_case
from tests.growth import assert_linear

RECORD = {
    "events": [{"name": "scoring", "score": 480, "factors": [3, 5]}, {"name": "intake", "at": "2026-11-20"}],
    "outcome": {
        "reasons": [
            {"applicant": "primary", "text": "Too short a history", "rank": 1},
            {"applicant": "joint", "text": "Bankruptcy", "rank": Decimal("2.5")},
        ],
        "a.b": {"*": 1, "c[0]": 2},
    },
}


def entry(path, label="a label"):
    return Entry.model_validate({"path": path, "means": "input", "label": {"en": label}})


def named_by(*paths):
    """Return which fields each pattern names, by their cited paths."""
    table = Table(entry(path, str(number)) for number, path in enumerate(paths))
    fields = [(paths[int(scalar.entry.label["en"])], scalar.path) for scalar in table.walk(RECORD) if scalar.entry]
    return {path: [place for chosen, place in fields if chosen == path] for path in paths}


@each_case(
    ("pattern", "places"),
    [
        ("outcome.reasons.*.text", ["outcome.reasons.0.text", "outcome.reasons.1.text"]),
        ("outcome.reasons[?@.applicant == 'primary'].text", ["outcome.reasons.0.text"]),
        ("outcome.reasons[?@.rank > 2 && @.rank < 3].text", ["outcome.reasons.1.text"]),
        ("outcome.reasons[?!@.missing].rank", ["outcome.reasons.0.rank", "outcome.reasons.1.rank"]),
        ("outcome.reasons.0.text", []),
        ('outcome."a.b"."*"', ['outcome."a.b".*']),
        ('outcome."a.b".*', ['outcome."a.b".*', 'outcome."a.b".c[0]']),
        ('outcome."a.b"."c[0]"', ['outcome."a.b".c[0]']),
        ("events.scoring.score", ["events.0.score"]),
        ("events.*.at", ["events.1.at"]),
        ("events.scoring.**", ["events.0.name", "events.0.score", "events.0.factors.0", "events.0.factors.1"]),
        ("events.scoring.factors.*", ["events.0.factors.0", "events.0.factors.1"]),
    ],
)
def test_a_pattern_names_fields_by_key_position_filter_and_name_of_the_event(pattern, places):
    assert named_by(pattern) == {pattern: places}


@each_case(
    ("winner", "others"),
    [
        ("outcome.reasons.*.text", ["outcome.**", "*.reasons.*.text"]),
        ("outcome.reasons[?@.applicant=='joint'].text", ["outcome.reasons.*.text", "outcome.reasons.**"]),
        ("events.scoring.**", ["events.*.score", "*.*.*"]),
        ("events.scoring.*", ["events.scoring.**"]),
    ],
)
def test_the_most_specific_pattern_counts_in_any_order(winner, others):
    chosen = named_by(winner, *others)[winner]
    assert chosen
    assert named_by(*others, winner)[winner] == chosen


def test_between_two_filters_the_earlier_entry_counts():
    first, second = "outcome.reasons[?@.rank > 0].text", "outcome.reasons[?@.rank > 1].text"
    assert named_by(first, second)[second] == []
    assert named_by(second, first)[second] == ["outcome.reasons.1.text"]


def test_two_entries_of_one_path_are_refused():
    with pytest.raises(DuplicatePattern):
        Table([entry("outcome.action"), entry("outcome.action")])


def test_a_mapping_has_a_bounded_number_of_filters():
    entries = [entry(f"outcome.reasons[?@.rank == {number}].text") for number in range(MAX_FILTERS + 1)]
    Table([*entries[:-1], entry("outcome.reasons[?@.rank == 0].code")])
    with pytest.raises(TooManyFilters):
        Table(entries)


@each_case(
    "text",
    [
        "", ".", "a.", "a..b", ".a", "a b.\x00", '"a', '"a"b', "a.**.b", "a[?@.b", "a[?].b", "a[?@.b]c", "[?@.b]",
        "a[?@.b == 1], [?@.c].d", "a[?@..b].c", "a[?@.*].c", "a[?match(@.b, '.*')].c", "a[?count(@.*) > 1].c",
        "a[?$.b == 1].c", "a[0].b", "a[?@[?@.x]].c", "a" * 1025, "a." * 64 + "a",
        "a[?" + "(" * 500 + "@.b" + ")" * 500 + "].c",
    ],
)  # fmt: skip
def test_what_is_no_pattern_is_refused(text):
    with pytest.raises(patterns.InvalidPattern):
        patterns.parse(text)


def json_objects():
    scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
    keys = st.text(max_size=4) | st.sampled_from(["*", "**", "a.b", '"', "[?@]", "events", "name", ""])
    values = st.recursive(
        scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3), max_leaves=12
    )
    return st.dictionaries(keys, values, max_size=4)


@given(json_objects())
def test_the_walk_meets_every_scalar_once_and_its_general_path_names_it(record):
    scalars = list(Table([]).walk(record))
    assert [(scalar.path, scalar.value) for scalar in scalars] == field_paths.scalars(record)
    for scalar in scalars:
        named = Table([entry(scalar.general)]).walk(record)
        assert scalar.path in [field.path for field in named if field.entry]


@given(st.text(alphabet="a.*\"[]?@=='1& !()\\", max_size=30))
def test_any_text_is_a_pattern_or_refused(text):
    try:
        pattern = patterns.parse(text)
    except patterns.InvalidPattern:
        return
    assert pattern.text == text
    assert pattern.steps or pattern.is_deep


def test_the_cost_of_a_walk_grows_with_the_record():
    table = Table([entry("outcome.items[?@.applicant == 'x'].text"), entry("outcome.**"), entry("*.*.*.text")])

    def record(size):
        return {"outcome": {"items": [{"applicant": "x", "text": json.dumps(number)} for number in range(size)]}}

    assert_linear(lambda given: list(table.walk(given)), record, 8000)
