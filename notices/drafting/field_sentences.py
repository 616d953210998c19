"""One field of a record in words, the phrasebook's where it has any: what it is called, and its value."""

from typing import NamedTuple

from decisions.record import outcomes
from notices import outcome_parts
from notices.drafting.measures import Measures
from notices.drafting.names import FieldContext, FieldNames
from notices.drafting.subjects import subject_of
from notices.localization import LONGEST_TEXT, Catalog, FieldText
from notices.localization.names import parse_name, words_of
from notices.localization.sentences import clean, one_line
from notices.localization.values import parse_day
from notices.outcome_parts import container, without_offer
from notices.phrasebook import Phrase
from notices.record_paths import Fact, Facts

# What stands around the terms of an offer, and says nothing of them.
_OF_TERMS = {"details", "term", "terms"}
# What such a field is, `requested_amount` around it says already.
_AMOUNTS = {"amount", "value"}
# How something is done, `appeal` around it says already.
_HOW = {"comment", "how", "wie"}
# When these happened to an event says how the work went on, and nothing about the person.
_STEPS = {"completed", "ended", "finished", "processed", "started"}

_DAYS = {"outcome.effective_date", "outcome.valid_until", "outcome.decision_due", "outcome.score_date"}


class PreparedField(NamedTuple):
    """Everything that a sentence about a field may need."""

    fact: Fact
    phrase: Phrase | None
    text: FieldText
    context: FieldContext
    label: str
    """With as much around the field's name as it needs within its event."""

    @property
    def is_step(self) -> bool:
        """Whether this is no more than the time of a step in the processing."""
        is_step = self.text.is_event_date and self.text.label in _STEPS
        return is_step and bool(self.context.event) and not self.context.is_own and self.phrase is None

    @property
    def is_terse(self) -> bool:
        """Whether the label says too little without the event: one word, and not the phrasebook's."""
        has_label = self.phrase is not None and bool(self.phrase.label)
        return " " not in self.label and not self.context.is_own and not has_label


