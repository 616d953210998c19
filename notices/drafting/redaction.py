"""What an organization keeps out of the letters about a record: fields that its phrasebook marks as withheld."""

from dataclasses import dataclass

from notices.drafting.names import Names
from notices.drafting.statements import statements
from notices.drafting.writer import Writer
from notices.localization import wording
from notices.packs import Pack
from notices.phrasebook import Phrasebook
from notices.record_paths import Fact, Facts


@dataclass(frozen=True, slots=True)
class Redaction:
    leaves_out: bool
    """Whether a letter says less than the record because of it, which the letter has to say."""
    _names: Names

    def covers(self, fact: Fact) -> bool:
        """Whether a field may not be printed."""
        return self._names.withheld(fact)


def redaction_of(facts: Facts, pack: Pack, language: str, phrasebook: Phrasebook) -> Redaction:
    """What is kept out of a letter by today's phrasebook."""
    words = wording(language)
    writer = Writer(facts, words, phrasebook)
    if phrasebook.withholds:
        statements(facts, pack, writer)  # what is kept back shows while writing
    return Redaction(writer.withheld, Names(words, phrasebook))
