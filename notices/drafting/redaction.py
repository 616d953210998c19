"""What an organization keeps out of the letters about a record: fields that its phrasebook marks as withheld."""

from collections.abc import Iterable
from dataclasses import dataclass

from notices.drafting.phrases import FieldPhrases
from notices.drafting.selection import Selection, Topic
from notices.packs import Pack
from notices.phrasebook import Phrasebook
from notices.record_paths import Fact, Facts


@dataclass(frozen=True, slots=True)
class Redaction:
    leaves_out: bool
    """Whether a letter says less than the record because of it, which the letter has to say."""
    _phrases: FieldPhrases

    def covers(self, fact: Fact) -> bool:
        """Whether a field may not be printed."""
        return self._phrases.withhold(fact)


def redaction_of(facts: Facts, pack: Pack, phrasebook: Phrasebook) -> Redaction:
    """What is kept out of a letter by today's phrasebook. Nothing is drafted for it."""
    phrases = FieldPhrases(phrasebook)
    return Redaction(phrasebook.withholds and _leaves_out(Selection(facts, pack, phrases)), phrases)


def _leaves_out(selection: Selection) -> bool:
    """Whether something is withheld that a letter would tell, or that the pack asks for and a letter does not tell."""
    sources: dict[str, list[str]] = {}
    for section, topics in selection.sections().items():
        sources[section] = []
        if _any_withheld(topics, sources[section]):
            return True
    for element, topics in selection.requested():
        cited = sources[element.where]
        if not any(map(element.counts, cited)) and _any_withheld(topics, cited):
            return True
    return False


def _any_withheld(topics: Iterable[Topic], sources: list[str]) -> bool:
    """Whether any of the topics is withheld. The paths of those before it are added to `sources`."""
    for topic in topics:
        if topic.withheld:
            return True
        sources.append(topic.fact.path)
    return False