class FieldSentences:
    """Sentences have no capital and no end mark yet: each may be the beginning of a longer one."""

    def __init__(self, facts: Facts, catalog: Catalog, names: FieldNames, measures: Measures) -> None:
        self._catalog, self._names, self._measures = catalog, names, measures
        self._shortened: dict[str, str] = {}
        self._fields = _fields_of(facts, catalog)
        self._subject = catalog.subjects[subject_of(facts)]

    def prepare(self, fact: Fact, name: str | None = None, *, is_own: bool = False) -> PreparedField:
        """What a sentence about a field may need.

        Args:
            name: a better name than the field's own.
            is_own: the name was made for this field, so that a unit in it is the field's.
        """
        phrase = self._names.phrases.of(fact, *([name] if name else []))
        context, text = self._names.context(fact), self._text(fact, name, is_own=is_own)
        return PreparedField(fact, phrase, text, context, self._label(fact, phrase, text, context, name))

    def sentence(self, field: PreparedField, *, in_event: bool = False) -> str:
        """A field as one sentence.

        Args:
            in_event: whether the event has to be named so that the field is not taken for another.
        """
        path, value = field.fact.field.path, field.text.value
        if field.phrase and field.phrase.sentence:
            return fill_sentence(field.phrase.sentence, value)
        # A flag is no text: "the internal rule that was used: yes" would name a rule.
        own = None if isinstance(field.fact.value, bool) else self._fields.get(path)
        known = self._catalog.choice(path, field.fact.value) or own
        if path in _DAYS and not parse_day(str(field.fact.value)):
            known = None  # a sentence about a day has no room for "next month"
        if known:
            return known.format(value=value, subject=self._subject)
        event = field.context.event
        if field.text.is_event_date and event and field.label == field.text.label:
            message = self._catalog.event_dates.get(field.label, self._catalog.event_dates["other"])
            return message.format(context=event, label=field.label, value=value)
        label = self._label_within(field.label, (event,)) if in_event and event else field.label
        return self._catalog.message("field", label=label, value=value)

    def offer(self, fact: Fact) -> str:
        """One of the terms of an offer; the label need not say that it is offered."""
        field = self.prepare(fact)
        label, holder = without_offer(field.text.label), field.context.holder
        if holder and container(holder) != "offer" and holder.casefold() not in _OF_TERMS:
            label = f"{holder} {label}"
        if fact.field.parent and fact.field.parent.in_list:  # one of several offers
            label = self._label_within(label, field.context.outer[-1:])
        if label.casefold() == field.text.label.casefold() and container(fact.field.name) == "offer":
            return self._catalog.message("offer_text", value=field.text.value)
        return self._catalog.message("offer", label=label, value=field.text.value)

    def about(self, form: str, fact: Fact) -> str:
        """What the letter is about, or how or until when an offer is accepted."""
        if form == "accept_until" and not parse_day(str(fact.value)):
            form = "accept_within"
        field = self.prepare(fact)
        return self._catalog.message(form, subject=self._subject, label=field.label, value=field.text.value)

    def _text(self, fact: Fact, name: str | None, *, is_own: bool) -> FieldText:
        """Label and value. What a number is measured in is said by its own field, never by the name of a factor that
        cites it."""
        value = self._shorten(fact.value) if isinstance(fact.value, str) else fact.value
        measure = self._measures.of(fact)
        own = self._catalog.field_text(fact.field.name, value, measure)
        if name is None:
            return own
        better = self._catalog.field_text(name, value, measure)
        if is_own and not any(measure):
            return better
        return own._replace(label=self._catalog.label_without_unit(name))

    def _shorten(self, text: str) -> str:
        """A text with no more than is printed of it. It is read once, for any number of factors may be about it."""
        if len(text) <= LONGEST_TEXT:
            return text
        if text not in self._shortened:
            self._shortened[text] = one_line(text)[: LONGEST_TEXT + 1]
        return self._shortened[text]

    def _label(
        self, fact: Fact, phrase: Phrase | None, text: FieldText, context: FieldContext, name: str | None
    ) -> str:
        field = fact.field
        if phrase and phrase.label:
            return self._label_within(clean(phrase.label), () if phrase.key == name else context.outer)
        if name:
            return text.label
        if field.name == "name" and context.outer and field.parent and field.parent.in_list:
            *outer, item = context.outer
            return self._label_within(item, tuple(outer))
        if outcome_parts.names_item(fact):
            return text.label
        label = text.label or self._catalog.messages["unnamed"]
        holder, words = context.holder, " ".join(words_of(field.name))
        is_minor = parse_name(field.name).is_minor and text.label == "amount" and bool(self._measures.of(fact).currency)
        is_amount = is_minor or (words in _AMOUNTS and "amount" in words_of(field.parent.name if field.parent else ""))
        if is_amount or (holder and (words in _HOW or holder.casefold().endswith(f" {label.casefold()}"))):
            label = holder or label
        elif not label.startswith(holder):
            *_, last = holder.split(" ")
            label = f"{holder} {label.removeprefix(f'{last} ')}".strip()
        return self._label_within(label, context.outer)

    def _label_within(self, label: str, names: tuple[str, ...]) -> str:
        return self._catalog.message("label_in_context", label=label, context=", ".join(names)) if names else label


def _fields_of(facts: Facts, catalog: Catalog) -> dict[str, str]:
    """The sentences for fields that fit what became of the case: nobody tells when it was decided if it was not."""
    said = outcomes.outcome(facts.get(outcomes.told_at(facts.get)))
    if said and said.word in catalog.since and not facts.get("outcome.result"):
        return {**catalog.fields, **catalog.fields_if_not_decided, "decided_at": catalog.since[said.word]}
    is_automated = facts.get("outcome.solely_automated") is True
    return {**catalog.fields, **(catalog.fields_if_automated if is_automated else {})}


def fill_sentence(sentence: str, value: str) -> str:
    """An organization's sentence with a field's value. Its full stop comes again when the sentence is finished."""
    return one_line(sentence).removesuffix(".").replace("{value}", value)
