"""What an organization keeps out of the letters about a record: fields that its phrasebook marks as withheld."""

from dataclasses import dataclass

from notices.drafting.names import Names
from notices.drafting.writer import Writer
from notices.facts import Fact, Facts
from notices.phrasebook import Phrasebook
from notices.wording import wording


@dataclass(frozen=True, slots=True)
class Withholding:
    leaves_out: bool
    """Whether a letter says less than the record because of it, which the letter has to say."""
    _names: Names

    def covers(self, fact: Fact) -> bool:
        """Whether a field may not be printed."""
        return self._names.withheld(fact)


def withholding(facts: Facts, language: str, phrasebook: Phrasebook) -> Withholding:
    """What is kept out of a letter by today's phrasebook."""
    words = wording(language)
    return Withholding(phrasebook.withholds and _leaves_out(Writer(facts, words, phrasebook)), Names(words, phrasebook))


def _leaves_out(writer: Writer) -> bool:
    for part in (writer.summary(), writer.role(), writer.factors(briefly=False), writer.inputs()):
        for _ in part:
            pass  # what is kept back shows while writing
    return writer.withheld
