"""Field maps: they make a record of an item of another shape, with the exact bytes of the item in it."""

import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from connectors.maps import OPA, FieldMap, Unmapped, record_of

pytestmark = pytest.mark.once

LOANS = FieldMap(
    fields={"decision_id": "/request/id", "outcome.action": "/result", "decided_at": "/at"},
    constants={"system.name": "loans", "system.version": "2"},
)


def test_the_record_has_the_mapped_fields_and_the_item_verbatim():
    item = b'{"result":"deny", "request": {"id": "a-1","amount":1.50}}'
    record = record_of(item, LOANS)
    assert record.endswith(b'"original":' + item + b"}")
    assert json.loads(record) == {
        "decision_id": "a-1",
        "outcome": {"action": "deny"},
        "system": {"name": "loans", "version": "2"},
        "original": json.loads(item),
    }


def test_a_number_becomes_an_id_of_the_same_digits():
    item = b'{"request": {"id": 12345678901234567890123}}'
    assert json.loads(record_of(item, LOANS))["decision_id"] == "12345678901234567890123"


@pytest.mark.parametrize(
    ("item", "sentence"),
    [
        (b"{", "Invalid JSON"),
        (b"[1]", "Not a JSON object"),
        (b'{"request": 1}', "nothing at /request/id"),
        (b'{"request": {"id": null}}', "nothing at /request/id"),
        (b'{"request": {"id": {"x": 1}}}', "neither a text nor a number"),
        (b'{"private name": 1, "private name": 2}', "a key appears twice"),
    ],
)
def test_an_item_without_an_id_makes_no_record(item, sentence):
    with pytest.raises(Unmapped) as refused:
        record_of(item, LOANS)
    assert sentence in refused.value.sentence
    assert "private" not in refused.value.sentence


@pytest.mark.parametrize(
    "wrong",
    [
        {"fields": {}},
        {"fields": {"decision_id": "id"}},
        {"fields": {"decision_id": "/id", "a": "/a", "a.b": "/b"}},
        {"fields": {"decision_id": "/id", "original": "/a"}},
        {"fields": {"decision_id": "/id"}, "constants": {"decision_id": 1}},
        {"fields": {"decision_id": "/id" * 20}},
        {"fields": {"decision_id": "/id"}, "else": 1},
    ],
)
def test_a_map_that_cannot_work_is_refused(wrong):
    with pytest.raises(ValidationError):
        FieldMap.model_validate(wrong)


def test_an_event_of_open_policy_agent_tells_what_and_when():
    event = b'{"decision_id":"x","timestamp":"2026-01-02T03:04:05.678901234Z","path":"credit/allow","result":true}'
    assert json.loads(record_of(event, OPA))["system"] == {"name": "credit/allow"}


@given(st.dictionaries(st.text(min_size=1), st.integers() | st.text() | st.lists(st.text())), st.text(min_size=1))
def test_the_record_has_the_exact_bytes_of_any_item(document, identity):
    item = json.dumps({**document, "id": identity}).encode()
    record = record_of(item, FieldMap(fields={"decision_id": "/id"}))
    assert json.loads(record) == {"decision_id": identity, "original": json.loads(item)}
    assert item in record


@pytest.mark.parametrize("fields", [{f"x{n}": "" for n in range(63)}, {}])
def test_a_record_larger_than_a_record_may_be_is_refused_before_it_is_made(fields):
    item = b'{"id":"a-1","x":"%s"}' % (b"x" * (2**20 - 22))
    assert len(item) <= 2**20
    tracemalloc.start()
    try:
        with pytest.raises(Unmapped, match="larger than 1 MiB"):
            record_of(item, FieldMap(fields={"decision_id": "/id", **fields}))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * 2**20


def test_a_record_may_be_as_large_as_any():
    overhead = len(record_of(b'{"id":"a-1","x":""}', FieldMap(fields={"decision_id": "/id"})))
    item = b'{"id":"a-1","x":"%s"}' % (b"x" * (2**20 - overhead))
    assert len(record_of(item, FieldMap(fields={"decision_id": "/id"}))) == 2**20
