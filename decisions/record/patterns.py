"""Patterns of record paths, which name the fields of an entry.

A pattern is a dotted path, as citations have it, with three additions: `*` is one key or position, `**` at the end is
everything below, and `[?…]` after the name of a list keeps the items for which a filter of RFC 9535 holds:
`outcome.reasons[?@.applicant == 'primary'].text`. A key that is `*` or `**`, or has a bracket, is quoted.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

import jsonpath_rfc9535 as jsonpath
from jsonpath_rfc9535 import filter_expressions as expressions

from custody.sealing import field_paths

ANY, DEEP = "*", "**"
MAX_PATTERN = 1024  # characters
_MAX_STEPS = 64
_BARE = re.compile(r'[^."\x00-\x1f\[]+')
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*+"')  # linear: it is matched at one place, in a text of MAX_PATTERN
_LITERALS = (
    expressions.BooleanLiteral,
    expressions.FloatLiteral,
    expressions.IntegerLiteral,
    expressions.NullLiteral,
    expressions.StringLiteral,
)


class InvalidPattern(ValueError):
    """The text is no pattern. The message says what is wrong."""


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a pattern: a key, or any key or position if `key` is None, then only the items that a filter keeps."""

    key: str | None
    filter: "Filter | None" = None


@dataclass(frozen=True)
class Filter:
    """A filter of list items (RFC 9535, 2.3.5), without functions, wildcards and references to the whole record: its
    cost grows with the items, not with their square."""

    text: str

    def positions(self, items: list[Any]) -> set[int]:
        """Return the positions of the items that the filter keeps. Numbers of the items are int, float or Decimal."""
        return {int(node.location[0]) for node in self._query.finditer(_with_floats(items))}

    @cached_property
    def _query(self) -> jsonpath.JSONPathQuery:
        return _compiled(self.text)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A parsed pattern.

    Attributes:
        text: the pattern as it was written.
        is_deep: whether it names everything below its steps, at any depth.
    """

    text: str
    steps: tuple[Step, ...]
    is_deep: bool


def parse(text: str) -> Pattern:
    """Return the pattern that a text spells. Raises InvalidPattern."""
    if len(text) > MAX_PATTERN:
        raise InvalidPattern(f"a path has at most {MAX_PATTERN} characters")
    steps = tuple(_steps(text))
    is_deep = bool(steps) and steps[-1] == Step(DEEP)
    if any(step.key == DEEP for step in steps[:-1]):
        raise InvalidPattern("** is allowed at the end only")
    if len(steps) > _MAX_STEPS:
        raise InvalidPattern(f"a path has at most {_MAX_STEPS} steps")
    return Pattern(text, tuple(map(_unquoted, steps[:-1] if is_deep else steps)), is_deep)


def general_segment(key: str) -> str:
    """Return a key in the spelling of patterns."""
    return json.dumps(key, ensure_ascii=False) if key in (ANY, DEEP) or "[" in key else field_paths.segment(key)


def _steps(text: str) -> Iterator[Step]:
    """Yield the steps as they are written: keys stay quoted, so that a key `*` differs from the wildcard."""
    at = 0
    while True:
        match = (_QUOTED if text.startswith('"', at) else _BARE).match(text, at)
        if not match:
            raise InvalidPattern(f"a key is missing or has a character that must be quoted, at {text[at:][:20]!r}")
        at = match.end()
        yield Step(match[0])
        if text.startswith("[?", at):
            end = _end_of_filter(text, at + 2)
            yield Step(ANY, _filter(text[at + 2 : end].strip()))
            at = end + 1
        if at == len(text):
            return
        if text[at] != ".":
            raise InvalidPattern(f"a dot is missing before {text[at:][:20]!r}")
        at += 1


def _unquoted(step: Step) -> Step:
    if step.key == ANY:
        return Step(None, step.filter)
    try:
        return Step(field_paths.keys(step.key or "")[0])
    except field_paths.NoSuchField:
        raise InvalidPattern(f"{step.key} is no JSON text") from None


def _end_of_filter(text: str, at: int) -> int:
    """Return the position of the bracket that closes a filter. Brackets in quotes do not count."""
    quote, depth = "", 0
    while at < len(text):
        letter = text[at]
        if quote:
            at += letter == "\\"
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter == "]" and not depth:
            return at
        else:
            depth += {"[": 1, "]": -1}.get(letter, 0)
        at += 1
    raise InvalidPattern("a filter is not closed: write ] at its end")


def _filter(text: str) -> Filter:
    _compiled(text)
    return Filter(text)


def _compiled(text: str) -> jsonpath.JSONPathQuery:
    try:
        query = jsonpath.compile(f"$[?{text}]")
    except (jsonpath.JSONPathError, RecursionError) as error:
        raise InvalidPattern(f"a filter is not valid (RFC 9535): {error}") from None
    selectors = query.segments[0].selectors
    if len(query.segments) != 1 or len(selectors) != 1:
        raise InvalidPattern("a filter is one expression")
    _require_cheap(selectors[0].expression)  # type: ignore[attr-defined]
    return query


def _require_cheap(expression: Any) -> None:
    """Refuse what makes a filter cost more than one look at each item. Raises InvalidPattern."""
    match expression:
        case expressions.FilterExpression():
            _require_cheap(expression.expression)
        case expressions.PrefixExpression():
            _require_cheap(expression.right)
        case expressions.LogicalExpression() | expressions.ComparisonExpression():
            _require_cheap(expression.left)
            _require_cheap(expression.right)
        case expressions.RelativeFilterQuery() if expression.query.singular_query():
            return
        case _ if not isinstance(expression, _LITERALS):
            raise InvalidPattern("a filter compares fields of the item (@.name) with values, and has no functions")


def _with_floats(value: Any) -> Any:
    """Return a value with its Decimals as floats: comparisons of RFC 9535 know no others."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, dict):
        return {key: _with_floats(child) for key, child in value.items()}
    return [_with_floats(child) for child in value] if isinstance(value, list) else value
