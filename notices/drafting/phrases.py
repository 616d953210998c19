"""An organization's phrases for the fields of one record, and which of the fields they withhold."""

from notices.phrasebook import LONGEST_KEY, Phrase, Phrasebook
from notices.record_paths import Fact


class FieldPhrases:
    """Looks phrases up, and keeps in `used` those that were found: their authors have a hand in the notice.

    What holds of a part of the record is found out once, and not again for each of the fields below it. Parts are known
    by the `id` of their values: a path is as long as all the keys above.
    """

    def __init__(self, phrasebook: Phrasebook) -> None:
        self._phrasebook = phrasebook
        self._withheld: dict[int, bool] = {}
        self.used: dict[str, Phrase] = {}

    def named(self, *names: str) -> Phrase | None:
        """The phrase of the first of these keys that has one."""
        phrase = self._phrasebook.find(*names)
        if phrase:
            self.used[phrase.key] = phrase
        return phrase

    def of(self, fact: Fact, *names: str) -> Phrase | None:
        """The phrase for a field: by its path, else by one of `names`, else by its name.

        An item of a list has the list's phrase if it has none itself.
        """
        if not self._phrasebook:
            return None
        field = fact.field
        own = (*fact.paths(LONGEST_KEY), *names, fact.name)
        return self.named(*own, *field.paths(LONGEST_KEY), field.name)

    def withhold(self, fact: Fact) -> bool:
        """Whether the organization withholds this, or what it is a part of."""
        if fact.is_scalar:
            return self._is_withheld(fact)
        if id(fact.value) not in self._withheld:
            self._withheld[id(fact.value)] = self._is_withheld(fact)
        return self._withheld[id(fact.value)]

    def withhold_named(self, name: str) -> bool:
        """Whether the organization withholds what is called so."""
        phrase = self.named(name)
        return bool(phrase and phrase.withheld)

    def _is_withheld(self, fact: Fact) -> bool:
        phrase = self.of(fact)
        within = fact.parent if fact.parent and fact.parent.parent else None
        return bool(phrase and phrase.withheld) or bool(within and self.withhold(within))
