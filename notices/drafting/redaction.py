"""What is kept out of the letters about a record: what the phrasebook withholds, what is sensitive, and what the law
forbids to decide by."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from notices.drafting.measures import Measures
from notices.drafting.phrases import BY_PHRASEBOOK, FieldPhrases, Withholding
from notices.drafting.selection import Selection, Topic
from notices.packs import Pack
from notices.phrasebook import Phrasebook
from notices.record_paths import MOST_SOURCE, Fact, Facts


@dataclass(frozen=True, slots=True)
class Redaction:
    leaves_out: bool
    """Whether a letter says less than the record because of it, which the letter has to say."""
    _phrases: FieldPhrases
    _selection: Selection

    @property
    def phrasebook(self) -> Phrasebook:
        """The phrasebook that it was made with."""
        return self._phrases.phrasebook

    def covers(self, fact: Fact) -> bool:
        """Whether a field may not be printed."""
        return self._phrases.withhold(fact)

    def covers_name(self, name: str) -> bool:
        """Whether a reason or factor of this code or name may not be printed."""
        return self._phrases.why_withheld_named(name) is not None

    def why(self, fact: Fact) -> Withholding | None:
        """Why a field may not be printed; None if it may."""
        return self._phrases.why_withheld(fact)

    def reasons(self) -> Iterator[tuple[Fact, Withholding]]:
        """The reasons and factors that are kept out, each with why."""
        told = set()
        for topic in self._selection.sections()["main_factors"]:
            if not topic.withheld or topic.fact.path_length > MOST_SOURCE:
                continue
            if topic.fact.path not in told:  # a plain reason is its own code and text
                told.add(topic.fact.path)
                yield topic.fact, topic.why or self._phrases.why_withheld(topic.fact) or BY_PHRASEBOOK


def redaction_of(facts: Facts, pack: Pack, phrasebook: Phrasebook) -> Redaction:
    """What is kept out of a letter as things stand today. Nothing is drafted for it."""
    phrases = FieldPhrases(phrasebook, pack.bases)
    selection = Selection(facts, pack, phrases, Measures())
    return Redaction(_leaves_out(selection), phrases, selection)


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
    rest = selection.rest(path for cited in sources.values() for path in cited)
    return any(_any_withheld(topics, []) for topics in rest.values())


def _any_withheld(topics: Iterable[Topic], sources: list[str]) -> bool:
    """Whether any of the topics is withheld. The paths of those before it are added to `sources`."""
    for topic in topics:
        if topic.withheld:
            return True
        sources.append(topic.fact.path)
    return False
