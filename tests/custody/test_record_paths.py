"""Paths of a record's fields: each has one spelling and leads back to its field."""

import pytest
from hypothesis import given

from custody.sealing.field_paths import NoSuchField, children, key_in, keys, scalars, segment
from tests.custody.test_fields import documents


def value_at(document: object, path: str) -> object:
    for key in keys(path):
        document = document[key_in(document, key)]
    return document


@given(documents)
def test_every_path_leads_back_to_its_scalar(document):
    for path, value in scalars(document):
        assert value_at(document, path) is value


@given(documents)
def test_a_path_s_keys_are_spelled_as_in_the_record(document):
    for path, _ in scalars(document):
        assert ".".join(map(segment, keys(path))) == path


def test_children_are_in_the_record_s_order_with_their_segments():
    assert list(children({"b": 1, "a.b": 2, "": 3})) == [("b", 1), ('"a.b"', 2), ('""', 3)]
    assert list(children(["x", None])) == [("0", "x"), ("1", None)]


@pytest.mark.parametrize("path", [".", "a.", ".a", "a..b", '"', '"a', '"a"b', 'a"b"', '"\\q"', '"a" '])
def test_an_invalid_path_has_no_keys(path):
    with pytest.raises(NoSuchField):
        keys(path)


@pytest.mark.parametrize(
    ("container", "key"),
    [({"a": 1}, "b"), ([1], "1"), ([1], "-1"), ([1], "a"), ([1], "9" * 5000), ("text", "0"), (None, "a"), ([1], "²")],
)
def test_a_missing_field_has_no_key(container, key):
    with pytest.raises(NoSuchField):
        key_in(container, key)
