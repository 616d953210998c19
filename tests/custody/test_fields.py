"""The fields commitment: its leaves, and proofs of single fields without the others."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config.http import strict_json
from custody.sealing import field_paths, fields, merkle
from custody.sealing.fields import Disclosure, Leaf

SALT_KEY = bytes(range(32))

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=15
)
documents = st.dictionaries(texts, values, max_size=5)
a_few = settings(max_examples=40)  # each has many fields


def leaves_of(text: str) -> dict[str, str]:
    assert strict_json.read(text.encode()) is not None
    return dict(fields.leaves(text.encode()))


@pytest.mark.parametrize(
    "spelling",
    ["0.920", "1E+2", "1e-7", "-0", "-0.0", "9007199254740993", "12345678901234567890123456789", "0.1000", "true",
     "false", "null", '"plain"', '""', '"é"', '"\\u00e9"', '"a\\/b"', '"\\ud83d\\ude00"', '"line\\nbreak"', '"\\""',
     '"\\u0000"', '"\\\\"', '"1.5"', '"null"', '"שלום"'],
)  # fmt: skip
@pytest.mark.parametrize("neighbour", ['"without escapes"', '"with \\u0041 escape"'])
def test_a_leaf_keeps_the_spelling_of_the_payload(spelling, neighbour):
    for text in (f'{{"a": {spelling}, "b": {neighbour}}}', f'{{"b":{neighbour},"a"\n:\t{spelling}\r\n}}'):
        assert leaves_of(text) == {"a": spelling, "b": neighbour}


def test_a_spelling_with_escapes_differs_from_one_without():
    assert fields.leaves(b'{"a": "\\u00e9"}') != fields.leaves('{"a": "é"}'.encode())


def test_paths_are_dotted_and_list_items_go_by_index():
    text = '{"events": {"scoring": {"score": 71}}, "outcome": {"reasons": [{"code": "A"}, "b", ["c"]]}}'
    assert leaves_of(text) == {
        "events.scoring.score": "71",
        "outcome.reasons.0.code": '"A"',
        "outcome.reasons.1": '"b"',
        "outcome.reasons.2.0": '"c"',
    }


@pytest.mark.parametrize(
    ("key", "segment"),
    [
        ("plain", "plain"),
        ("with space", "with space"),
        ("größe", "größe"),
        ("dotted.key", '"dotted.key"'),
        ("", '""'),
        ('quo"te', '"quo\\"te"'),
        ("line\nbreak", '"line\\nbreak"'),
        ("nul\x00", '"nul\\u0000"'),
        ("back\\slash", "back\\slash"),
        ("0", "0"),
    ],
)
def test_an_ambiguous_key_is_quoted(key, segment):
    assert leaves_of(json.dumps({key: 1})) == {segment: "1"}
    assert leaves_of(json.dumps({"a": {key: {"b": 1}}})) == {f"a.{segment}.b": "1"}


def test_a_dotted_key_and_a_nested_one_have_different_paths():
    assert leaves_of('{"a.b": 1, "a": {"b": 2}}') == {'"a.b"': "1", "a.b": "2"}


def test_an_escaped_key_has_the_path_of_its_meaning():
    assert leaves_of('{"\\u0061": 1}') == {"a": "1"}


@pytest.mark.parametrize("text", ["{}", '{"a": {}}', '{"a": []}', '{"a": {"b": [{}, []]}}'])
def test_an_empty_container_gives_no_leaf_and_no_leaf_gives_the_root_of_nothing(text):
    assert leaves_of(text) == {}
    assert fields.commitment(fields.leaves(text.encode()), SALT_KEY) == merkle.EMPTY_ROOT


def test_leaves_are_in_the_order_of_their_paths_code_points():
    paths = [path for path, _ in fields.leaves('{"b": 1, "a": {"é": 1, "z": 2, "\U0001f600": 3}, "Z": 4}'.encode())]
    assert paths == ["Z", "a.z", "a.é", "a.\U0001f600", "b"]


def test_the_order_of_keys_in_the_payload_does_not_change_the_commitment():
    one, other = (fields.leaves(text) for text in (b'{"a": 1, "b": {"c": 2}}', b'{"b":{"c":2},"a":1}'))
    assert fields.commitment(one, SALT_KEY) == fields.commitment(other, SALT_KEY)


@st.composite
def spelled_texts(draw: st.DrawFn) -> str:
    """Draw a JSON text with each character escaped or not, with adjacent quotes and backslashes."""
    characters = draw(
        st.lists(st.sampled_from('"\\\\/:{}[],\x01\x02\n aé😀') | st.characters(exclude_categories=["Cs"]))
    )
    spelled = [
        draw(st.sampled_from([json.dumps(character), json.dumps(character, ensure_ascii=False)]))[1:-1]
        for character in characters
    ]
    return f'"{"".join(spelled)}"'


space = st.sampled_from(["", " ", "\n\t"])


@given(st.data(), st.lists(spelled_texts(), max_size=6, unique_by=json.loads))
@a_few
def test_a_text_keeps_its_spelling_however_it_is_escaped(data, keys):
    spelled = {key: data.draw(spelled_texts() | st.sampled_from(["1.50", "true", "[]", "null"])) for key in keys}
    members = [f"{key}{data.draw(space)}:{data.draw(space)}{value}" for key, value in spelled.items()]
    expected = {field_paths.segment(json.loads(key)): value for key, value in spelled.items() if value != "[]"}
    assert leaves_of(f"{{{data.draw(space)}{f',{data.draw(space)}'.join(members)}}}") == expected


def scalars_in(node: object) -> int:
    if isinstance(node, dict):
        return sum(scalars_in(value) for value in node.values())
    return sum(map(scalars_in, node)) if isinstance(node, list) else 1


@given(documents, st.booleans())
def test_every_scalar_has_one_leaf_and_every_path_is_unique(document, ensure_ascii):
    leaves = fields.leaves(json.dumps(document, ensure_ascii=ensure_ascii).encode())
    assert len({path for path, _ in leaves}) == len(leaves) == scalars_in(document)


@given(documents, st.booleans())
def test_a_leaf_reads_as_the_value_at_its_path(document, ensure_ascii):
    for path, spelling in fields.leaves(json.dumps(document, ensure_ascii=ensure_ascii).encode()):
        value, remaining = document, path
        while remaining:
            segment, remaining = next_segment(remaining)
            value = value[int(segment)] if isinstance(value, list) else value[segment]
        assert json.loads(spelling) == value


def next_segment(path: str) -> tuple[str, str]:
    """Read a path, independently of the writer."""
    if path.startswith('"'):
        segment, end = json.JSONDecoder().raw_decode(path)
        return segment, path[end + 1 :]
    segment, _, remaining = path.partition(".")
    return segment, remaining


@st.composite
def disclosures(draw: st.DrawFn) -> tuple[list[Leaf], list[Disclosure], bytes]:
    """Draw leaves of a document, proofs of some of them, and the root they belong to."""
    document = draw(documents.filter(scalars_in))
    leaves = fields.leaves(json.dumps(document).encode())
    chosen = draw(st.lists(st.sampled_from([path for path, _ in leaves]), min_size=1, unique=True))
    return leaves, fields.disclose(leaves, SALT_KEY, chosen), fields.commitment(leaves, SALT_KEY)


@a_few
@given(disclosures())
def test_a_disclosure_of_any_subset_verifies(example):
    leaves, shown, root = example
    assert all(disclosure.verifies(root=root, count=len(leaves)) for disclosure in shown)


@pytest.mark.slow
@a_few
@given(disclosures(), texts)
def test_an_altered_value_path_or_salt_does_not_verify(example, other):
    leaves, shown, root = example
    for disclosure in shown:
        path, spelling = disclosure.leaf
        for leaf in ((path, spelling + " "), (path + "x", spelling), (path, json.dumps(other + spelling))):
            changed = Disclosure(leaf, disclosure.salt, disclosure.index, disclosure.audit_path)
            assert not changed.verifies(root=root, count=len(leaves))
        salt = bytes([disclosure.salt[0] ^ 1]) + disclosure.salt[1:]
        assert not Disclosure(disclosure.leaf, salt, disclosure.index, disclosure.audit_path).verifies(
            root=root, count=len(leaves)
        )


def test_a_path_cannot_begin_in_the_salt():
    leaves = fields.leaves(b'{"events": {"score": 1}, "other": 2}')
    root = fields.commitment(leaves, SALT_KEY)
    (shown,) = fields.disclose(leaves, SALT_KEY, ["events.score"])
    shorter = Disclosure(("score", "1"), shown.salt + b"events.", shown.index, shown.audit_path)
    assert shown.verifies(root=root, count=2)
    assert not shorter.verifies(root=root, count=2)


@pytest.mark.slow
@a_few
@given(disclosures())
def test_a_disclosure_contains_no_salt_of_another_field(example):
    """Without its salt, a field's hash in an audit path reveals nothing about its value."""
    leaves, shown, _ = example
    everything = fields.disclose(leaves, SALT_KEY, [path for path, _ in leaves])
    for one in shown:
        given_away = one.salt + "\0".join(one.leaf).encode() + b"".join(one.audit_path)
        assert not any(other.salt in given_away for other in everything if other.index != one.index)


def test_salts_differ_between_fields_and_between_records():
    leaves = fields.leaves(b'{"a": 1, "b": 1, "c": 1}')
    here = fields.disclose(leaves, SALT_KEY, ["a", "b", "c"])
    elsewhere = fields.disclose(leaves, bytes(32), ["a", "b", "c"])
    assert len({disclosure.salt for disclosure in [*here, *elsewhere]}) == 6
    assert all(len(disclosure.salt) == 32 for disclosure in here)


@pytest.mark.parametrize("path", ["missing", "a", "a.b.c", ""])
def test_a_path_without_a_scalar_is_named(path):
    with pytest.raises(KeyError) as missing:
        fields.disclose(fields.leaves(b'{"a": {"b": 1}}'), SALT_KEY, ["a.b", path])
    assert missing.value.args == (path,)
