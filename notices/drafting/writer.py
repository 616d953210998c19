"""The statements of a notice: one sentence each, about one field of the record."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from notices.drafting.field_sentences import Telling, filled
from notices.drafting.names import Names
from notices.drafting.phrases import FieldPhrases
from notices.drafting.selection import Topic
from notices.limits import MOST_STATEMENTS, Statement, TooMuch
from notices.localization import Wording, humanise, spelled_out
from notices.localization.sentences import clean, isolated, sentence, split
from notices.record_paths import Fact, Facts


class Writer:
    """Writes about topics, none of which is withheld."""

    def __init__(self, facts: Facts, words: Wording, phrases: FieldPhrases) -> None:
        self._words = words
        self._telling = Telling(facts, words, Names(words, phrases))

    def write(self, topics: Iterable[Topic]) -> Iterator[Statement]:
        for topic in topics:
            for text in self._texts(topic):
                yield _statement(text, topic.fact)

    def factors(self, topics: Iterable[Topic]) -> Iterator[Statement]:
        """Reasons and factors. What was said is not said again."""
        said = set()
        for statement in self.write(topics):
            told = statement["statement"].casefold()
            if told not in said:
                said.add(told)
                yield statement

    def inputs(self, topics: Iterable[Topic]) -> Iterator[Statement]:
        """What the events brought, but for the times of steps in the processing where there is more to tell.

        Fields of one name in several events are told apart by the event.
        """
        facts = [topic.fact for topic in topics]
        if len(facts) > MOST_STATEMENTS:
            raise TooMuch(because="more fields than a notice holds")
        everything = [self._telling.prepare(fact) for fact in facts]
        prepared = [told for told in everything if not told.is_step] or everything
        events = defaultdict(set)
        for told in prepared:
            events[told.label].add(told.place.event)
        for told in prepared:
            in_event = told.is_terse or len(events[told.label]) > 1
            yield _statement(self._telling.say(told, in_event=in_event), told.fact)

    def _texts(self, topic: Topic) -> list[str]:
        fact, value = topic.fact, topic.fact.value
        match topic.form:
            case "phrase" if topic.phrase:
                return [filled(topic.phrase.sentence or topic.phrase.label, clean(value))]
            case "prose":
                return [isolated(one) for one in split(spelled_out(value))]
            case "code":
                return [self._words.say("reason_code", value=self._words.show("code", value).value)]
            case "factor":
                said = self._telling.say(self._telling.prepare(fact, topic.name))
                return [self._words.say(topic.direction, said=said)]
            case "factor_name":
                return [self._words.say(topic.direction, said=humanise(topic.name))]
            case _:
                return [self._telling.say(self._telling.prepare(fact))]


def _statement(said: str, fact: Fact) -> Statement:
    return {"statement": sentence(said), "source": fact.path}
