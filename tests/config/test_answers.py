"""Answers read from objects."""

from types import SimpleNamespace

import pytest
from pydantic import Field, ValidationError

from config.http.json_responses import dump
from config.http.schemas import SAME_OBJECT, Answer, Id, TextOrNull
from config.http.timestamps import Timestamp


class Counts(Answer):
    seen: int


class Shown(Answer):
    row_id: Id = Field(validation_alias="pk")
    note: TextOrNull
    ended_at: Timestamp | None
    counts: Counts = Field(validation_alias=SAME_OBJECT)


def test_an_answer_has_the_attributes_that_its_fields_name_and_no_others():
    row = SimpleNamespace(pk=7, note="", ended_at=None, seen=3, secret="s", row_id="not this", counts="nor this")
    assert dump(Shown.of(row)) == b'{"row_id":"7","note":null,"ended_at":null,"counts":{"seen":3}}'


def test_an_answer_may_get_attributes_that_the_object_lacks():
    row = SimpleNamespace(pk=7, ended_at=None, seen=3, note="overruled")
    assert dump(Shown.of(row, note="n")) == b'{"row_id":"7","note":"n","ended_at":null,"counts":{"seen":3}}'


def test_a_model_is_answered_with_the_same_bytes_as_a_mapping():
    text = {
        "text": "".join(map(chr, range(0x3000))) + "\u2028\U0001f600",
        "number": -(2**70),
        "half": 0.5,
        "none": None,
    }
    assert dump(Answer.model_validate(text)) == dump(text)


def test_an_error_of_an_answer_hides_the_values():
    with pytest.raises(ValidationError) as refused:
        Shown.of(SimpleNamespace(pk=7, note=["private"], ended_at=None, seen="private"))
    assert "private" not in str(refused.value)
