"""What of a record belongs into a letter, section by section, before a word of it is written."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple

from notices.drafting.phrases import FieldPhrases
from notices.localization import humanise
from notices.localization.sentences import one_line
from notices.packs import Element, Pack
from notices.phrasebook import Phrase
from notices.record_paths import Fact, Facts, NoSuchField

_AGAINST = ("against", "negative", "adverse", "decreased", "decrease", "lowered")
_FOR = ("for", "positive", "favourable", "favorable", "increased", "increase", "raised")
_DIRECTIONS: Final[Mapping[str, "Direction"]] = {
    **dict.fromkeys(_AGAINST, "factor_against"),
    **dict.fromkeys(_FOR, "factor_for"),
}
# Fields of the outcome that say what was decided have one of these words in their names.
_DECIDED = {"amount", "approved", "claimed", "denied", "due", "granted", "next", "paid"}
_DECIDED |= {"referred", "refused", "requested", "until"}
_RECONSIDERED = "reconsiders.decision_id"
_SYSTEM = ("system.name", "system.version", "system.provider", "system.purpose")
_PEOPLE = ("approval.human_involvement", "approval.authority")
_WEIGHT = ("outcome.solely_automated", "outcome.materially_influenced_by_system")
_CODE = re.compile(r"[A-Z0-9._/\-]+")

Form = Literal["field", "phrase", "prose", "code", "factor", "factor_name"]
Direction = Literal["factor", "factor_for", "factor_against"]


class Topic(NamedTuple):
    """A field to write about, and how."""

    fact: Fact
    form: Form = "field"
    """`phrase`: in the organization's words for a reason. `prose`: in the record's own sentences. `factor_name`: of the
    factor there is no more than a name."""
    phrase: Phrase | None = None
    name: str = ""
    """What a factor is called."""
    direction: Direction = "factor"
    """Of a factor: which way it counted."""
    withheld: bool = False
    """It belongs into the letter, and the organization keeps it out."""


class Selection:
    """The topics of a letter about a record under a pack, those that are withheld among them."""

    def __init__(self, facts: Facts, pack: Pack, phrases: FieldPhrases) -> None:
        self._facts, self._pack, self._phrases = facts, pack, phrases

    def sections(self) -> Mapping[str, Iterator[Topic]]:
        """The topics of each list of statements."""
        # A law that wants few reasons gets the reasons; what they rest on is then among the information used.
        briefly = any(
            element.check == "max_items" and element.where == "main_factors" for element in self._pack.elements
        )
        return {
            "decision_summary": self._summary(),
            "role_of_automated_system": self._role(),
            "main_factors": self._factors(briefly=briefly),
            "inputs_used": self._inputs(),
        }

    def requested(self) -> Iterator[tuple[Element, Iterator[Topic]]]:
        """What the pack asks for by name: the scalars at each path or directly below, where the record has them."""
        for element in self._pack.elements:
            if element.paths and element.check == "cited" and element.applies_to(self._facts.get):
                yield element, self._at_paths(element.paths)

    def _summary(self) -> Iterator[Topic]:
        """What was decided, when, how much, and what follows from it; of a reconsideration, its result comes first."""
        for path in (_RECONSIDERED, "outcome.result", "outcome.action", "decided_at", "outcome.effective_date"):
            yield from self._fields(self._find(path))
        if self._facts.get(_RECONSIDERED):
            yield from self._fields(self._find("approval.authority"))
        for fact in self._directly_in("outcome"):
            name = humanise(fact.name).split(" ")
            if _DECIDED.intersection(name) and name[-1] != "by":
                yield from self._fields(fact)
        yield from self._each("outcome.consequences", self._reason)

    def _role(self) -> Iterator[Topic]:
        """What the system was, what people did, and how much the system's result weighed where it did."""
        # By which authority a person reconsidered says nothing of a system.
        for path in (*_SYSTEM, *([] if self._facts.get(_RECONSIDERED) else _PEOPLE)):
            yield from self._fields(self._find(path))
        for path in _WEIGHT:
            if self._facts.get(path) is True:
                yield from self._fields(self._find(path))

    def _factors(self, *, briefly: bool) -> Iterator[Topic]:
        """Reasons first, then factors: what a reader asks is why.

        Args:
            briefly: no factors where there are reasons.
        """
        has_reasons = False
        for topic in self._each("outcome.reasons", self._reason):
            has_reasons = has_reasons or not topic.withheld
            yield topic
        if not self._facts.get("outcome.reasons"):
            yield from self._each("outcome.reason_codes", self._reason)
        if not (briefly and has_reasons):
            yield from self._each("outcome.principal_factors", self._factor)
        yield from self._each("outcome.what_would_have_changed", self._reason)

    def _inputs(self) -> Iterator[Topic]:
        """Everything that the events brought."""
        for fact in self._scalars(self._find("events")):
            if not _is_event_name(fact):
                yield self._field(fact)

    def _at_paths(self, paths: tuple[str, ...]) -> Iterator[Topic]:
        for path in paths:
            for fact in self._directly_in(path):
                if fact.is_scalar:
                    yield from self._fields(fact)

    def _fields(self, part: Fact | None) -> Iterator[Topic]:
        return map(self._field, self._scalars(part))

    def _field(self, fact: Fact) -> Topic:
        return Topic(fact, withheld=self._phrases.withhold(fact))

    def _scalars(self, part: Fact | None) -> Iterator[Fact]:
        """Every scalar of a part of the record that is not empty."""
        return (fact for fact in (part.scalars() if part else ()) if not _is_blank(fact.value))

    def _reason(self, item: Fact) -> Iterator[Topic]:
        """A reason is a text, a code, or an object with both; the phrasebook's words for a code come first."""
        parts = {}
        for key in ("code", "text"):
            part = _part(item, key)
            if part and self._phrases.withhold(part):
                yield Topic(part, withheld=True)
            elif part:
                parts[key] = part
        code, text = parts.get("code"), parts.get("text")
        phrase = self._phrases.named(code.value) if code and isinstance(code.value, str) else None
        if code and phrase and phrase.withheld:
            yield Topic(code, withheld=True)
        elif code and phrase and (phrase.sentence or phrase.label):
            yield Topic(code, "phrase", phrase)
        elif text and _is_prose(text.value) and not (text is code and _CODE.fullmatch(text.value)):
            yield Topic(text, "prose")
        elif code and code.is_scalar and not _is_blank(code.value):
            yield Topic(code, "code")

    def _factor(self, item: Fact) -> Iterator[Topic]:
        """A factor in an object: its name, the field it is about, and which way it counted."""
        if not isinstance(item.value, dict):
            yield from self._reason(item)
            return
        direction = _DIRECTIONS.get(str(item.value.get("direction")).lower(), "factor")
        name, path = item.value.get("factor"), item.value.get("path")
        if not isinstance(name, str) or _is_blank(name):
            name = ""
        cited = self._find(path) if isinstance(path, str) else None
        if self._withholds_factor(item, cited, name):
            yield Topic(item, withheld=True)
            return
        values = _values(item, cited)
        if name and not values:
            yield Topic(item.child("factor"), "factor_name", name=name, direction=direction)
        for fact in values if name else values or item.scalars():
            withheld = self._phrases.withhold(fact)
            yield Topic(fact, "factor", name=name or fact.field.name, direction=direction, withheld=withheld)

    def _withholds_factor(self, item: Fact, cited: Fact | None, name: str) -> bool:
        parts = [item, cited] if cited else [item]
        return any(map(self._phrases.withhold, parts)) or (bool(name) and self._phrases.withhold_named(name))

    def _find(self, path: str) -> Fact | None:
        try:
            return self._facts.at(path)
        except NoSuchField:
            return None

    def _directly_in(self, path: str) -> list[Fact]:
        """What an object or list holds; a scalar is all there is of itself."""
        found = self._find(path)
        if found is None or found.is_scalar:
            return [found] if found else []
        return list(found.children())

    def _each(self, path: str, select: Callable[[Fact], Iterator[Topic]]) -> Iterator[Topic]:
        """The topics of each item of a list, or of the only one where there is no list."""
        found = self._find(path)
        for item in found.children() if found and isinstance(found.value, list) else [found] if found else []:
            yield from select(item)


def _is_blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not one_line(value))


def _is_prose(value: Any) -> bool:
    return isinstance(value, str) and not _is_blank(value)


def _is_event_name(fact: Fact) -> bool:
    """The name of an event in a list: it is no information about the person, and stands beside what is."""
    event = fact.parent
    return bool(
        fact.name == "name"
        and isinstance(fact.value, str)
        and event
        and event.in_list
        and event.parent
        and event.parent.path == "events"
    )


def _part(item: Fact, key: str) -> Fact | None:
    """A reason's code or text; of a reason that is no object, the reason itself."""
    if not isinstance(item.value, dict):
        return item
    return item.child(key) if key in item.value else None


def _values(item: Fact, cited: Fact | None) -> list[Fact]:
    """Where a factor's value stands: in the field it cites, if that is the same value or the factor has none."""
    own = item.child("value") if not _is_blank(item.value.get("value")) else None
    if cited and cited.is_scalar and (own is None or _same(own.value, cited.value)):
        return [cited]
    return list(own.scalars()) if own else []


def _same(one: Any, other: Any) -> bool:
    """JSON's equality: Python takes true for 1."""
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)
