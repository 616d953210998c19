"""What of a record belongs into a letter, section by section, before a word of it is written."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import chain, islice

from decisions.record import outcomes
from notices import outcome_parts
from notices.drafting.measures import Measures, is_money
from notices.drafting.names import OWN_EVENTS
from notices.drafting.phrases import FieldPhrases
from notices.drafting.reasons import Reasons
from notices.drafting.subjects import RECONSIDERED
from notices.drafting.topics import Topic, is_blank
from notices.localization import values
from notices.localization.names import parse_name, words_of
from notices.packs import Element, Pack, flags
from notices.record_paths import MOST_SOURCE, NAMES_OF_EVENTS, Fact, Facts, NoSuchField

__all__ = ["Selection", "Topic"]

_SYSTEM = ("system.name", "system.version", "system.provider", "system.purpose")
_APPROVER = "approval.approver"
"""A name for colleagues, such as `appeals-2`."""
_PEOPLE = ("approval.human_involvement", "approval.authority")
# Hashes tell a reader nothing.
_TECHNICAL, _LONGEST_VERSION = re.compile(r"(?i)(?:sha\d+[:\-]|\S*@)[0-9a-f]+|(?=\S*\d)(?=\S*[a-f])[0-9a-f]{7,}"), 100
_MOST_NAMED, _LONGEST_DAY = 10, 40
_VECTORS = {"activations", "embedding", "embeddings", "logits", "vector", "vectors"}
_WEIGHT = ("outcome.solely_automated", "outcome.materially_influenced_by_system")
_UNDECIDED = {"referred", "pending", "incomplete", "withdrawn"}
# Parts of the outcome that have their own place in the letter.
_REASONS, _CODES = "reasons", "reason_codes"
_SWEPT = outcome_parts.TOLD - {"reason"}
_LATER = {"consequences", "what_would_have_changed"}
_TOLD_UNASKED = {"outcome.reasons", "outcome.principal_factors"}
_ASKED = {"asked", "applied", "beantragt", "beantragter", "claimed", "demande", "demandé", "gefordert", "requested"}
_ASKED |= {"sollicité", "sought"}
_SUMS = {"amount", "loan amount", "credit amount", "sum insured", "claim amount", "coverage amount", "principal amount"}
_SUMS |= {"betrag", "darlehensbetrag", "darlehenssumme", "kreditbetrag", "kreditsumme", "schadenhöhe"}
_SUMS |= {"versicherungssumme", "montant", "montant du crédit", "montant du prêt", "montant credit", "montant pret"}
_GIVEN = {"accordé", "amount", "approved", "awarded", "betrag", "bewilligt", "granted", "montant", "paid"}


class Selection:
    """The topics of a letter about a record under a pack, those that are withheld among them."""

    def __init__(self, facts: Facts, pack: Pack, phrases: FieldPhrases, measures: Measures) -> None:
        self._facts, self._pack, self._phrases, self._measures = facts, pack, phrases, measures
        self._reasons, self._said_at = Reasons(facts, phrases), outcomes.told_at(facts.get)
        filled = {path for paths in pack.from_record.values() for path in paths} | flags.FLAGS
        self._filled = set(map(facts.real, filled))
        self._is_given = outcomes.kind(facts.get(self._said_at)) == "approved"

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
            "inputs_used": self._inputs(briefly=briefly),
        }

    def named(self, source: str) -> str:
        """A source as elements of packs ask for it."""
        return self._facts.named(source)

    def requested(self) -> Iterator[tuple[Element, Iterator[Topic]]]:
        """What the pack asks for by name, where the record has it: the scalars at each path, directly below it or in
        an item of its list."""
        for element in self._asking:
            if _TOLD_UNASKED.isdisjoint(element.paths):  # those are told as reasons, or withheld as such
                yield element, self._asked_for(element)

    @cached_property
    def _asking(self) -> list[Element]:
        """The elements of the pack that apply and ask for fields by name."""
        cited = (element for element in self._pack.elements if element.paths and element.check == "cited")
        return [element for element in cited if element.applies_to(self._facts.get)]

    def _asked(self, elements: Iterable[Element]) -> set[str]:
        return {self._facts.real(path) for element in elements for path in element.literal_paths}

    def rest(self, told: Iterable[str]) -> Mapping[str, Iterator[Topic]]:
        """What the outcome says beside the topics so far, as far as a letter tells it without being asked."""
        known = set(told)
        kinds = [(fact, outcome_parts.kind(fact)) for fact in self._scalars(self._find("outcome"))]
        left = [(fact, kind) for fact, kind in kinds if self._is_swept(fact, kind) and fact.path_length <= MOST_SOURCE]
        asked = self._asked(self._asking)
        # A score of the outcome is told where the law asks for it, also beside the same score in a report.
        scores = (fact for fact, kind in kinds if kind == "score" and fact.path in asked - known)
        return {
            "decision_summary": (self._told(fact, kind) for fact, kind in left if fact.path not in known),
            "inputs_used": map(self._field, scores),
        }

    def _is_swept(self, fact: Fact, kind: outcome_parts.Kind) -> bool:
        if kind != "procedure":
            return kind in _SWEPT
        # Nobody contests what they asked for and got; flags and what the pack's texts say have their own places.
        return not (self._is_given or isinstance(fact.value, bool) or fact.path in self._filled) and (
            outcome_parts.tells_how(fact)
        )

    def _told(self, fact: Fact, kind: outcome_parts.Kind) -> Topic:
        topic = self._field(fact)
        if (kind == "condition" or kind == "missing") and isinstance(fact.value, str) and _says_no_more(fact, kind):
            return topic._replace(form=kind)
        if kind == "offer" and not topic.withheld:
            return topic._replace(form=outcome_parts.offer_part(fact.field.name))
        return topic

    def _summary(self) -> Iterator[Topic]:
        """What was decided about, what was decided, when, how much, on what terms, and what follows from it; of a
        reconsideration, its result comes first."""
        yield from self._fields(self._find(RECONSIDERED))
        opening = self._opening()
        if opening:
            yield opening
        for path in ("outcome.result", self._said_at, "decided_at", "outcome.effective_date"):
            if path != self._said_at or not outcomes.is_said_twice(self._facts.get):
                yield from self._fields(self._find(path))
        if self._facts.get(RECONSIDERED):
            yield from self._fields(self._find("approval.authority"))
        later = self._asked(element for element in self._asking if element.where == "main_factors")
        outcome = [
            fact
            for fact in self._directly_in("outcome")
            if fact.name not in ("result", "action", *_LATER) and fact.path not in later
        ]
        beside = (opening.fact.path if opening else "", "outcome.effective_date")
        kinds = [(fact, outcome_parts.kind(fact)) for part in outcome for fact in self._scalars(part)]
        for wanted in ("decided", "offer", "term", "condition", "missing"):
            of_kind = (fact for fact, kind in kinds if kind == wanted and fact.path not in beside)
            yield from (self._told(fact, wanted) for fact in of_kind)
        yield from self._each("outcome.consequences", self._reasons.reasons)

    def _opening(self) -> Topic | None:
        """The amount that the decision is about: what was asked for, else what was decided."""
        outcome = [fact for fact in self._directly_in("outcome") if outcome_parts.container(fact.name) is None]
        own = [fact for name in OWN_EVENTS for fact in self._directly_in(f"events.{name}")]
        named = [fact for fact in (*outcome, *own) if not _ASKED.isdisjoint(words_of(fact.name))]
        sums = [fact for fact in own if " ".join(_without_currency(fact)) in _SUMS]
        for fact in (*named, *sums):
            for amount in fact.scalars() if not fact.in_list else ():
                if self._is_money(amount):
                    return self._field(amount)._replace(form="opening")
        given = (fact for fact in outcome if not _GIVEN.isdisjoint(words_of(fact.name)))
        for fact in (scalar for each in given for scalar in each.scalars()):
            if self._is_money(fact):
                return self._field(fact)._replace(form="opening_decided")
        return None

    def _is_money(self, fact: Fact) -> bool:
        return is_money(fact, self._measures) and not self._phrases.withhold(fact)

    def _role(self) -> Iterator[Topic]:
        """What the system was, what people did, and how much the system's result weighed where it did."""
        # By which authority a person reconsidered says nothing of a system.
        for path in (*_SYSTEM, *([] if self._facts.get(RECONSIDERED) else _PEOPLE)):
            if path != "system.version" or not _TECHNICAL.fullmatch(str(self._facts.get(path))[:_LONGEST_VERSION]):
                yield from self._fields(self._find(path))
        for path in _WEIGHT if self._is_decided() else ():
            if self._facts.get(path) is True:
                yield from self._fields(self._find(path))

    def _is_decided(self) -> bool:
        said = outcomes.outcome(self._facts.get(self._said_at))
        return said is None or said.kind not in _UNDECIDED or self._facts.get("outcome.result") is not None

    def _factors(self, *, briefly: bool) -> Iterator[Topic]:
        """Reasons first, then factors: what a reader asks is why.

        Args:
            briefly: no factors where there are reasons.
        """
        has_reasons = False
        for topic in self._given_reasons():
            has_reasons = has_reasons or not topic.withheld
            yield topic
        if not (briefly and has_reasons):
            yield from self._given_factors()
        yield from self._each("outcome.what_would_have_changed", self._reasons.reasons)

    def _given_reasons(self) -> Iterator[Topic]:
        containers = [part for part in self._reason_parts() if not outcome_parts.has_factors(part.name)]
        for part in sorted(containers, key=lambda part: part.name != _REASONS):
            yield from self._reasons.reasons(part)
        codes = self._find(f"outcome.{_CODES}")
        if codes and outcome_parts.has_more(codes.value, self._facts.get(f"outcome.{_REASONS}")):
            yield from self._reasons.reasons(codes)

    def _given_factors(self) -> Iterator[Topic]:
        for part in self._reason_parts():
            if outcome_parts.has_factors(part.name):
                yield from self._reasons.factors(part)

    def _reason_parts(self) -> list[Fact]:
        """The parts of the outcome that give reasons, but for codes, and what the pack asks for by name."""
        asked = self._asked(self._asking) - {self._facts.real(path) for path in _TOLD_UNASKED}
        outcome = self._find("outcome")
        return [part for part in _reasons_in(outcome) if part.path not in asked] if outcome else []

    def _inputs(self, *, briefly: bool) -> Iterator[Topic]:
        """Everything that the events brought."""
        if briefly and any(not topic.withheld for topic in self._given_reasons()):
            yield from self._given_factors()
        for fact in self._scalars(self._find("events")):
            if not (_is_event_name(fact) or _is_of_vector(fact)):
                yield self._field(fact)

    def _asked_for(self, element: Element) -> Iterator[Topic]:
        found = False
        for topic in self._at_paths(element.literal_paths):
            found = True
            yield topic
        if not found:
            everything = chain.from_iterable(self._scalars(self._find(part)) for part in ("outcome", "events"))
            named = (fact for fact in everything if _names_something(fact) and element.looks_for(fact.path))
            yield from map(self._field, islice(named, _MOST_NAMED))

    def _at_paths(self, paths: tuple[str, ...]) -> Iterator[Topic]:
        for path in paths:
            for fact in self._directly_in(path):
                for field in self._scalars(fact if fact.is_scalar or fact.in_list else None):
                    kind = outcome_parts.kind(field)
                    if fact.path != _APPROVER:
                        yield self._told(field, kind) if outcome_parts.names_item(field) else self._field(field)

    def _fields(self, part: Fact | None) -> Iterator[Topic]:
        return map(self._field, self._scalars(part))

    def _field(self, fact: Fact) -> Topic:
        return Topic(fact, withheld=self._phrases.withhold(fact))

    def _scalars(self, part: Fact | None) -> Iterator[Fact]:
        """Every scalar of a part of the record that is not empty, nor told as the currency or unit of another."""
        found = part.scalars() if part else iter(())
        return (fact for fact in found if _is_told(fact) and not self._measures.is_used(fact))

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
        found = self._find(path)
        if found:
            yield from select(found)


