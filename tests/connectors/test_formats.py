"""Formats: items are cut out of source data byte for byte, within bounds of memory and time."""

import gzip
import json
import os
import tracemalloc
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors import formats
from connectors.formats import items, items_at, values_at
from connectors.formats.compression import BadGzip, expanded
from connectors.formats.scanner import array_items
from tests.connectors.bombs import bomb
from tests.growth import assert_linear

pytestmark = pytest.mark.once

MIB = 2**20
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
space = st.text(" \t\r\n", max_size=3)


@st.composite
def arrays(draw):
    """Draw the text of an array and the texts of its items."""
    drawn = draw(st.lists(values, max_size=6))
    ascii_only, indent = draw(st.booleans()), draw(st.sampled_from([None, 1]))
    texts = [json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode() for value in drawn]
    spaced = [draw(space).encode() + text + draw(space).encode() for text in texts]
    whole = draw(space).encode() + b"[" + b",".join(spaced) + (b"" if texts else b" ") + b"]" + draw(space).encode()
    return whole, texts


def chunks(data, size):
    return [data[start : start + size] for start in range(0, len(data), size)]


def raw(parsed):
    return [item.raw for item in parsed]


@given(arrays(), st.integers(1, 40))
def test_every_item_of_an_array_is_a_slice_of_it_and_says_the_same(made, size):
    whole, texts = made
    cuts = list(array_items(chunks(whole, size), longest=MIB))
    assert [cut.raw for cut in cuts] == texts
    assert not any(cut.problem for cut in cuts)
    assert [json.loads(cut.raw) for cut in cuts] == json.loads(whole)


@given(st.binary(max_size=200), st.integers(1, 20))
def test_no_bytes_break_the_cutter_and_how_they_arrive_makes_no_difference(data, size):
    once = list(array_items([b"[" + data], longest=50))
    assert list(array_items(chunks(b"[" + data, size), longest=50)) == once
    assert list(items([data], "auto", "x")) is not None


@given(st.dictionaries(st.text(), values, max_size=5))
def test_a_pointer_leads_to_the_bytes_of_its_value(document):
    text = json.dumps(document).encode()
    for key, value in document.items():
        pointer = "/" + key.replace("~", "~0").replace("/", "~1")
        pointed = values_at(text, [pointer])[pointer]
        assert pointed in text
        assert json.dumps(json.loads(pointed)) == json.dumps(value)
    assert values_at(text, [""]) == {"": text}


def test_numbers_keys_and_spaces_keep_their_bytes():
    first, second = b'{"n": 1.50, "big":12345678901234567890123,\n "n2" : 1e2}', b'{"u":"\\u00e9",  "a":[ ]}'
    assert raw(items([b"[ " + first + b" ,\n" + second + b"]\n"], "array", "x")) == [first, second]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"[]", []),
        (b"  [ ] ", []),
        (b"", []),
        (b"[1,]", [(b"1", ""), (b"", "")]),
        (b'[{"a":1},{"b":', [(b'{"a":1}', ""), (b'{"b":', "without its closing")]),
        (b'[{"a":1}] x', [(b'{"a":1}', ""), (b"x", "follows")]),
        (b'{"a":1}', [(b'{"a":1}', "Not a JSON array")]),
        (b'["]",",[{",{"a":"\\"]"}]', [(b'"]"', ""), (b'",[{"', ""), (b'{"a":"\\"]"}', "")]),
        (b'\xef\xbb\xbf[{"a":1}]', [(b'{"a":1}', "")]),
    ],
)
def test_a_fault_of_an_array_is_an_item_with_a_problem(text, expected):
    parsed = list(items([text], "array", "x"))
    assert [item.raw for item in parsed] == [text for text, _ in expected]
    assert all(problem in item.problem for item, (_, problem) in zip(parsed, expected, strict=True))
    assert [bool(item.problem) for item in parsed] == [bool(problem) for _, problem in expected]


