"""The strict JSON reader: refusals, exact values, and equality of documents."""

import json
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config.http.strict_json import MAX_DEPTH, InvalidJSON, content, read, spelling
from tests.cases import each_case

texts = st.text(st.characters(exclude_categories=["Cs"]))
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
documents = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=20,
)


def same_content(one: bytes, other: bytes) -> bool:
    return content(one) == content(other)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        pytest.param(b'{"a": "\xff"}', "not UTF-8", id="a byte that UTF-8 never has"),
        pytest.param(b'"\xed\xa0\x80"', "not UTF-8", id="a surrogate encoded as UTF-8"),
        pytest.param(b'"\xc0\x80"', "not UTF-8", id="an overlong NUL"),
        pytest.param('{"a": 1}'.encode("utf-16"), "not UTF-8", id="UTF-16"),
        pytest.param(b'\xef\xbb\xbf{"a": 1}', "BOM", id="a byte order mark"),
        pytest.param(b'{"a": 1, "a": 2}', '"a" appears twice', id="a key twice"),
        pytest.param(b'{"a": 1, "a": 1}', '"a" appears twice', id="a key twice with one value"),
        pytest.param(b'{"a": 1, "\\u0061": 2}', '"a" appears twice', id="a key twice, once escaped"),
        pytest.param(b'[{"x": {"y": [{"b": 1, "b": 2}]}}]', '"b" appears twice', id="a key twice, deep inside"),
        pytest.param(b"NaN", "NaN", id="NaN"),
        pytest.param(b'{"a": [NaN]}', "NaN", id="NaN inside"),
        pytest.param(b"Infinity", "Infinity", id="Infinity"),
        pytest.param(b'{"a": -Infinity}', "-Infinity", id="-Infinity"),
        pytest.param(b"1e400", "too large", id="a number no double holds"),
        pytest.param(b'{"a": -1e400}', "too large", id="a negative number no double holds"),
        pytest.param(b'{"a": "\x00"}', "control character", id="NUL as a raw byte"),
        pytest.param(b'{"a": "\n"}', "control character", id="a raw line break in a text"),
        pytest.param(b'"\\ud800"', "surrogate", id="the first half of a surrogate pair"),
        pytest.param(b'{"a": "x\\udc00"}', "surrogate", id="the second half of a surrogate pair"),
        pytest.param(b'{"\\udfff": 1}', "surrogate", id="half a surrogate pair in a key"),
        pytest.param(b'"\\udc00\\ud800"', "surrogate", id="a surrogate pair the wrong way round"),
        pytest.param(b"1" * 5000, "too many digits", id="an integer of 5,000 digits"),
        pytest.param(b'{"a": 1} x', "Extra data", id="text after the document"),
        pytest.param(b"{}{}", "Extra data", id="two documents"),
        pytest.param(b"", "Expecting value", id="nothing"),
        pytest.param(b"  \n", "Expecting value", id="white space alone"),
        pytest.param(b"{'a': 1}", "", id="single quotes"),
        pytest.param(b"[1,]", "", id="a trailing comma"),
        pytest.param(b"01", "", id="a leading zero"),
        pytest.param("1\u0663".encode(), "", id="a digit of another script"),
        pytest.param(b"[" * 5000 + b"]" * 5000, "nested deeper than 64 levels", id="5,000 levels"),
        pytest.param(b'{"a":' * 5000 + b"1" + b"}" * 5000, "nested deeper", id="5,000 levels of objects"),
    ],
)
@pytest.mark.parametrize("number", [float, Decimal])
def test_it_refuses(data, reason, number):
    with pytest.raises(InvalidJSON) as refusal:
        read(data, number=number)
    assert reason in refusal.value.reason


@pytest.mark.parametrize(
    "data", [b"1e-9999999999999999999", b"0e99999999999999999999", b"[1.5, -1E-99999999999999999999]"]
)
def test_an_exponent_beyond_every_number_type_is_refused_without_a_fault(data):
    with pytest.raises(InvalidJSON):
        read(data, number=Decimal)


@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"k":', b"}")])
def test_64_levels_are_accepted_and_65_are_not(opening, closing):
    inner = b"[]" if opening == b"[" else b"{}"
    assert read(opening * (MAX_DEPTH - 1) + inner + closing * (MAX_DEPTH - 1))
    with pytest.raises(InvalidJSON, match="64 levels"):
        read(opening * MAX_DEPTH + inner + closing * MAX_DEPTH)


def test_a_scalar_below_the_64th_level_is_not_a_level():
    assert read(b"[" * MAX_DEPTH + b"1" + b"]" * MAX_DEPTH)


def test_depth_is_counted_per_branch_not_over_the_whole_document():
    assert len(read(b"[" + b"[[1]]," * 500 + b"[[1]]]")) == 501


def test_brackets_inside_texts_are_not_levels():
    assert read(json.dumps("[{" * 500).encode()) == "[{" * 500


