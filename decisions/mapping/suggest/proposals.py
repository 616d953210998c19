"""Proposals of entries, each with the reason for it and the question that a person has to answer."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from decisions.mapping.suggest import vocabulary
from decisions.mapping.suggest.statistics import FieldStatistics, statistics
from decisions.record import patterns
from decisions.record.meanings import TERM_UNITS

PUBLISHED = {
    "decision_id": "reference",
    "decided_at": "decided",
    "subject.reference": "reference",
    "subject.language": "language",
    "subject.jurisdiction": "jurisdiction",
    "system.name": "system.name",
    "system.version": "system.version",
    "system.provider": "system.provider",
    "system.purpose": "system.purpose",
    "outcome.effective_date": "effective",
    "outcome.solely_automated": "automation",
    "approval.approver": "approval.person",
    "approval.authority": "approval.authority",
    "approval.human_involvement": "human",
}
"""Fields of the published profile that need no options."""
_CURRENCIES = frozenset({"usd", "eur", "gbp", "cad", "chf", "jpy", "aud", "nzd", "sek", "nok", "dkk", "pln", "czk"})
_MAX_LISTED = 20  # codes that a question lists
_MIN_EPOCH_SECONDS, _MIN_EPOCH_MILLISECONDS = 10**9, 10**12


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposed entry for a field.

    Attributes:
        entry: the entry as a mapping writes it, or None where only a person can say what the field means.
        why: the reason for it.
        question: the question that a person answers before they confirm it, or "".
        field: the statistics of the field.
        codes: the codes that the entry or the question is about.
    """

    entry: dict[str, Any] | None
    why: str
    question: str
    field: FieldStatistics
    codes: tuple[str, ...] = ()


def propose(records: Iterable[dict[str, Any]]) -> list[Proposal]:
    """Return a proposal for each field of sample records. Those with a question come first."""
    return propose_fields(statistics(records))


def propose_fields(fields: dict[str, FieldStatistics]) -> list[Proposal]:
    """Return a proposal for each field, by general path. Those with a question come first."""
    proposals = [_Field(field, fields).proposal() for field in fields.values()]
    return sorted(proposals, key=lambda proposal: not proposal.question)


