"""The published form of a profile: the record as its system would have written it under the names of the SRF record.

Packs of law ask for fields by those names. Amounts are in units, rates in percent, times in ISO 8601, codes in words.
"""

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from decisions.record.profile import Decision, Factor, Input, Origin, Profile, Quantity, Text, Unknown, Value
from decisions.record.values import Amount, Day, Flag, Number, Rate, Term
from decisions.record.values import Quantity as AnyQuantity

_LISTS = {
    "reason": "outcome.reasons",
    "condition": "outcome.conditions",
    "consequence": "outcome.consequences",
    "missing": "outcome.missing_information",
}
_PLACES = {
    "decision": "outcome.action",
    "object": "events.application.product",
    "object.amount": "events.application.amount_requested",
    "offer.amount": "outcome.counteroffer.amount",
    "offer.rate": "outcome.counteroffer.rate",
    "offer.term": "outcome.counteroffer.term",
    "offer.until": "outcome.counteroffer.valid_until",
    "offer.text": "outcome.counteroffer.description",
    "reference": "subject.reference",
    "jurisdiction": "subject.jurisdiction",
    "language": "subject.language",
    "system.name": "system.name",
    "system.version": "system.version",
    "system.provider": "system.provider",
    "system.purpose": "system.purpose",
    "automation": "outcome.solely_automated",
    "human": "approval.human_involvement",
    "approval.person": "approval.approver",
    "approval.authority": "approval.authority",
    "review.until": "outcome.review.until",
    "review.how": "outcome.review.contact",
    "received": "events.application.received_at",
    "completed": "events.application.completed_at",
    "decided": "decided_at",
    "effective": "outcome.effective_date",
}
"""The field of each meaning. Amounts, rates and terms append their unit."""


AGAINST = frozenset({"adverse", "negative", "against", "unfavorable", "unfavourable"})
FOR = frozenset({"favorable", "favourable", "positive", "for"})
"""The words of records for the way that a factor counted."""


@dataclass(slots=True)
class Projection:
    """A profile under the names of the published record.

    Attributes:
        document: the record.
        sources: for each of its scalars, the path in the signed record.
        gaps: values that have no place in it: codes without words in the language, or a second value of one place.
    """

    language: str
    document: dict[str, Any] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    gaps: list[Unknown] = field(default_factory=list)

    def add(self, value: Value) -> None:
        """Add a value at the field of its meaning."""
        match value:
            case Decision():
                self._put("outcome.action", value.kind, value.origin)
            case Factor():
                self._add_factor(value)
            case Quantity():
                if name := place(value.origin):
                    self._put(name + _unit(value.value), _plain(value.value), value.origin)
            case Input() if self.language not in value.origin.label:
                self._note(value.origin, f"a label without words in {self.language}")
            case Text():
                if (text := self._words(value)) and (name := self._text_place(value.origin)):
                    self._put(name, text, value.origin)

    def _add_factor(self, factor: Factor) -> None:
        name = self._words(factor.name)
        if name is None:
            return
        stem = self._next("outcome.principal_factors")
        self._put(f"{stem}.factor", name, factor.origin)
        if factor.measured:
            self._put(f"{stem}.value", _measured(factor.measured), factor.measured.origin)
        direction = factor.direction.text.strip().casefold() if factor.direction else ""
        if factor.direction and direction in AGAINST | FOR:
            word = "adverse" if direction in AGAINST else "favorable"
            self._put(f"{stem}.direction", word, factor.direction.origin)

    def _words(self, text: Text) -> str | None:
        """Return a text, or the words of a code in the language. Note a gap if there are none."""
        if not text.words:
            return text.text
        words = text.words.get(self.language)
        if words is None:
            self._note(text.origin, f"a code without words in {self.language}")
        return words

    def _text_place(self, origin: Origin) -> str | None:
        listed = _LISTS.get(origin.meaning)
        return self._next(listed) if listed else place(origin)

    def _next(self, path: str) -> str:
        """Return the path of a new item of a list."""
        holder: Any = self.document
        for key in path.split("."):
            holder = holder.get(key, {}) if isinstance(holder, dict) else {}
        return f"{path}.{len(holder)}"

    def _put(self, path: str, value: Any, origin: Origin) -> None:
        *above, last = path.split(".")
        holder: Any = self.document
        for key, following in pairwise([*above, last]):
            holder = _child(holder, key, [] if following.isdigit() else {})
        if path in self.sources or not isinstance(holder, dict | list):
            self._note(origin, f"a second value that means {origin.meaning}")
            return
        if isinstance(holder, list):
            holder.append(value)
        else:
            holder[last] = value
        self.sources[path] = origin.path

    def _note(self, origin: Origin, problem: str) -> None:
        self.gaps.append(Unknown(origin.path, origin.path, problem))


def project(profile: Profile, language: str) -> Projection:
    """Return the published form of a profile, with the words of a language for codes."""
    projection = Projection(language)
    for value in profile.values:
        projection.add(value)
    return projection


def place(origin: Origin) -> str | None:
    """Return the field of the published record that a value is, or None if it has none."""
    return origin.profile_path or _PLACES.get(origin.meaning)


def _child(holder: Any, key: str, empty: Any) -> Any:
    """Return an item of an object or list, `empty` if there was none. None if there is a scalar in the way."""
    if isinstance(holder, dict):
        return holder.setdefault(key, empty)
    if isinstance(holder, list):
        if int(key) == len(holder):
            holder.append(empty)
        return holder[int(key)]
    return None


def _unit(value: AnyQuantity) -> str:
    """Return the unit of an amount, rate or term as the published record spells it at the end of a name."""
    match value:
        case Amount():
            return f"_{value.currency.lower()}"
        case Rate():
            return "_percent"
        case Term():
            return f"_{value.unit}"
    return ""


def _measured(measured: Quantity | Text) -> Any:
    return measured.text if isinstance(measured, Text) else _plain(measured.value)


def _plain(value: AnyQuantity) -> Any:
    """Return a decoded value as JSON has it."""
    match value:
        case Amount():
            return value.units
        case Rate():
            return value.percent
        case Number():
            return value.number
        case Term():
            return value.count
        case Day():
            return (value.moment or value.day).isoformat()
        case Flag():
            return value.is_set
