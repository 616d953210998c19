"""Reasons and factors of an outcome, in the many shapes that records give them."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any, cast

from notices import outcome_parts
from notices.drafting.phrases import FieldPhrases, Withholding
from notices.drafting.topics import Direction, Topic, is_blank, is_prose
from notices.record_paths import Fact, Facts, NoSuchField

_CODE = re.compile(r"[A-Z0-9._/\-]+")
Parts = dict[str, list[Fact]]


class Reasons:
    """Finds what reasons and factors say: their words, else their codes. Numbers of a model are never a reason."""

    def __init__(self, facts: Facts, phrases: FieldPhrases) -> None:
        self._facts, self._phrases = facts, phrases

    def reasons(self, part: Fact) -> Iterator[Topic]:
        """The topics of a reason, or of any list or object of them: a text, a code, or an object with both."""
        if isinstance(part.value, list):
            for item in part.children():
                yield from self.reasons(item)
        elif not isinstance(part.value, dict):
            yield from self._text(part, {"code": [part], "prose": [part]})
        elif parts := parts_of(part):
            has_words = parts["prose"] or (parts["name"] and not _counts(parts)) or parts["code"]
            own = self._text(part, parts) if has_words else self._factor(part, parts)
            yield from self._or_fields(part, chain(own, self._nested(part, self.reasons)))
        else:
            for entry in part.children():
                yield from self._entry(entry, self.reasons, "factor")

    def factors(self, part: Fact) -> Iterator[Topic]:
        """The topics of a factor, or of any list or object of them: each with its name and which way it counted."""
        if isinstance(part.value, list):
            for item in part.children():
                yield from self.factors(item)
        elif not isinstance(part.value, dict):
            yield from self.reasons(part)
        elif parts := parts_of(part):
            yield from self._or_fields(part, chain(self._factor(part, parts), self._nested(part, self.factors)))
        else:
            has_values, has_signs = _has_values(part), _has_signs(part)
            for entry in part.children():
                if has_values and outcome_parts.is_number(entry.value):
                    yield self._named(entry, entry.name, "factor", form="factor")
                elif isinstance(entry.value, dict) and (parts := parts_of(entry)) and not parts["name"]:
                    yield from self._factor(entry, parts, entry.name)
                    yield from self._nested(entry, self.factors)
                else:
                    yield from self._entry(entry, self.factors, _by_sign([entry]) if has_signs else "factor")

    def _or_fields(self, item: Fact, topics: Iterator[Topic]) -> Iterator[Topic]:
        """The topics of an item, or its fields as they stand where it has none: no reason is lost for its shape."""
        topic = None
        for topic in topics:
            yield topic
        if topic is None:
            for field in item.children():
                kind = outcome_parts.kind(field)
                is_reason = kind == "reason" or (kind == "code" and not outcome_parts.key(field.name))
                if is_reason and field.is_scalar and not is_blank(field.value):
                    yield Topic(field, withheld=self._phrases.withhold(field))

    def _nested(self, item: Fact, select: Callable[[Fact], Iterator[Topic]]) -> Iterator[Topic]:
        """What further lists and objects in an item say, but for what is its value."""
        for child in item.children():
            if not child.is_scalar and outcome_parts.key(child.name) not in ("value", "path", "attribution"):
                yield from select(child)

    def _entry(self, entry: Fact, select: Callable[[Fact], Iterator[Topic]], by_sign: Direction) -> Iterator[Topic]:
        """One of an object that names its reasons by its keys: `{"late_payments": true}`."""
        value = entry.value
        if value is True:
            yield self._named(entry, entry.name, "factor")
        elif outcome_parts.is_number(value):
            yield self._named(entry, entry.name, by_sign)
        elif outcome_parts.direction(value) and isinstance(value, str):
            yield self._named(entry, entry.name, outcome_parts.direction(value))
        elif value is not False:
            yield from select(entry)

    def _text(self, item: Fact, parts: Parts) -> Iterator[Topic]:
        """The organization's words for the code come first, then the record's sentences, then a name, then the code."""
        told: Parts = {}
        for meaning in ("code", "prose", "name"):
            told[meaning] = []
            for part in parts.get(meaning, []):
                if not part.is_scalar or is_blank(part.value):
                    continue
                if self._phrases.withhold(part):
                    yield Topic(part, withheld=True)
                else:
                    told[meaning].append(part)
        code = next(iter(told["code"]), None)
        phrase = self._phrases.named(code.value) if code and isinstance(code.value, str) else None
        texts = [part for part in told["prose"] if is_prose(part.value)]
        if code and code in texts and _CODE.fullmatch(code.value):
            texts.remove(code)
        if code and phrase and phrase.withheld:
            yield Topic(code, withheld=True)
        elif code and phrase and (phrase.sentence or phrase.label):
            yield Topic(code, "phrase", phrase)
        elif texts:
            yield from (Topic(text, "prose") for text in texts)
        elif told["name"]:
            yield from (Topic(name, "prose") for name in told["name"] if is_prose(name.value))
        elif code:
            yield Topic(code, "code")

    def _factor(self, item: Fact, parts: Parts, called: str = "") -> Iterator[Topic]:
        """A factor in an object: its name, the field it is about, and which way it counted.

        Args:
            called: its name, where it has none in the object.
        """
        holder = next((part for part in parts["name"] if is_prose(part.value)), None)
        name = holder.value if holder else called
        cited = self._cited(parts["path"])
        direction = _direction(parts)
        if why := self._why_withheld(item, cited, name, parts):
            yield Topic(item, withheld=True, why=why)
            if holder and why.by == "sensitive":  # what counted can be told without its value
                phrase = self._phrases.named(name)
                label = phrase.label if phrase and phrase.label else name
                yield Topic(holder, "factor_name", name=label, direction=direction)
            return
        codes = [part for part in parts["code"] if isinstance(part.value, str)]
        if codes and (phrase := self._phrases.named(codes[0].value)) and (phrase.sentence or phrase.label):
            yield Topic(codes[0], "phrase", phrase, direction=direction)
            return
        prose = [part for part in parts["prose"] if is_prose(part.value)]
        values, own = _values(parts["value"], cited)
        if not name and not prose and not values:
            values, own = _others(item, parts), True
        for fact in values:
            yield self._named(fact, name or fact.field.name, direction, form="factor", own=own)
        source = holder or next((part for part in item.children() if part.is_scalar), None)
        if name and source and not values and not prose:
            yield self._named(source, name, direction)
        for text in prose:
            way: Direction = "factor" if values else direction
            form = "factor" if name and not values else "prose"
            yield self._named(text, name, way, form=form, own=True)
        if not (name or prose or values) and codes:
            yield Topic(codes[0], "code", direction=direction)

    def _named(self, fact: Fact, name: str, direction: Any, *, form: Any = "factor_name", own: bool = False) -> Topic:
        withheld = self._phrases.withhold(fact)
        return Topic(fact, form, name=name, direction=direction, withheld=withheld, is_own=own)

    def _why_withheld(self, item: Fact, cited: Fact | None, name: str, parts: Parts) -> Withholding | None:
        """Why a factor is withheld, the phrasebook and the law before what is sensitive. Any of its names may say it,
        and so may the path of a field that the record does not have."""
        named = [part.value for part in (*parts["name"], *parts["code"]) if is_prose(part.value)]
        paths = [part.value.rpartition(".")[2] for part in parts["path"] if is_prose(part.value) and cited is None]
        found = [self._phrases.why_withheld(part) for part in (item, cited) if part]
        found += [self._phrases.why_withheld_named(each) for each in dict.fromkeys((name, *named, *paths)) if each]
        return min(filter(None, found), key=lambda why: why.by == "sensitive", default=None)

    def _cited(self, paths: Sequence[Fact]) -> Fact | None:
        return next(filter(None, (cited_field(self._facts, path.value) for path in paths)), None)


def parts_of(item: Fact) -> Parts:
    """The fields of a reason or factor by what they mean; nothing if none of them is known."""
    parts: Parts = {meaning: [] for meaning in ("prose", "name", "code", "path", "value", "direction", "attribution")}
    found, others = False, []
    for child in item.children():
        if meaning := outcome_parts.key(child.name, child.value):
            found = True
            parts[meaning].append(child)
        elif isinstance(child.value, str) and " " in child.value.strip():
            others.append(child)
    if not parts["prose"] and not parts["name"]:
        parts["prose"] = others
    return parts if found else {}


def cited_field(facts: Facts, path: Any) -> Fact | None:
    """The field that a factor says it is about."""
    if not isinstance(path, str):
        return None
    try:
        return facts.at(path)
    except NoSuchField:
        return None


def _counts(parts: Parts) -> bool:
    """Whether what is named has a value or went one way: it is a factor, whatever the list is called."""
    return any(part.is_scalar and not is_blank(part.value) for part in (*parts["value"], *parts["direction"]))


def _has_values(factors: Fact) -> bool:
    """Whether the numbers of an object are values of what its keys name. What a model counted is signed, or a share."""
    numbers = [each for each in factors.value.values() if outcome_parts.is_number(each)]
    is_attributed = outcome_parts.has_attributions(factors.name) or any(each < 0 for each in numbers)
    return not is_attributed and any(each > 1 for each in numbers)


def _has_signs(factors: Fact) -> bool:
    """Whether the signs of such numbers say which way each counted."""
    numbers = [each for each in factors.value.values() if outcome_parts.is_number(each)]
    return outcome_parts.is_signed(factors.name) and any(each < 0 for each in numbers)


def _direction(parts: Parts) -> Direction:
    for part in parts["direction"]:
        if said := outcome_parts.direction(part.value):
            return cast(Direction, said)
    return _by_sign(parts["attribution"])


def _by_sign(attributions: Sequence[Fact]) -> Direction:
    """What a model's number says of the way a factor counted: it moved the result, for better or worse."""
    signed = [
        part for part in attributions if outcome_parts.is_number(part.value) and outcome_parts.is_signed(part.name)
    ]
    if not signed:
        return "factor"
    return "factor_lowered" if signed[0].value < 0 else "factor_raised" if signed[0].value > 0 else "factor"


def _values(own: Sequence[Fact], cited: Fact | None) -> tuple[list[Fact], bool]:
    """Where a factor's value stands: in the field it cites, if that is the same value or the factor has none. And
    whether it stands in the factor itself."""
    given = next((part for part in own if not is_blank(part.value)), None)
    if cited and cited.is_scalar and (given is None or _same(given.value, cited.value)):
        return [cited], False
    return (list(given.scalars()) if given else []), True


def _others(item: Fact, parts: Parts) -> list[Fact]:
    """The fields of a factor whose names are in no table."""
    known = {part.step for part in (*parts["path"], *parts["direction"], *parts["attribution"], *parts["code"])}
    return [child for child in item.children() if child.is_scalar and child.step not in known]


def _same(one: Any, other: Any) -> bool:
    """JSON's equality: Python takes true for 1."""
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)
