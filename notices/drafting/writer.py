"""The statements of a notice: one sentence each, about one field of the record."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from notices.drafting.field_sentences import FieldSentences, fill_sentence
from notices.drafting.names import FieldNames
from notices.drafting.phrases import FieldPhrases
from notices.drafting.selection import Topic
from notices.limits import MOST_STATEMENTS, Statement, TooMuch
from notices.localization import Catalog, humanise, spell_out
from notices.localization.sentences import clean, finish_sentence, isolate, split_sentences
from notices.record_paths import Fact, Facts


class StatementWriter:
    """Writes about topics, none of which is withheld."""

    def __init__(self, facts: Facts, catalog: Catalog, phrases: FieldPhrases) -> None:
        self._catalog = catalog
        self._fields = FieldSentences(facts, catalog, FieldNames(catalog, phrases))

    def write(self, topics: Iterable[Topic]) -> Iterator[Statement]:
        for topic in topics:
            for text in self._texts(topic):
                yield _statement(text, topic.fact)

    def write_factors(self, topics: Iterable[Topic]) -> Iterator[Statement]:
        """Reasons and factors, each sentence once."""
        seen = set()
        for statement in self.write(topics):
            sentence = statement["statement"].casefold()
            if sentence not in seen:
                seen.add(sentence)
                yield statement

    def write_inputs(self, topics: Iterable[Topic]) -> Iterator[Statement]:
        """What the events brought, but for the times of steps in the processing where there is more to tell.

        Fields of one name in several events are told apart by the event.
        """
        facts = [topic.fact for topic in topics]
        if len(facts) > MOST_STATEMENTS:
            raise TooMuch(because="more fields than a notice holds")
        prepared = [self._fields.prepare(fact) for fact in facts]
        fields = [field for field in prepared if not field.is_step] or prepared
        events = defaultdict(set)
        for field in fields:
            events[field.label].add(field.context.event)
        for field in fields:
            in_event = field.is_terse or len(events[field.label]) > 1
            yield _statement(self._fields.sentence(field, in_event=in_event), field.fact)

    def _texts(self, topic: Topic) -> list[str]:
        fact, value = topic.fact, topic.fact.value
        match topic.form:
            case "phrase" if topic.phrase:
                return [fill_sentence(topic.phrase.sentence or topic.phrase.label, clean(value))]
            case "prose":
                return [isolate(sentence) for sentence in split_sentences(spell_out(value))]
            case "code":
                return [self._catalog.message("reason_code", value=self._catalog.field_text("code", value).value)]
            case "factor":
                factor = self._fields.sentence(self._fields.prepare(fact, topic.name))
                return [self._catalog.message(topic.direction, factor=factor)]
            case "factor_name":
                return [self._catalog.message(topic.direction, factor=humanise(topic.name))]
            case _:
                return [self._fields.sentence(self._fields.prepare(fact))]


def _statement(text: str, fact: Fact) -> Statement:
    return {"statement": finish_sentence(text), "source": fact.path}
