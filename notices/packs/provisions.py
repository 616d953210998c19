"""Provisions of a law beside its elements: numbers that it sets, cautions, and texts to choose from."""

from typing import Annotated

from pydantic import Field

from notices.packs.parts import Conditional, Id, Part, Sentence


class ByLaw(Conditional):
    """A number that a law sets for a placeholder. It is printed if the record has no number that the law allows."""

    placeholder: Id
    value: Annotated[int, Field(ge=1)]
    at_least: bool = False
    """Larger numbers are allowed, too: a plan may give more time than it must."""
    citation: Sentence
    source: Id

    def allows(self, recorded: str) -> bool:
        number = int(recorded) if recorded.isdecimal() and len(recorded) < 6 else 0
        return number == self.value or (self.at_least and number > self.value)


class Caution(Conditional):
    """A warning for the approver of a notice about such a record. It only warns, whatever its authority."""

    id: Id
    sentence: Sentence
    """In English, for the organization."""
    citation: Sentence
    source: Id


class Choice(Part):
    """A text that a law offers for a placeholder, and for whom. The settings suggest it, and accept other texts."""

    about: Sentence
    text: Sentence