def test_a_broken_line_costs_that_line_alone():
    parsed = items([b'{"a":1}\n{"b":\n\n{"c":3}\r\n{"d"'], "auto", "day.ndjson")
    assert raw(parsed) == [b'{"a":1}', b'{"b":', b'{"c":3}', b'{"d"']


def test_the_format_is_recognised():
    spread = json.dumps({"a": {"b": 1}}, indent=2).encode()
    assert raw(items([spread], "auto", "x.json")) == [spread]
    assert raw(items([b'{"a":1}\n{"b":2}'], "auto", "x.json")) == [b'{"a":1}', b'{"b":2}']
    assert raw(items([b' [{"a":1}]'], "auto", "x")) == [b'{"a":1}']
    assert raw(items([gzip.compress(b'[{"a":1},{"b":2}]')], "opa", "x.gz")) == [b'{"a":1}', b'{"b":2}']


def test_items_have_positions_and_reading_can_start_at_any_item():
    parsed = list(items([b'{"a":1}\n{"b":2}\n{"c":3}'], "ndjson", "day.ndjson", first=2))
    assert [(item.position, item.origin) for item in parsed] == [
        ("day.ndjson, item 2", "day.ndjson"),
        ("day.ndjson, item 3", "day.ndjson"),
    ]


def test_an_item_over_the_limit_is_cut_off_and_the_next_one_comes():
    long = b'{"a":"' + b"x" * 3 * MIB + b'"}'
    for text, format in ((b"[" + long + b',{"b":2}]', "array"), (long + b'\n{"b":2}', "ndjson")):
        first, second = items(chunks(text, 65536), format, "x")
        assert first.problem
        assert len(first.raw) <= MIB
        assert (second.raw, second.problem) == (b'{"b":2}', "")


def test_gzip_of_several_members_and_padding_is_one_text():
    packed = gzip.compress(b'{"a":1}\n') + gzip.compress(b'{"b":2}\n') + b"\0" * 100
    for size in (1, 7, 10_000):
        assert raw(items(chunks(packed, size), "ndjson", "x")) == [b'{"a":1}', b'{"b":2}']


@pytest.mark.parametrize("damage", [lambda p: p[:-12], lambda p: p[:40] + b"!!!!" + p[44:]], ids=["cut", "changed"])
def test_damaged_gzip_is_a_problem_and_what_came_before_it_is_kept(damage):
    packed = gzip.compress(b"\n".join(b'{"n":%d,"r":"%s"}' % (n, os.urandom(9).hex().encode()) for n in range(5000)))
    parsed = list(items(chunks(damage(packed), 1000), "ndjson", "x"))
    assert "compressed bytes" in parsed[-1].problem


