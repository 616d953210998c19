"""One field of a record in words, the phrasebook's where it has any: what it is called, and its value."""

from typing import NamedTuple

from notices.drafting.names import FieldContext, FieldNames
from notices.localization import LONGEST_TEXT, Catalog, FieldText
from notices.localization.sentences import clean, one_line
from notices.phrasebook import Phrase
from notices.record_paths import Fact, Facts

# When these happened to an event says how the work went on, and nothing about the person.
_STEPS = {"completed", "ended", "finished", "processed", "started"}


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

    def __init__(self, facts: Facts, catalog: Catalog, names: FieldNames) -> None:
        self._catalog, self._names = catalog, names
        self._shortened: dict[str, str] = {}
        is_automated = facts.get("outcome.solely_automated") is True
        self._fields = {**catalog.fields, **(catalog.fields_if_automated if is_automated else {})}
        self._subject = _subject(facts, catalog)

    def prepare(self, fact: Fact, name: str | None = None) -> PreparedField:
        """What a sentence about a field may need.

        Args:
            name: a better name than the field's own.
        """
        phrase = self._names.phrases.of(fact, *([name] if name else []))
        context, text = self._names.context(fact), self._text(fact, name)
        return PreparedField(fact, phrase, text, context, self._label(fact.field, phrase, text, context, name))

    def sentence(self, field: PreparedField, *, in_event: bool = False) -> str:
        """A field as one sentence.

        Args:
            in_event: whether the event has to be named so that the field is not taken for another.
        """
        path, value = field.fact.field.path, field.text.value
        if field.phrase and field.phrase.sentence:
            return fill_sentence(field.phrase.sentence, value)
        known = self._catalog.choice(path, field.fact.value) or self._fields.get(path)
        if known:
            return known.format(value=value, subject=self._subject)
        event = field.context.event
        if field.text.is_event_date and event and field.label == field.text.label:
            message = self._catalog.event_dates.get(field.label, self._catalog.event_dates["other"])
            return message.format(context=event, label=field.label, value=value)
        label = self._label_within(field.label, (event,)) if in_event and event else field.label
        return self._catalog.message("field", label=label, value=value)

    def _text(self, fact: Fact, name: str | None) -> FieldText:
        """Label and value. A unit in the field's own name holds where the better name has none."""
        value = self._shorten(fact.value) if isinstance(fact.value, str) else fact.value
        own = self._catalog.field_text(fact.field.name, value)
        if name is None:
            return own
        better = self._catalog.field_text(name, value)
        return better if self._catalog.has_unit(name) else own._replace(label=better.label)

    def _shorten(self, text: str) -> str:
        """A text with no more than is printed of it. It is read once, for any number of factors may be about it."""
        if len(text) <= LONGEST_TEXT:
            return text
        if text not in self._shortened:
            self._shortened[text] = one_line(text)[: LONGEST_TEXT + 1]
        return self._shortened[text]

    def _label(
        self, field: Fact, phrase: Phrase | None, text: FieldText, context: FieldContext, name: str | None
    ) -> str:
        if phrase and phrase.label:
            return self._label_within(clean(phrase.label), () if phrase.key == name else context.outer)
        if name:
            return text.label
        if field.name == "name" and context.outer and field.parent and field.parent.in_list:
            *outer, item = context.outer
            return self._label_within(item, tuple(outer))
        label = text.label or self._catalog.messages["unnamed"]
        if not label.startswith(context.holder):
            label = f"{context.holder} {label}"
        return self._label_within(label, context.outer)

    def _label_within(self, label: str, names: tuple[str, ...]) -> str:
        return self._catalog.message("label_in_context", label=label, context=", ".join(names)) if names else label


def fill_sentence(sentence: str, value: str) -> str:
    """An organization's sentence with a field's value. Its full stop comes again when the sentence is finished."""
    return one_line(sentence).removesuffix(".").replace("{value}", value)


def _subject(facts: Facts, catalog: Catalog) -> str:
    """What was decided about, by the record's events."""
    events = facts.get("events")
    names = {event.name for event in facts.at("events").children()} if isinstance(events, dict | list) else set()
    return next((catalog.subjects[name] for name in catalog.subjects if name in names), catalog.subjects["other"])
