"""Scores that cannot be: outside the range that the record gives them, or that every score of their name has."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from decisions.record.outcomes import spelling
from notices.checklist import Case
from notices.record_paths import Fact
from notices.warnings.findings import Finding

_LOWEST, _HIGHEST = ("minimum", "min", "low", "lowest", "from"), ("maximum", "max", "high", "highest", "to")
_BY_NAME = (
    (re.compile(r"(?:^|_)fico(?:_?score)?_?\d{0,2}$"), (250, 900)),
    (re.compile(r"(?:^|_)vantage_?score(?:_?\d){0,2}$"), (300, 990)),
)
"""FICO scores have 300 to 850, those of an industry 250 to 900; VantageScores 300 to 850, the first 501 to 990."""
_TEXT = re.compile(r"\s*(\d{1,6}(?:\.\d{1,6})?)\s*(?:-|\u2013|to|\.\.)\s*(\d{1,6}(?:\.\d{1,6})?)\s*")
_MOST = 20


class _Range(NamedTuple):
    low: Decimal
    high: Decimal


class _Outside(NamedTuple):
    path: str
    score: Decimal
    sentence: str


def findings(case: Case, content: Mapping[str, Any]) -> Iterator[Finding]:
    found: dict[str, _Outside] = {}
    waiting = [case.facts.at("")]
    while waiting and len(found) < _MOST:
        holder = waiting.pop()
        if isinstance(holder.value, dict):
            for each in _of(holder):
                found.setdefault(each.path, each)
        waiting.extend(child for child in holder.children() if not child.is_scalar)
    by_number: dict[Decimal, list[_Outside]] = defaultdict(list)
    for each in found.values():
        by_number[each.score].append(each)
    for first, *again in by_number.values():  # the same score is in many places of some records
        also = f" It is also in {', '.join(each.path for each in again)}." if again else ""
        yield Finding("score_out_of_range", "", first.sentence + also)


def _of(holder: Fact) -> Iterator[_Outside]:
    """The scores that stand in an object, or right below it, and cannot be."""
    fields = {spelling(key): (key, value) for key, value in holder.value.items()}
    scores = [name for name in fields if name.endswith("score") or _known(name)]
    for name in scores:
        key, value = fields[name]
        own = value if isinstance(value, dict) else {}
        inner = next((each for each in ("value", "score") if each in own), None)
        fact = holder.child(key).child(inner) if inner else holder.child(key)
        score = _number(fact.value)
        if score is None:
            continue
        beside = _range_beside(fields, name, *(["score"] if len(scores) == 1 else []))
        limits = beside or _range(own.get("range")) or _range(own.get("score_range")) or _range(own)
        if sentence := _sentence(fact.path, score, limits, _known(name)):
            yield _Outside(fact.path, score, sentence)


def _sentence(path: str, score: Decimal, limits: _Range | None, known: _Range | None) -> str | None:
    if limits and limits.low > limits.high:
        return f"The range of {path} ends before it begins: {limits.low} to {limits.high}."
    if limits and not limits.low <= score <= limits.high:
        return f"{path} is {score}, outside the range that the record gives it: {limits.low} to {limits.high}."
    if known and not known.low <= score <= known.high:
        return f"{path} is {score}; scores of that name are {known.low} to {known.high}."
    return None


def _known(name: str) -> _Range | None:
    return next((_Range(*map(Decimal, ends)) for pattern, ends in _BY_NAME if pattern.search(name)), None)


def _range_beside(fields: Mapping[str, tuple[str, Any]], *names: str) -> _Range | None:
    """The range that an object has for a score of its own: in one field, or in one for each end."""
    for name in names:
        ends = {end: fields[f"{name}_{end}"][1] for end in (*_LOWEST, *_HIGHEST) if f"{name}_{end}" in fields}
        whole = fields[f"{name}_range"][1] if f"{name}_range" in fields else None
        if found := _range(whole) or _range(ends):
            return found
    return None


def _range(value: Any) -> _Range | None:
    if isinstance(value, dict):
        ends = {spelling(key): each for key, each in value.items()}
        low = next((_number(ends[name]) for name in _LOWEST if name in ends), None)
        high = next((_number(ends[name]) for name in _HIGHEST if name in ends), None)
    elif isinstance(value, list) and len(value) == 2:
        low, high = map(_number, value)
    elif isinstance(value, str) and (text := _TEXT.fullmatch(value[:40])):
        low, high = map(_number, text.groups())
    else:
        return None
    return _Range(low, high) if low is not None and high is not None else None


def _number(value: Any) -> Decimal | None:
    if isinstance(value, str) and re.fullmatch(r"\s*\d{1,6}(\.\d{1,6})?\s*", value[:40]):
        return Decimal(value.strip())
    return Decimal(value) if isinstance(value, int | Decimal) and not isinstance(value, bool) else None