def test_a_gzip_bomb_stops_before_it_takes_memory_or_time():
    pieces: list[int] = []
    with pytest.raises(BadGzip, match="expands"):
        pieces.extend(map(len, expanded(chunks(bomb(300), 65536))))
    assert max(pieces) <= MIB
    assert sum(pieces) < 100 * MIB  # this bounds the time, too


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit", [b'"' + b"a" * 50_000 + b'",', b"[" * 100 + b"]" * 100 + b",", b'{"a":"\\\\\\""},', b'"', b"\\", b"{"]
)
def test_the_time_grows_with_the_bytes_alone(unit):
    def read(text):
        for _ in array_items(chunks(text, 256), longest=MIB):
            pass

    assert_linear(read, lambda size: b"[" + (unit * (size // len(unit) + 1))[:size], 200_000)


def test_the_array_of_an_answer_is_found_by_a_pointer():
    page = b'{"next": "abc", "data": {"rows": [ {"a":1.0} , {"b":"]"} ]}}'
    assert raw(items_at(page, "/data/rows", "page 1")) == [b'{"a":1.0}', b'{"b":"]"}']
    assert items_at(page, "/data", "page 1") is None
    assert items_at(page, "/nothing", "page 1") is None
    assert raw(items_at(b'[{"a":1}]', "", "page 1")) == [b'{"a":1}']


def endless(unit, limit, start=b""):
    """Yield chunks without end, and fail once `limit` bytes were read."""
    yield start
    for _ in range(0, limit, MIB):
        yield unit * (MIB // len(unit))
    pytest.fail(f"{limit} bytes were read")


@pytest.mark.slow
@pytest.mark.parametrize("unit", [b"\0", b"\n\n" + b" " * 62, b" "])
@pytest.mark.parametrize(
    ("format", "start", "good"),
    [
        ("ndjson", b'{"a":1}\n', 1),
        ("ndjson", b"", 0),
        ("auto", b"", 0),
        ("array", b"[1,2,", 2),
        ("array", b"[1,2]", 2),
        ("array", b"", 0),
        ("json", b"", 0),
    ],
)
def test_endless_data_is_one_bad_item_and_is_read_no_further(monkeypatch, unit, format, start, good):
    monkeypatch.setattr(formats, "MAX_BARREN_BYTES", 2 * MIB)
    parsed = list(items(endless(unit, 4 * MIB, start), format, "x"))
    assert [bool(item.problem) for item in parsed] == [False] * good + [True]
    again = items(endless(unit, 4 * MIB, start), format, "x", first=len(parsed) + 1)
    assert list(again) == []  # the bad item does not come twice


def test_a_long_line_costs_that_line_alone_however_long_it_is():
    tracemalloc.start()
    try:
        parsed = list(items(iter([b'{"a":1}\n', *[b"\0" * MIB] * 40, b'\n{"a":2}\n']), "ndjson", "x"))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [bool(item.problem) for item in parsed] == [False, True, False]
    assert peak < 8 * MIB


def test_a_line_that_begins_with_too_many_blanks_is_a_bad_item():
    (item,) = items([b" " * 2 * MIB + b'{"a":1}\n'], "ndjson", "x")
    assert item.problem


@pytest.mark.parametrize("format", ["ndjson", "json"])
@pytest.mark.parametrize("second", [b'{"decision_id": "b"}', b"]"])
def test_data_after_a_mebibyte_of_blanks_is_a_bad_item(format, second):
    text = b'{"decision_id": "a"}' + b" " * MIB + second
    (item,) = items(chunks(text, 64_000), format, "x")
    assert item.problem


@pytest.mark.parametrize("unit", [b"\0", gzip.compress(b"", mtime=0)])
def test_data_that_expands_to_nothing_is_read_no_further(monkeypatch, unit):
    monkeypatch.setattr("connectors.formats.compression.MAX_IDLE_BYTES", 4 * MIB)
    *good, bad = items(endless(unit, 8 * MIB, gzip.compress(b'{"a":1}\n')), "ndjson", "x")
    assert raw(good) == [b'{"a":1}']
    assert bad.problem


@pytest.mark.parametrize("content", [b"", b"1\n"])
def test_members_are_not_copied_again_for_each_that_came_before(monkeypatch, content):
    data = gzip.compress(content, mtime=0) * (2**18 // 20)
    looked_at = 0

    class Counting:
        def __init__(self, wbits):
            self.real = real(wbits=wbits)

        def __getattr__(self, name):
            return getattr(self.real, name)

        def decompress(self, given, limit):
            nonlocal looked_at
            looked_at += len(given)
            return self.real.decompress(given, limit)

    real = zlib.decompressobj
    monkeypatch.setattr(zlib, "decompressobj", Counting)
    assert b"".join(expanded([data])) == content * (2**18 // 20)
    assert looked_at < 50 * len(data)


@pytest.mark.parametrize("size", [1, 7, 4096, 10**9])
def test_however_gzip_arrives_it_expands_to_the_same(size):
    text = os.urandom(3000) + b"a" * 3 * MIB
    data = b"".join(gzip.compress(part, mtime=0) for part in (text, b"", text[:10])) + b"\0" * 600
    assert b"".join(expanded(chunks(data, size))) == text + text[:10]
