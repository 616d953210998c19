"""Numbers that a law sets, and what else of it concerns a record without being a part of the letter."""

from typing import Annotated

from pydantic import Field

from notices.packs.parts import Conditional, Id, Part, Sentence


class ByLaw(Conditional):
    """A number that a law gives for a placeholder. It is printed where the record has none, or none that may be."""

    placeholder: Id
    value: Annotated[int, Field(ge=1)]
    at_least: bool = False
    """More is as good: a plan may give longer than it must."""
    citation: Sentence
    source: Id

    def allows(self, told: str) -> bool:
        number = int(told) if told.isdecimal() and len(told) < 6 else 0
        return number == self.value or (self.at_least and number > self.value)


class Caution(Conditional):
    """What somebody has to think of who approves a notice about such a record. It warns, whatever the authority."""

    id: Id
    sentence: Sentence
    """In English, for those who send notices."""
    citation: Sentence
    source: Id


class Choice(Part):
    """A text that a law offers for a placeholder, and for whom. The settings offer it; other texts can be entered."""

    about: Sentence
    text: Sentence
