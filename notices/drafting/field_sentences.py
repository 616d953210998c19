"""One field of a record in words, the phrasebook's where it has any: what it is called, and its value."""

from typing import NamedTuple

from notices.drafting.names import Names, Place
from notices.localization import LONGEST_TEXT, Shown, Wording
from notices.localization.sentences import clean, one_line
from notices.phrasebook import Phrase
from notices.record_paths import Fact, Facts

# When these happened to an event says how the work went on, and nothing about the person.
_STEPS = {"completed", "ended", "finished", "processed", "started"}


class Told(NamedTuple):
    """A field that is about to be told."""

    fact: Fact
    phrase: Phrase | None
    shown: Shown
    place: Place
    label: str
    """With as much around the field's name as it needs within its event."""

    @property
    def is_step(self) -> bool:
        """Whether this is no more than the time of a step in the processing."""
        moved_on = self.shown.happened and self.shown.label in _STEPS
        return moved_on and bool(self.place.event) and not self.place.own and self.phrase is None

    @property
    def is_terse(self) -> bool:
        """Whether the label says too little without the event: one word, and not the phrasebook's."""
        worded = self.phrase is not None and bool(self.phrase.label)
        return " " not in self.label and not self.place.own and not worded


class Telling:
    """What is told has no capital and no end mark yet: it may be the beginning of a longer sentence."""

    def __init__(self, facts: Facts, words: Wording, names: Names) -> None:
        self._words, self._names = words, names
        self._texts: dict[str, str] = {}
        events = facts.get("events")
        self._fields = {**words.fields, **(words.alone if facts.get("outcome.solely_automated") is True else {})}
        found = {event.name for event in facts.at("events").children()} if isinstance(events, dict | list) else set()
        self._matter = next((words.matters[name] for name in words.matters if name in found), words.matters["other"])

    def prepare(self, fact: Fact, called: str | None = None) -> Told:
        """Everything that a sentence about a field may need.

        Args:
            called: a better name than the field's own.
        """
        phrase = self._names.phrases.of(fact, *([called] if called else []))
        place, shown = self._names.place(fact), self._shown(fact, called)
        return Told(fact, phrase, shown, place, self._label(fact.field, phrase, shown, place, called))

    def say(self, told: Told, *, in_event: bool = False) -> str:
        """A field as one sentence.

        Args:
            in_event: whether the event has to be named so that the field is not taken for another.
        """
        path, value = told.fact.field.path, told.shown.value
        if told.phrase and told.phrase.sentence:
            return filled(told.phrase.sentence, value)
        known = self._words.choice(path, told.fact.value) or self._fields.get(path)
        if known:
            return known.format(value=value, matter=self._matter)
        event = told.place.event
        if told.shown.happened and event and told.label == told.shown.label:
            template = self._words.moments.get(told.label, self._words.moments["other"])
            return template.format(context=event, happened=told.label, value=value)
        label = self._in_context(told.label, (event,)) if in_event and event else told.label
        return self._words.say("field", label=label, value=value)

    def _shown(self, fact: Fact, called: str | None) -> Shown:
        """Label and value. A unit in the field's own name holds where the better name has none."""
        value = self._shortened(fact.value) if isinstance(fact.value, str) else fact.value
        own = self._words.show(fact.field.name, value)
        if called is None:
            return own
        better = self._words.show(called, value)
        return better if self._words.measures(called) else own._replace(label=better.label)

    def _shortened(self, text: str) -> str:
        """A text with no more than is shown of it. It is read once, for any number of factors may be about it."""
        if len(text) <= LONGEST_TEXT:
            return text
        if text not in self._texts:
            self._texts[text] = one_line(text)[: LONGEST_TEXT + 1]
        return self._texts[text]

    def _label(self, field: Fact, phrase: Phrase | None, shown: Shown, place: Place, called: str | None) -> str:
        if phrase and phrase.label:
            return self._in_context(clean(phrase.label), () if phrase.key == called else place.context)
        if called:
            return shown.label
        if field.name == "name" and place.context and field.parent and field.parent.in_list:
            *context, item = place.context
            return self._in_context(item, tuple(context))
        label = shown.label or self._words.words["unnamed"]
        if not label.startswith(place.holder):
            label = f"{place.holder} {label}"
        return self._in_context(label, place.context)

    def _in_context(self, label: str, context: tuple[str, ...]) -> str:
        return self._words.say("label_in_context", label=label, context=", ".join(context)) if context else label


def filled(phrase: str, value: str) -> str:
    """An organization's sentence, whose full stop comes again when it is done."""
    return one_line(phrase).removesuffix(".").replace("{value}", value)
