"""Sentences about the values of a profile: one sentence and one source for each statement."""

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from custody.sealing.field_paths import keys
from decisions.mapping.projection import AGAINST, FOR, place
from decisions.record import outcomes
from decisions.record.profile import Decision, Factor, Input, Quantity, Text, Value
from notices.content_limits import Statement
from notices.drafting.phrases import FieldPhrases
from notices.drafting.value_texts import value_text
from notices.localization import Catalog
from notices.localization.sentences import END_MARKS, clean, finish_sentence, isolate, one_line, split_sentences
from notices.packs import automation
from notices.phrasebook import Phrase

_CODE: Final = re.compile(r"[A-Z0-9._/\-]+")
_SENTENCES = frozenset({"reason", "consequence", "outcome.what_would_have_changed"})
"""Meanings and fields whose texts are sentences already."""
_NAMED = frozenset({"condition", "missing"})
"""Meanings whose texts may be sentences, or only the name of a thing."""
_MAX_NAMES = 2
"""Keys of a nested field that its label has."""
_EVENTS = {"claim": "claim", "application": "application"}
"""Events of the published profile that say what was decided about, and the catalog's word for it."""


class Sentences:
    """Writes sentences about one record in one language."""

    def __init__(self, catalog: Catalog, phrases: FieldPhrases, record: Callable[[str], Any]) -> None:
        """
        Args:
            record: returns the value at a path of the published record, or None.
        """
        self._catalog, self._phrases = catalog, phrases
        self._language = catalog.locale.language
        self._subject = catalog.subjects[_subject(record)]
        self._fields = _fields(catalog, record)

    def statements(self, value: Value) -> Iterator[Statement]:
        """Yield the statements about a value. A code without words has none."""
        for text, source in self._sentences(value):
            if sentence := finish_sentence(text):
                yield {"statement": sentence, "source": source}

    def has_words(self, value: Value) -> bool:
        """Whether a value can be told: it is no code, or the mapping or phrasebook has words for it."""
        text = value.name if isinstance(value, Factor) else value
        return not isinstance(text, Text) or bool(self.words(text))

    def words(self, text: Text) -> str:
        """Return a text of the record, or the words for its code in the letter's language, or ""."""
        if text.words:
            return text.words.get(self._language, "")
        phrase = self._phrases.named(text.text)
        if phrase and (words := _words_of(phrase)):
            return words
        if text.origin.meaning in ("reason", "factor") and _is_code(text):
            return ""
        return self._catalog.spell_out(text.text)

    def _sentences(self, value: Value) -> Iterator[tuple[str, str]]:
        source = value.origin.path
        match value:
            case Decision():
                yield self._decision(value), source
            case Factor():
                yield from self._factor(value)
            case Input():
                yield self._input(value), source
            case Text() if _kind(value) in _SENTENCES or (_kind(value) in _NAMED and value.text.endswith(END_MARKS)):
                yield from ((isolate(sentence), source) for sentence in split_sentences(self.words(value)))
            case _:
                yield self._field(value), source

    def _decision(self, decision: Decision) -> str:
        if words := decision.words.get(self._language):
            return words
        return self._catalog.choices[outcomes.PATHS[0]][decision.kind].format(subject=self._subject)

    def _factor(self, factor: Factor) -> Iterator[tuple[str, str]]:
        """Yield a factor with its value and the way it counted. The sentence cites the value beside the name."""
        name, phrase = self.words(factor.name), self._phrases.named(factor.name.text)
        if not name:
            return
        if not (phrase or factor.name.words):
            name = self._catalog.label_without_unit(factor.name.text)
        source = factor.origin.path
        if factor.measured:
            value, source = value_text(factor.measured, self._catalog, factor.name.text), factor.measured.origin.path
            own = fill_sentence(phrase.sentence, value) if phrase and phrase.sentence else ""
            name = own or self._catalog.message("field", label=name, value=value)
        yield self._catalog.message(_direction(factor), factor=name), source

    def _input(self, value: Input) -> str:
        path = value.origin.profile_path
        if path:
            text = self._catalog.field_text(path.rpartition(".")[2], value.origin.stored)
            if sentence := self._own_sentence(value.origin.path, path, text.value):
                return sentence
            return self._event_label(value.origin.path, path)
        label = value.origin.label.get(self._language, "")
        if not label or value.value is None:
            return label
        return self._catalog.message("field", label=label, value=clean(value.value))

    def _own_sentence(self, path: str, published: str, value: str) -> str:
        """Return the organization's sentence for a field with its value, or ""."""
        phrase = self._phrases.named(path, published, published.rpartition(".")[2])
        return fill_sentence(phrase.sentence, value) if phrase and phrase.sentence else ""

    def _event_label(self, path: str, general: str) -> str:
        """Return the words for a field of an event, such as `income (application)`."""
        event, *names = [key for key in keys(general)[1:] if key != "*"]
        if not names:
            return clean(self._catalog.label(event))
        phrase = self._phrases.named(path, general, names[-1])
        label = (phrase and phrase.label) or self._catalog.label_without_unit("_".join(names[-_MAX_NAMES:]))
        context = self._catalog.label(event)
        return clean(self._catalog.message("label_in_context", label=label, context=context) if context else label)

    def _field(self, value: Quantity | Text) -> str:
        path = place(value.origin) or value.origin.path
        name = path.rpartition(".")[2]
        words = self.words(value) if isinstance(value, Text) else value_text(value, self._catalog, name)
        if value.origin.meaning == "profile" and isinstance(value, Text):
            words = value_text(value, self._catalog, name)
        if sentence := self._own_sentence(value.origin.path, path, words):
            return sentence
        template = self._catalog.choice(path, value.origin.stored)
        if not template and not isinstance(value.origin.stored, bool):
            template = self._fields.get(path) or self._catalog.messages.get(value.origin.meaning)
        if template:
            return template.format(value=isolate(words), subject=self._subject)
        label = value.origin.label.get(self._language) or (
            self._event_label(path, path) if path.startswith("events.") else self._catalog.label_without_unit(name)
        )
        return self._catalog.message("field", label=label, value=words)