def _is_told(fact: Fact) -> bool:
    """Whether there is something to tell: nothing was decided "on yesterday", and `0000-00-00` is no day at all."""
    value = fact.value
    if is_blank(value) or (isinstance(value, str) and values.stands_for_no_day(value)):
        return False
    return fact.path != "decided_at" or (isinstance(value, str) and values.parse_day(value) is not None)


def _names_something(fact: Fact) -> bool:
    """Whether a value can be what a thing is called: no number, and no day."""
    value = fact.value
    return (
        isinstance(value, str)
        and fact.path_length <= MOST_SOURCE
        and any(map(str.isalpha, value[:_LONGEST_DAY]))
        and values.parse_day(value) is None
    )


def _is_event_name(fact: Fact) -> bool:
    """The name of an event in a list: it is no information about the person, and stands beside what is."""
    event = fact.parent
    return bool(
        fact.name in NAMES_OF_EVENTS
        and fact.value == (event.name if event else None)
        and event
        and event.in_list
        and event.parent
        and event.parent.path == "events"
    )


def _is_of_vector(fact: Fact) -> bool:
    """Whether it is one of the numbers that a model turned a text or picture into: nobody can read them."""
    return fact.in_list and outcome_parts.is_number(fact.value) and not _VECTORS.isdisjoint(words_of(fact.field.name))


def _reasons_in(part: Fact) -> Iterator[Fact]:
    """What gives reasons within an object or list, whatever is around it."""
    for child in () if part.is_scalar else part.children():
        kind = None if child.in_list else outcome_parts.container(child.name)
        if kind is None and child.name not in _LATER:
            yield from _reasons_in(child)
        elif kind == "reason" and child.name not in (_CODES, *_LATER) and outcome_parts.gives_reasons(child):
            yield child


def _without_currency(fact: Fact) -> list[str]:
    return parse_name(fact.name).stem.casefold().split(" ")


def _says_no_more(fact: Fact, kind: outcome_parts.Kind) -> bool:
    """Whether a text is called no more than a condition, or missing, so that its name need not be told."""
    name = fact.field.name
    says = outcome_parts.container(name) == kind or outcome_parts.key(name) in ("prose", "name")
    return says or outcome_parts.names_item(fact)
