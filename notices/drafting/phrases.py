"""An organization's phrases for the fields of one record, and which of the fields letters withhold."""

from typing import Literal, NamedTuple

from notices.localization import MAX_TEXT
from notices.phrasebook import MAX_KEY, Phrase, Phrasebook
from notices.record_paths import Fact
from notices.sensitive.bases import ProhibitedBases


class Withholding(NamedTuple):
    """Why something is withheld."""

    by: Literal["phrasebook", "sensitive", "prohibited"]
    what: str = ""
    """What is sensitive about it, in words, or the id of the basis that the law forbids to decide by."""


BY_PHRASEBOOK = Withholding("phrasebook")

_Place = int | tuple[int, str]


class FieldPhrases:
    """Looks phrases up, and keeps in `used` those that were found: their authors have a hand in the notice.

    What holds of a part of the record, or of a long text, is found out once, and not again for each of the fields below
    it or of the factors about it. Parts are known by the `id` of their values, and fields by the part that they are in:
    a path is as long as all the keys above.
    """

    def __init__(self, phrasebook: Phrasebook, bases: ProhibitedBases) -> None:
        self.phrasebook, self._bases = phrasebook, bases
        self._withheld: dict[_Place, Withholding | None] = {}
        self.used: dict[str, Phrase] = {}

    def named(self, *names: str) -> Phrase | None:
        """The phrase of the first of these keys that has one."""
        phrase = self.phrasebook.find(*names)
        if phrase:
            self.used[phrase.key] = phrase
        return phrase

    def of(self, fact: Fact, *names: str) -> Phrase | None:
        """The phrase for a field: by its path, else by one of `names`, else by its name.

        An item of a list has the list's phrase if it has none itself.
        """
        if not self.phrasebook:
            return None
        field = fact.field
        own = (*fact.paths(MAX_KEY), *names, fact.name)
        return self.named(*own, *field.paths(MAX_KEY), field.name)

    def withhold(self, fact: Fact) -> bool:
        """Whether a letter withholds this."""
        return self.why_withheld(fact) is not None

    def why_withheld(self, fact: Fact) -> Withholding | None:
        """Why a letter withholds this, or what it is a part of; None if it does not."""
        place: _Place = id(fact.value)
        if fact.parent and fact.is_scalar and not (isinstance(fact.value, str) and len(fact.value) > MAX_TEXT):
            place = (id(fact.parent.value), fact.step)
        if place not in self._withheld:
            self._withheld[place] = self._why(fact)
        return self._withheld[place]

    def why_withheld_named(self, name: str) -> Withholding | None:
        """Why a letter withholds what is called so."""
        phrase = self.named(name)
        if phrase and phrase.withheld:
            return BY_PHRASEBOOK
        return _why(self.phrasebook.sensitive.named(name), self._bases.named(name))

    def _why(self, fact: Fact) -> Withholding | None:
        phrase = self.of(fact)
        if phrase and phrase.withheld:
            return BY_PHRASEBOOK
        within = fact.parent if fact.parent and fact.parent.parent else None
        own = _why(self.phrasebook.sensitive.kind(fact), self._bases.of(fact))
        return own or (self.why_withheld(within) if within else None)


def _why(sensitive: str, basis: str) -> Withholding | None:
    if basis:
        return Withholding("prohibited", basis)
    return Withholding("sensitive", sensitive) if sensitive else None
