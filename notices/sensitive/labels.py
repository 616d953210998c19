"""What an object says of itself or of its values: who it is about, and what the answer beside a question is."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from notices.record_paths import Fact
from notices.sensitive.names import words_of
from notices.sensitive.spelling import spelling, tables

_LONGEST, _PAIR = 200, 2


def labels_of(fact: Fact) -> Iterator[str]:
    """What the field's neighbours call it, as in `{"key": "ssn", "value": …}` and `[["ssn", …]]`."""
    beside = fact.parent.value if fact.parent else None
    if isinstance(beside, list) and len(beside) == _PAIR and fact.step == "1" and fact.parent and fact.parent.in_list:
        yield from (label for label in beside[:1] if isinstance(label, str) and len(label) <= _LONGEST)
    if isinstance(beside, dict) and len(fact.name) <= _LONGEST:
        if is_answer(fact.name):
            yield from _texts(beside, "labels", "questions")
        elif fact.is_scalar and spelling("holding").issuperset(words_of(fact.name)):
            yield from _texts(beside, "labels")


def is_answer(name: str) -> bool:
    """Whether a field of this name holds what another one asks for."""
    words = {*words_of(name)} if len(name) <= _LONGEST else set()
    return not words.isdisjoint(spelling("answers")) and words <= spelling("answers") | spelling("of_answers")


def roles_of(value: Mapping[str, Any]) -> Iterator[str]:
    """What an object says it is, as in `{"role": "guarantor"}`."""
    return _texts(value, "roles")


def is_own(value: Any) -> bool:
    """Whether an object says that it is the person whom the letter is to."""
    if not isinstance(value, dict):
        return False
    return _flag(value) is True or any(spelling("person").issuperset(words_of(role)) for role in roles_of(value))


def names_somebody(value: Mapping[str, Any]) -> bool:
    """Whether an object says of a person who they are."""
    return not _spelled("of_people").isdisjoint(value)


def is_other_person(fact: Fact) -> bool:
    """Whether this is one of several people, and not the one whom the letter is to.

    In a list of a household that is each who has a role or a name, in one of applicants also each after the first.
    """
    if not (isinstance(fact.value, dict) and fact.in_list) or is_own(fact.value):
        return False
    listed = {*words_of(fact.field.name)[-1:]}
    if listed <= spelling("homes"):
        return not _spelled("roles").isdisjoint(fact.value) or names_somebody(fact.value)
    if not listed <= spelling("people"):
        return False
    roles = [{*words_of(role)} for role in roles_of(fact.value)]
    is_named_other = any(role <= spelling("person") | spelling("other") for role in roles)
    return _flag(fact.value) is False or is_named_other or (not roles and fact.step != "0")


def _flag(value: Mapping[str, Any]) -> bool | None:
    return next((value[key] for key in _keys(value, "flags") if isinstance(value[key], bool)), None)


def _texts(value: Mapping[str, Any], *names_of: str) -> Iterator[str]:
    for key in _keys(value, *names_of):
        text = _text_of(value[key])
        if isinstance(text, str) and len(text) <= _LONGEST and text.strip():
            yield text


def _text_of(label: Any) -> Any:
    """What a label says that is an object, as those of FHIR are."""
    if not isinstance(label, dict):
        return label
    coding = label.get("coding")
    coded = coding[0] if isinstance(coding, list) and coding and isinstance(coding[0], dict) else label
    return label.get("text", coded.get("display"))


def _keys(value: Mapping[str, Any], *names_of: str) -> list[str]:
    return sorted(value.keys() & _spelled(*names_of))


@cache
def _spelled(*names_of: str) -> frozenset[str]:
    """The names of tables as keys have them. An object may have any number of keys, so they are not taken apart."""
    found: set[str] = set()
    for name in (name for table in names_of for name in tables()["spelling"][table]):
        words = name.split(" ")
        pascal = "".join(map(str.capitalize, words))
        snake = "_".join(words)
        found |= {snake, snake.upper(), "-".join(words), name, name.capitalize()}
        found |= {pascal, pascal[:1].lower() + pascal[1:], "".join(words)}
    return frozenset(found)
