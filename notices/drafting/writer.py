"""The statements of a notice: one sentence each, about one field of the record."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from notices.drafting.field_sentences import Telling, filled
from notices.drafting.names import Names
from notices.limits import MOST_STATEMENTS, Statement, TooMuch
from notices.localization import Wording, humanise, spelled_out
from notices.localization.sentences import clean, isolated, one_line, sentence, split
from notices.phrasebook import Phrasebook
from notices.record_paths import Fact, Facts, NoSuchField

_AGAINST = {"against", "negative", "adverse", "decreased", "decrease", "lowered"}
_FOR = {"for", "positive", "favourable", "favorable", "increased", "increase", "raised"}
# Fields of the outcome that say what was decided have one of these words in their names.
_DECIDED = {"amount", "approved", "claimed", "denied", "due", "granted", "next", "paid"}
_DECIDED |= {"referred", "refused", "requested", "until"}
_RECONSIDERED = "reconsiders.decision_id"
_SYSTEM = ("system.name", "system.version", "system.provider", "system.purpose")
_PEOPLE = ("approval.human_involvement", "approval.authority")
_WEIGHT = ("outcome.solely_automated", "outcome.materially_influenced_by_system")
_CODE = re.compile(r"[A-Z0-9._/\-]+")


class Writer:
    """Writes what a record says, field by field. `withheld` tells whether the phrasebook kept anything back."""

    def __init__(self, facts: Facts, words: Wording, phrasebook: Phrasebook) -> None:
        self._facts, self._words, self._phrasebook = facts, words, phrasebook
        self._names = Names(words, phrasebook)
        self._telling = Telling(facts, words, self._names)
        self.withheld = False

    def summary(self) -> Iterator[Statement]:
        """What was decided, when, how much, and what follows from it; of a reconsideration, its result comes first."""
        for path in (_RECONSIDERED, "outcome.result", "outcome.action", "decided_at", "outcome.effective_date"):
            yield from self._about(path)
        if self._facts.get(_RECONSIDERED):
            yield from self._about("approval.authority")
        for fact in self._directly_in("outcome"):
            name = humanise(fact.name).split(" ")
            if _DECIDED.intersection(name) and name[-1] != "by":
                yield from self._about(fact.path)
        yield from self._each("outcome.consequences", self._reason)

    def role(self) -> Iterator[Statement]:
        """What the system was, what people did, and how much the system's result weighed where it did."""
        # By which authority a person reconsidered says nothing of a system.
        for path in (*_SYSTEM, *([] if self._facts.get(_RECONSIDERED) else _PEOPLE)):
            yield from self._about(path)
        for path in _WEIGHT:
            if self._facts.get(path) is True:
                yield from self._about(path)

    def factors(self, *, briefly: bool) -> Iterator[Statement]:
        """Reasons first, then factors: what a reader asks is why. What was said is not said again.

        Args:
            briefly: no factors where there are reasons.
        """
        said = set()
        for statement in self._factors(briefly):
            told = statement["statement"].casefold()
            if told not in said:
                said.add(told)
                yield statement

    def inputs(self) -> Iterator[Statement]:
        """Everything that the events brought, but for the times of steps in the processing where there is more to tell.

        Fields of one name in several events are told apart by the event.
        """
        said = [fact for fact in self._scalars("events") if not _is_event_name(fact) and not _is_blank(fact.value)]
        facts = [fact for fact in said if not self._keeps_back(fact)]
        if len(facts) > MOST_STATEMENTS:
            raise TooMuch("more fields than a notice holds")
        everything = [self._telling.prepare(fact) for fact in facts]
        prepared = [told for told in everything if not told.is_step] or everything
        events = defaultdict(set)
        for told in prepared:
            events[told.label].add(told.place.event)
        for told in prepared:
            in_event = told.is_terse or len(events[told.label]) > 1
            yield _statement(self._telling.say(told, in_event=in_event), told.fact)

    def asked(self, paths: Iterable[str]) -> Iterator[Statement]:
        """What a law asks for by name: the scalar or the scalars directly at each path, where the record has them."""
        for path in paths:
            for fact in self._directly_in(path):
                if fact.is_scalar:
                    yield from self._about(fact.path)

    def _about(self, path: str) -> Iterator[Statement]:
        """What is at a path, if the record has it, it is not empty, and it may be printed."""
        for fact in self._scalars(path):
            if not _is_blank(fact.value) and not self._keeps_back(fact):
                yield _statement(self._said(fact), fact)

    def _factors(self, briefly: bool) -> Iterator[Statement]:
        has_reasons = False
        for reason in self._each("outcome.reasons", self._reason):
            has_reasons = True
            yield reason
        if not self._facts.get("outcome.reasons"):
            yield from self._each("outcome.reason_codes", self._reason)
        if not (briefly and has_reasons):
            yield from self._each("outcome.principal_factors", self._factor)
        yield from self._each("outcome.what_would_have_changed", self._reason)

    def _reason(self, item: Fact) -> Iterator[Statement]:
        """A reason is a text, a code, or an object with both; the phrasebook's words for a code come first."""
        code, text = self._part(item, "code"), self._part(item, "text")
        phrase = self._phrasebook.find(code.value) if code and isinstance(code.value, str) else None
        if phrase and phrase.withheld:
            self.withheld = True
        elif phrase and code and (phrase.sentence or phrase.label):
            yield _statement(filled(phrase.sentence or phrase.label, clean(code.value)), code)
        elif text and _is_prose(text.value) and not (text is code and _CODE.fullmatch(text.value)):
            for one in split(spelled_out(text.value)):
                yield _statement(isolated(one), text)
        elif code and code.is_scalar and not _is_blank(code.value):
            yield _statement(self._words.say("reason_code", value=self._words.show("code", code.value).value), code)

    def _factor(self, item: Fact) -> Iterator[Statement]:
        """A factor in an object: its name, the field it is about, and which way it counted."""
        if not isinstance(item.value, dict):
            yield from self._reason(item)
            return
        name, direction = item.value.get("factor"), str(item.value.get("direction")).lower()
        called = name if isinstance(name, str) and one_line(name) else None
        cited = self._at(item.value.get("path"))
        if self._keeps_back(item) or (cited and self._keeps_back(cited)) or self._keeps_back_named(called):
            return
        counted = "factor_against" if direction in _AGAINST else "factor_for" if direction in _FOR else "factor"
        sources = _values(item, cited)
        if not sources and called:
            yield _statement(self._words.say(counted, said=humanise(called)), item.child("factor"))
        for fact in sources or ([] if called else item.scalars()):
            if not self._keeps_back(fact):
                yield _statement(self._words.say(counted, said=self._said(fact, called or fact.field.name)), fact)

    def _said(self, fact: Fact, called: str | None = None) -> str:
        return self._telling.say(self._telling.prepare(fact, called))

    def _part(self, item: Fact, key: str) -> Fact | None:
        """A reason's code or text, if it may be printed; of a reason that is no object, the reason itself."""
        if isinstance(item.value, dict) and key not in item.value:
            return None
        part = item.child(key) if isinstance(item.value, dict) else item
        return None if self._keeps_back(part) else part

    def _keeps_back(self, fact: Fact) -> bool:
        withheld = self._names.withheld(fact)
        self.withheld = self.withheld or withheld
        return withheld

    def _keeps_back_named(self, name: str | None) -> bool:
        phrase = self._phrasebook.find(name) if name else None
        self.withheld = self.withheld or bool(phrase and phrase.withheld)
        return bool(phrase and phrase.withheld)

    def _at(self, path: Any) -> Fact | None:
        try:
            return self._facts.at(path) if isinstance(path, str) else None
        except NoSuchField:
            return None

    def _scalars(self, path: str) -> list[Fact]:
        found = self._at(path)
        return list(found.scalars()) if found else []

    def _directly_in(self, path: str) -> list[Fact]:
        """What an object or list holds; a scalar is all there is of itself."""
        found = self._at(path)
        if found is None or found.is_scalar:
            return [found] if found else []
        return list(found.children())

    def _each(self, path: str, write: Callable[[Fact], Iterator[Statement]]) -> Iterator[Statement]:
        """What is written about each item of a list, or about the only one where there is no list."""
        found = self._at(path)
        for item in found.children() if found and isinstance(found.value, list) else [found] if found else []:
            yield from write(item)


def _statement(said: str, fact: Fact) -> Statement:
    return {"statement": sentence(said), "source": fact.path}


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


def _values(item: Fact, cited: Fact | None) -> list[Fact]:
    """Where a factor's value stands: in the field it cites, if that is the same value or the factor has none."""
    own = item.child("value") if not _is_blank(item.value.get("value")) else None
    if cited and cited.is_scalar and (own is None or _same(own.value, cited.value)):
        return [cited]
    return list(own.scalars()) if own else []


def _same(one: Any, other: Any) -> bool:
    """JSON's equality: Python takes true for 1."""
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)