def refusal(data: bytes, **options: object) -> InvalidJSON:
    with pytest.raises(InvalidJSON) as raised:
        read(data, **options)
    return raised.value


def test_a_fault_has_its_offset():
    refused = refusal(b'{"a": 1, b}')
    assert (refused.position, refused.path) == (9, None)


@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"[{":', b"}")])
def test_too_deep_nesting_has_its_offset(opening, closing):
    for levels in (MAX_DEPTH + 1, 5000):
        refused = refusal(opening * levels + b"1" + closing * levels)
        assert (refused.position, refused.path) == (MAX_DEPTH * len(opening), None)


@each_case(
    ("data", "path"),
    [
        (b"1e400", ()),
        (b'{"events": {"x": [0, 1, 2, 1e400]}}', ("events", "x", 3)),
        (b'{"events": {"x": [0, 1, 2, -1e400]}, "y": 1e400}', ("events", "x", 3)),
        (b'[{"a": NaN}]', (0, "a")),
        (b'[{"a": -Infinity}]', (0, "a")),
        (b'{"n": [%s]}' % (b"1" * 5000), ("n", 0)),
        (b'{"n": 1e-9999999999}', ("n",)),
        (b'{"a": 1, "b": [{"c": 1, "d": 2, "\\u0063": 3}]}', ("b", 0, "c")),
        (b'{"a": 1, "a": 1e400}', ("a",)),
        (b'{"a": {"b": "\\ud800"}}', ("a", "b")),
        (b'{"a": {"\\ud800": "b"}}', ("a",)),
    ],
)
@each_case("kinds", [{}, {"number": Decimal}, {"number": spelling, "integer": spelling}])
def test_a_refused_value_has_its_path(data, path, kinds):
    assert refusal(data, **kinds).path == path


def test_bytes_that_are_not_json_after_a_refused_value_have_their_offset():
    refused = refusal(b'{"a": 1e400, b}')
    assert (refused.position, refused.path) == (13, None)


@pytest.mark.parametrize("data", [b'{"a": "\\u0000"}', b'{"\\u0000": 1}', b'[{"a": [["\\u0000"]]}]'])
def test_nul_is_accepted_unless_it_is_refused(data):
    assert read(data) == json.loads(data)
    assert "NUL" in refusal(data, nul=False).reason


@pytest.mark.parametrize(
    ("data", "path"), [(b'{"a": ["\\u0000"]}', ("a", 0)), (b'{"a": {"\\u0000": 1}}', ("a",)), (b'"\\u0000"', ())]
)
def test_a_refused_nul_has_its_path(data, path):
    assert refusal(data, nul=False).path == path


@pytest.mark.parametrize("data", [b'"\\\\u0000"', b'"\\\\ud800"'])
def test_an_escaped_backslash_does_not_begin_an_escape(data):
    assert read(data, nul=False) == json.loads(data)


def test_a_refusal_does_not_repeat_values():
    for data in (
        b'{"a": "secret", "a": 1}',
        b'{"a": "secret\\ud800"}',
        b'{"a": "secret"',
        b'{"secret": NaN}',
    ):
        with pytest.raises(InvalidJSON) as refusal:
            read(data)
        assert "secret" not in refusal.value.reason


def test_a_surrogate_pair_and_a_raw_character_beyond_the_first_plane_are_one_text():
    assert read(b'"\\ud83d\\ude00"') == read('"\U0001f600"'.encode()) == "\U0001f600"


@pytest.mark.parametrize("number", [2**53 + 1, -(2**53) - 1, 2**64, 10**300 + 7, int("9" * 4000)])
def test_integers_beyond_2_53_are_exact(number):
    assert read(b'{"n": %d}' % number) == {"n": number}


def test_with_decimal_no_digit_of_a_fraction_is_lost():
    assert read(b"0.10000000000000000000000000000000000001", number=Decimal) == Decimal(
        "0.10000000000000000000000000000000000001"
    )


@given(documents)
def test_every_ordinary_document_is_read_as_the_standard_library_reads_it(document):
    for ensure_ascii in (True, False):
        text = json.dumps(document, ensure_ascii=ensure_ascii)
        assert read(text.encode()) == json.loads(text) == document