class _Field:
    """A field with the words of its names, and the rules that propose its meaning. The first that fits counts."""

    def __init__(self, field: FieldStatistics, fields: dict[str, FieldStatistics]) -> None:
        self.field, self.fields = field, fields
        self.steps = [step.key for step in patterns.parse(field.path).steps]  # None for a position
        self.names = [vocabulary.words(step) for step in self.steps if step is not None]
        self.name = self.names[-1] if self.names else []
        self.stem = field.path.rpartition(".")[0]

    def proposal(self) -> Proposal:
        of_outcome = (self._decision, self._date, self._term, self._factor, self._words, self._money, self._rate)
        of_others = (self._requested, self._date, self._input)
        own = of_outcome if self.steps[0] == "outcome" else of_others
        rules: tuple[Callable[[], Proposal | None], ...] = (self._published, self._withheld, *own)
        for rule in rules:
            if proposal := rule():
                return proposal
        return self._other()

    def _make(self, means: str, why: str, question: str = "", codes: Iterable[str] = (), **options: Any) -> Proposal:
        label = {"label": self.field.label} if self.field.label else {}
        entry = {"path": self.field.path, "means": means, **label, **options, "source": "proposed", "why": why}
        return Proposal(entry, why, question, self.field, tuple(codes))

    def _ask(self, why: str, question: str, codes: Iterable[str] = ()) -> Proposal:
        return Proposal(None, why, question, self.field, tuple(codes))

    def _says(self, group: str, meaning: str) -> bool:
        """Whether any name on the path has a meaning."""
        return any(vocabulary.has(group, meaning, name) for name in self.names)

    def _published(self) -> Proposal | None:
        means = PUBLISHED.get(self.field.path)
        return self._make(means, "a field of the published profile") if means else None

    def _withheld(self) -> Proposal | None:
        """Withhold a field if a name says a secret, a protected trait, an internal or another person."""
        for name in self.names:
            if match := vocabulary.meaning("not_told", name):
                kind, word = match
                return self._make("not_told", f"a name has the word {word}", **{"class": kind})
        return None

    def _decision(self) -> Proposal | None:
        """Propose the decision for a field of few codes that is called so."""
        field = self.field
        if len(self.name) > 1 or not vocabulary.has("roles", "decision", self.name) or field.has_many_values:
            return None
        outcomes = {code: self._outcome(code) for code in field.values}
        values = {code: {"outcome": kind, "relation": "equivalent"} for code, kind in outcomes.items() if kind}
        unknown = ", ".join(code for code, kind in outcomes.items() if not kind)
        question = f"What do these codes decide: {unknown}?" if unknown else ""
        why = "its name says that it is the decision"
        if not values:
            return self._ask(why, question, outcomes)
        return self._make("decision", why, question, outcomes, values=values)

    def _outcome(self, code: str) -> str | None:
        """Return the outcome that a code or its words spell, or None."""
        texts = (*self.field.words.get(code, {}).values(), code)
        return next(filter(None, map(vocabulary.outcome_of, texts)), None)

    def _date(self) -> Proposal | None:
        field, named = self.field, vocabulary.has("measures", "date", self.name)
        if field.kind == "text" and field.are_mostly(field.days):
            return self._make(self._time(), "its values are written as days")
        low = field.lowest or 0
        if field.kind == "number" and named and low >= _MIN_EPOCH_SECONDS:
            epoch = "milliseconds" if low >= _MIN_EPOCH_MILLISECONDS else "seconds"
            why = f"its name says a time, and its numbers fit {epoch} since 1970"
            return self._make(self._time(), why, epoch=epoch)
        if field.kind == "text" and named and field.has_slashes_or_dots:
            question = "How are its days written: month first, or day first?"
            return self._make(self._time(), "its name says a time", question)
        return None

    def _time(self) -> str:
        """Return which time a day is. Two clocks count from times of the events."""
        of_events = ("received", "completed") if self.steps[0] == "events" else ("decided", "effective")
        for means in of_events:
            if vocabulary.has("measures", means, self.name):
                return means
        is_end = self._says("roles", "offer") and vocabulary.has("measures", "until", self.name)
        return "offer.until" if is_end else "date"

    def _term(self) -> Proposal | None:
        unit = next((unit for unit in TERM_UNITS if vocabulary.has("terms", unit, self.name)), None)
        if unit is None or self.field.kind != "number":
            return None
        return self._make(self._part("term"), f"its name says {unit}", unit=unit)

    def _factor(self) -> Proposal | None:
        """Propose a factor with the fields beside its name. Those fields need no entry."""
        if not self._says("roles", "factor"):
            return None
        beside = {"value": ("value",), "direction": ("direction", "effect", "impact")}
        others = ("path", "code", "rank", "id", *beside["value"], *beside["direction"])
        if self.field.kind != "text" or self.steps[-1] in others:
            return self._make("reference", "a field beside a factor")
        options = {
            option: f".{name}"
            for option, names in beside.items()
            for name in names
            if f"{self.stem}.{name}" in self.fields
        }
        return self._make("factor", "a name on its path says factor", **options)

    def _words(self) -> Proposal | None:
        """Propose a reason, condition, consequence or missing document for texts."""
        for means in ("reason", "condition", "consequence", "missing"):
            if self.field.kind == "text" and self._says("roles", means):
                why = f"a name on its path says {means}"
                if self.field.words:
                    return self._coded(means, why)
                if not self.field.are_mostly(self.field.codes):
                    return self._make(means, why)
                if f"{self.stem}.text" in self.fields:
                    return self._make("reference", "a code beside a text")
                codes = ", ".join(self.field.values) or "there are more than 50"
                return self._ask(why, f"What do these codes mean, in words: {codes}?", self.field.values)
        return None

    def _coded(self, means: str, why: str) -> Proposal:
        """Propose a code table. A person writes the words that a data dictionary lacks."""
        words = self.field.words
        values = {code: {**by_language, "relation": "equivalent"} for code, by_language in words.items()}
        missing = [code[:64] for code, by_language in words.items() if not by_language]
        listed = ", ".join([*missing[:_MAX_LISTED], "…"] if len(missing) > _MAX_LISTED else missing)
        question = f"What do these codes mean, in words: {listed}?" if missing else ""
        return self._make(means, why, question, words, values=values)

    def _requested(self) -> Proposal | None:
        """Propose the amount that was asked for."""
        is_asked = vocabulary.has("roles", "requested", self.name)
        return self._money("object.amount") if is_asked else None

    def _money(self, means: str = "") -> Proposal | None:
        """Propose an amount. A person says whether it counts cents, and in which currency unless the record says so."""
        field = self.field
        currency = next((word.upper() for word in self.name if word in _CURRENCIES), None)
        if field.kind != "number" or not (currency or vocabulary.has("measures", "amount", self.name)):
            return None
        if not currency and f"{self.stem}.currency" in self.fields:
            currency = ".currency"
        has_cents = bool(field.hundreds) and field.are_mostly(field.hundreds)
        question = "Does it count cents? Nearly all of its numbers end in 00." if has_cents else ""
        if not field.records:  # a field of a data dictionary, which has no numbers to judge by
            question = "Does it count cents?"
        if not currency:
            return self._ask("its name says an amount", f"Which currency is it in? {question}".strip())
        return self._make(means or self._part("amount"), "its name says an amount", question, currency=currency)

    def _rate(self) -> Proposal | None:
        field = self.field
        if field.kind != "number" or not vocabulary.has("measures", "rate", self.name):
            return None
        is_percent = any(word.startswith(("percent", "pct")) for word in self.name)
        scale = "percent" if is_percent or (field.highest or 0) > 1 else "fraction"
        question = "" if is_percent else f"Is {scale} right? 0.135 may be 13.5 % or 0.135 %."
        return self._make(self._part("rate"), "its name says a rate", question, scale=scale)

    def _part(self, measure: str) -> str:
        """Return the meaning of a measure: a part of an offer, if a name on the path says so."""
        return f"offer.{measure}" if self._says("roles", "offer") else measure

    def _input(self) -> Proposal | None:
        """Propose plain information for a field of the events. A letter names its kind, without the value."""
        if self.steps[0] != "events" or len(self.names) < 2:
            return None
        label = " ".join(self.names[1] if len(self.names) == 2 else [*self.names[1], *self.name])
        return self._make("input", "a field of the events", label=self.field.label or {"en": label})

    def _other(self) -> Proposal:
        if self.name == ["currency"]:
            return self._make("reference", "the currency of the amounts beside it")
        if vocabulary.has("roles", "reference", self.name):
            return self._make("reference", "its name says an identifier")
        if self.steps[0] == "outcome":
            return self._ask("a field of the outcome", "What does it say to the person?")
        return self._make("not_told", "a field that no letter needs", **{"class": "internal"})