def _words_of(phrase: Phrase) -> str:
    """Return the words of a phrase for a code, or "". A sentence with a place for a value says nothing without one."""
    is_whole = phrase.sentence and "{value}" not in phrase.sentence
    return one_line(phrase.sentence if is_whole else phrase.label).removesuffix(".")


def fill_sentence(sentence: str, value: str) -> str:
    """Return an organization's sentence with a field's value. `finish_sentence` adds its full stop again."""
    return one_line(sentence).removesuffix(".").replace("{value}", value)


def _is_code(text: Text) -> bool:
    """Whether a reason or factor is a code, which says nothing without words of the mapping or phrasebook."""
    path = text.origin.path
    return bool(_CODE.fullmatch(text.text)) or path.endswith(".code") or path.startswith("outcome.reason_codes")


def _kind(value: Text) -> str:
    """Return the meaning of a text, or the field of the published profile that it is."""
    return value.origin.profile_path or value.origin.meaning


def _direction(factor: Factor) -> str:
    word = factor.direction.text.strip().casefold() if factor.direction else ""
    return "factor_against" if word in AGAINST else "factor_for" if word in FOR else "factor"


def _subject(record: Callable[[str], Any]) -> str:
    """Return the catalog's key for what was decided about."""
    if record("reconsiders"):
        return "original"
    return next((subject for event, subject in _EVENTS.items() if record(f"events.{event}")), "other")


def _fields(catalog: Catalog, record: Callable[[str], Any]) -> dict[str, str]:
    """Return the sentences for fields. They depend on whether the case is decided, and by whom."""
    outcome = outcomes.outcome(outcomes.said(record))
    if outcome and outcome.word in catalog.since and not record("outcome.result"):
        return {**catalog.fields, **catalog.fields_if_not_decided, "decided_at": catalog.since[outcome.word]}
    if record(automation.SOLELY) is True:
        return {**catalog.fields, **catalog.fields_if_automated}
    return {**catalog.fields, **(catalog.fields_if_influenced if automation.is_influenced(record) else {})}