@given(st.binary(max_size=60) | st.text('{}[]",:0123456789eE.-+\\u truefalsn\n', max_size=40).map(str.encode))
@settings(max_examples=400)
def test_whatever_it_accepts_equals_what_the_standard_library_reads(data):
    try:
        document = read(data)
    except InvalidJSON:
        return
    assert document == json.loads(data)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(b'{"a": 1, "b": 2}', b'{"b": 2, "a": 1}', id="key order"),
        pytest.param(b'{"x": {"a": 1, "b": 2}}', b'{"x": {"b": 2, "a": 1}}', id="key order inside"),
        pytest.param(b'{"a":1}', b' {\r\n\t"a" : 1 } ', id="white space"),
        pytest.param('{"é": "ß/"}'.encode(), b'{"\\u00e9": "\\u00df\\/"}', id="escapes"),
        pytest.param(b"[1.50]", b"[1.5]", id="1.50 and 1.5"),
        pytest.param(b"[1.5]", b"[15e-1]", id="1.5 and 15e-1"),
        pytest.param(b"[1.5]", b"[0.15E+1]", id="1.5 and 0.15E+1"),
        pytest.param(b"[1.0]", b"[1]", id="1.0 and 1"),
        pytest.param(b"[1E+2]", b"[100]", id="1E+2 and 100"),
        pytest.param(b"[0]", b"[0.0]", id="0 and 0.0"),
        pytest.param(b"[1e22]", b"[10000000000000000000000]", id="1e22 and its digits"),
        pytest.param(b"[0, -0, 0e5]", b"[-0.0, 0, 0E-9]", id="every zero"),
        pytest.param(b'["\\u0000"]', b'[ "\\u0000" ]', id="a text with NUL"),
    ],
)
def test_content_does_not_depend_on_its_spelling(one, other):
    assert same_content(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(b"[0.1]", b"[0.10000000000000000001]", id="a digit beyond a double"),
        pytest.param(b"[9007199254740993]", b"[9007199254740992]", id="an integer beyond a double"),
        pytest.param(b"[9007199254740993.0]", b"[9007199254740992.0]", id="the same, written as fractions"),
        pytest.param(b"[1e-400]", b"[0]", id="a number smaller than every double, and zero"),
        pytest.param(b"[1e-400]", b"[2e-400]", id="two numbers smaller than every double"),
        pytest.param(b"[1e-999999999]", b"[2e-999999999]", id="two numbers of a very small exponent"),
        pytest.param(b"[1.5]", b'["1.5"]', id="a number and its text"),
        pytest.param(b"[1]", b'["1"]', id="an integer and its text"),
        pytest.param(b"[1.5]", b'["\\u00001.5"]', id="a number and a text that begins with NUL"),
        pytest.param(b"[1.5]", b'["\\\\ud8001.5"]', id="a number and the text of its inner spelling"),
        pytest.param(b'["\\u0000"]', b'[""]', id="NUL and nothing"),
        pytest.param(b'["\\u0000"]', b'["\\\\u0000"]', id="NUL and its escape as a text"),
        pytest.param(b'{"a\\u0000": 1}', b'{"a": 1}', id="NUL in a key"),
        pytest.param(b"[1]", b"[true]", id="1 and true"),
        pytest.param(b"[0]", b"[false]", id="0 and false"),
        pytest.param(b"[null]", b'["null"]', id="null and its text"),
        pytest.param(b"[1, 2]", b"[2, 1]", id="the order of a list"),
        pytest.param(b"{}", b"[]", id="an empty object and an empty list"),
        pytest.param(b'{"a": null}', b"{}", id="null and absent"),
        pytest.param('"é"'.encode(), '"e\u0301"'.encode(), id="a letter and its decomposition"),
    ],
)
def test_content_differs(one, other):
    assert not same_content(one, other)


def shuffled(document: object, order: st.DataObject) -> object:
    if isinstance(document, dict):
        keys = order.draw(st.permutations(list(document)))
        return {key: shuffled(document[key], order) for key in keys}
    if isinstance(document, list):
        return [shuffled(item, order) for item in document]
    return document


@given(documents, st.data())
def test_key_order_white_space_and_escapes_never_make_a_difference(document, data):
    respelled = json.dumps(shuffled(document, data), ensure_ascii=data.draw(st.booleans()), indent=2)
    assert same_content(json.dumps(document, ensure_ascii=False).encode(), respelled.encode())


def exact(node: object) -> object:
    """Return a document in a form that Python compares by JSON's rules: 1 is not true, 1 is 1.0."""
    if isinstance(node, dict):
        return {key: exact(value) for key, value in node.items()}
    if isinstance(node, list):
        return [exact(item) for item in node]
    return (isinstance(node, bool), node)


@given(documents, documents)
def test_canonical_bytes_are_equal_exactly_when_the_contents_are(one, other):
    spelled = [json.dumps(document).encode() for document in (one, other)]
    read_back = [exact(read(data, number=Decimal)) for data in spelled]
    assert same_content(*spelled) == (read_back[0] == read_back[1])


@given(
    st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**300), max_value=10**300),
    st.integers(0, 30),
)
def test_trailing_zeros_of_a_fraction_never_make_a_difference(number, zeros):
    plain = f"{number:f}"
    padded = plain + ("" if "." in plain else ".0") + "0" * zeros
    assert same_content(plain.encode(), padded.encode())


@given(
    st.from_regex(r"-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,2})?", fullmatch=True),
    st.from_regex(r"-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,2})?", fullmatch=True),
)
def test_numbers_are_compared_by_their_exact_value(one, other):
    assert same_content(one.encode(), other.encode()) == (Decimal(one) == Decimal(other))
