"""The statements of a notice: one sentence each, about one field of the record."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from notices.content_limits import MAX_STATEMENTS, Statement, TooMuch
from notices.drafting.field_sentences import FieldSentences, fill_sentence
from notices.drafting.measures import Measures
from notices.drafting.names import FieldNames
from notices.drafting.phrases import FieldPhrases
from notices.drafting.topics import Topic
from notices.localization import Catalog
from notices.localization.sentences import END_MARKS, clean, finish_sentence, isolate, split_sentences
from notices.outcome_parts import names_item
from notices.record_paths import Fact, Facts

_CODED = re.compile(r"[A-Z0-9._\-]{1,16}\s*\|([^|]*)")
_NAMED = ("prose", "phrase", "code", "condition", "missing")
"""Forms that say nothing of what is around their field: they need the name of their line item."""


class StatementWriter:
    """Writes about topics, none of which is withheld."""

    def __init__(self, facts: Facts, catalog: Catalog, phrases: FieldPhrases, measures: Measures) -> None:
        self._catalog = catalog
        self._names = FieldNames(catalog, phrases)
        self._fields = FieldSentences(facts, catalog, self._names, measures)

    def write(self, topics: Iterable[Topic]) -> Iterator[Statement]:
        for topic in topics:
            named = self._names.item_name(topic.fact) if topic.form in _NAMED and not names_item(topic.fact) else ""
            for text in self._texts(topic):
                yield _statement(self._catalog.message("field", label=named, value=text) if named else text, topic.fact)

    def write_factors(self, topics: Iterable[Topic]) -> Iterator[Statement]:
        """Reasons and factors, each sentence once: also one that names its line item, where it is told of all."""
        seen = set()
        for statement in self.write(topics):
            sentence = statement["statement"].casefold()
            if sentence not in seen and sentence.partition(": ")[2] not in seen:
                seen.add(sentence)
                yield statement

    def write_inputs(self, topics: Iterable[Topic]) -> Iterator[Statement]:
        """What the events brought, but for the times of steps in the processing where there is more to tell.

        Fields of one name in several events are told apart by the event. What else there is comes first.
        """
        chosen = list(topics)
        if len(chosen) > MAX_STATEMENTS:
            raise TooMuch(because="more fields than a notice holds")
        others = list(self.write_factors(topic for topic in chosen if topic.form != "field"))
        yield from others
        known = {item["source"] for item in others}
        facts = [topic.fact for topic in chosen if topic.form == "field" and not (known and topic.fact.path in known)]
        prepared = list(map(self._fields.prepare, facts))
        fields = [field for field in prepared if not field.is_step] or prepared
        events = defaultdict(set)
        for field in fields:
            events[field.label].add(field.context.event)
        seen = set()  # `receivedAt` and `received_at` are the same news
        for field in fields:
            in_event = field.is_terse or len(events[field.label]) > 1
            sentence = self._fields.sentence(field, in_event=in_event)
            if sentence not in seen:
                seen.add(sentence)
                yield _statement(sentence, field.fact)

    def _texts(self, topic: Topic) -> list[str]:
        match topic.form:
            case "field":
                return [self._fields.sentence(self._fields.prepare(topic.fact))]
            case "prose" | "condition" | "missing":
                return self._in_its_words(topic)
            case "offer":
                return [self._fields.offer(topic.fact)]
            case "opening" | "opening_decided" | "accept_how" | "accept_until" | "accept_within":
                return [self._fields.about(topic.form, topic.fact)]
        return [self._catalog.message(topic.direction, factor=self._factor(topic))]

    def _factor(self, topic: Topic) -> str:
        """What a factor is, without which way it counted."""
        fact = topic.fact
        match topic.form:
            case "phrase" if topic.phrase:
                return fill_sentence(topic.phrase.sentence or topic.phrase.label, clean(fact.value))
            case "code":
                return self._catalog.message("reason_code", value=self._catalog.field_text("code", fact.value).value)
            case "factor_name":
                return self._catalog.label(topic.name) or self._catalog.messages["unnamed"]
        factor = self._fields.sentence(self._fields.prepare(fact, topic.name, is_own=topic.is_own))
        return factor if topic.direction == "factor" else factor.removesuffix(".")

    def _in_its_words(self, topic: Topic) -> list[str]:
        """The record's own sentences. Which way a factor counted stands in the last of them."""
        text = self._catalog.spell_out(topic.fact.value)
        if topic.form in ("condition", "missing") and not text.endswith(END_MARKS):
            return [self._catalog.message(topic.form, value=isolate(text))]
        *first, last = map(isolate, _without_codes(text) or split_sentences(text))
        told = last if topic.direction == "factor" else last.removesuffix(".")
        return [*first, self._catalog.message(topic.direction, factor=told)]


def _without_codes(text: str) -> list[str]:
    """The reasons of a list in one text, `R1|Length of employment;R2|…`, or nothing if a text is no such list."""
    items = [_CODED.fullmatch(item.strip()) for item in text.rstrip(";").split(";")]
    reasons = [item[1].strip() for item in items if item]
    return reasons if all(items) and all(reasons) else []


def _statement(text: str, fact: Fact) -> Statement:
    return {"statement": finish_sentence(text), "source": fact.path}
