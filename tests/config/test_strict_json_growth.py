"""Reading JSON takes linear time and memory for every document up to the limit of a body."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config.http import strict_json
from config.http.strict_json import MAX_BYTES, read, spelling
from tests.growth import assert_linear

PATTERNS = {
    "a list of zeros": (b"[", b"0,", b"0]"),
    "empty lists": (b"[", b"[],", b"0]"),
    "deep lists": (b"[", b"[" * 62 + b"]" * 62 + b",", b"0]"),
    "large numbers": (b"[", b"1e308,", b"0]"),
    "numbers of many digits": (b"[", b"9" * 4000 + b",", b"0]"),
    "zeros with an exponent": (b"[", b"0e999999999,", b"0]"),
    "one fraction of many digits": (b"[0.", b"1", b"]"),
    "escapes": (b'["', b"\\u0041", b'"]'),
    "NUL": (b'["', b"\\u0000", b'"]'),
    "surrogate pairs": (b'["', b"\\ud83d\\ude00", b'"]'),
    "texts with escapes": (b"[", b'"\\n",', b"0]"),
    "one key again and again": (b"{", b'"a":1,', b'"b":1}'),
    "a number that is refused at the end": (b"[", b"0,", b"1e400]"),
    "the same, deep inside": (b"[" * 60, b"0,", b"1e400" + b"]" * 60),
    "a text that never ends": (b'["', b'\\"', b""),
    "levels without an end": (b"", b"[", b""),
    "texts behind too many levels": (b"[" * 1000 + b'"', b'\\"', b""),
}


def document(pattern: tuple[bytes, bytes, bytes], size: int) -> bytes:
    first, again, last = pattern
    return first + again * (size // len(again)) + last


# Records and bodies are read like contents, except for numbers, and in bodies NUL.
NUMBERS = [name for name in PATTERNS if "number" in name or "zeros" in name or "digits" in name]
NUMBERS.append("the same, deep inside")
ESCAPES = [name for name in PATTERNS if "escapes" in name or name in ("NUL", "surrogate pairs")]


def record(data: bytes) -> object:
    return read(data, number=spelling, integer=spelling)


def body(data: bytes) -> object:
    return read(data, nul=False)


READERS = [
    *((strict_json.content, name) for name in PATTERNS),
    *((record, name) for name in NUMBERS),
    *((body, name) for name in NUMBERS + ESCAPES),
]


@pytest.mark.slow
@pytest.mark.parametrize(("reader", "name"), READERS)
def test_reading_grows_as_the_document_does(reader, name):
    assert_linear(reader, lambda size: document(PATTERNS[name], size), MAX_BYTES // 8)


@settings(max_examples=25, deadline=None)
@given(st.text('{}[]",:01eE.-+\\u0dD8 tn', min_size=1, max_size=8), st.sampled_from(["", "[", '"', '["', "{"]))
def test_reading_grows_as_the_document_does_whatever_is_repeated(pattern, first):
    assert_linear(strict_json.content, lambda size: document((first.encode(), pattern.encode(), b""), size), 100_000)
