"""The words that records have for kinds of things that laws tell apart: of plan, of claim, of ground."""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from decisions.record import outcomes
from decisions.record.outcomes import spelling

_PARTED, _LONGEST = re.compile(r"[()\[\]/,;:|]|\s[-\u2013\u2014]\s"), 200
_FEWEST_OF_PROSE = 4
"""Words: the kinds of things have fewer."""


class _Field(NamedTuple):
    also: tuple[str, ...]
    kinds: Mapping[str, str]
    """The kind by its spellings."""
    is_told: bool
    """A sentence may stand there, too."""


def value(path: str, record: Callable[[str], Any]) -> Any:
    """What a record says at a path: of a field that has kinds, its kind, also where another field tells it.

    A word that is of no kind counts as it stands; one in a field that only may tell it says nothing then.

    Args:
        record: gives the value at a path, None where there is nothing.
    """
    field = _fields().get(path)
    found = outcomes.said(record) if path == outcomes.PATHS[0] else record(path)
    if field is None:
        return found
    if found not in (None, ""):
        return _kind(field, found) or found
    others = (record(other) for other in field.also)
    return next((kind for each in others if (kind := _kind(field, each))), None)


def has(path: str) -> bool:
    """Whether a field is one of those that have kinds."""
    return path in _fields()


def names(path: str) -> frozenset[str]:
    """Return the kinds that a field tells apart."""
    return frozenset(_fields()[path].kinds.values())


def unknown(paths: tuple[str, ...], record: Callable[[str], Any]) -> Iterator[tuple[str, Any]]:
    """The fields among these that have kinds and whose word is of none."""
    for path in paths:
        field, found = _fields().get(path), record(path)
        if field and found not in (None, "") and not (_kind(field, found) or (field.is_told and _is_prose(found))):
            yield path, found


def _is_prose(found: Any) -> bool:
    return isinstance(found, str) and len(found.split()) >= _FEWEST_OF_PROSE


def _kind(field: _Field, found: Any) -> str | None:
    """The kind of a word, or of several, as in `Employer Group (ERISA)`, if all that are known agree."""
    if not isinstance(found, str):
        return None
    parts = [found] if spelling(found) in field.kinds else _PARTED.split(found[:_LONGEST])
    told = {field.kinds[word] for word in map(spelling, parts) if word in field.kinds}
    return told.pop() if len(told) == 1 else None


@cache
def _fields() -> dict[str, _Field]:
    tables = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    return {
        path: _Field(
            tuple(table["also"]),
            {spelling(each): kind for kind, words in table["kinds"].items() for each in (kind, *words)},
            table.get("told", False),
        )
        for path, table in tables.items()
    }
