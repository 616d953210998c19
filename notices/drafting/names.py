"""What the fields of a record are called in a letter, and what the phrasebook says of them."""

from collections import Counter
from typing import NamedTuple

from notices.facts import Fact
from notices.models import Phrase
from notices.phrasebook import Phrasebook
from notices.wording import Wording, humanise
from notices.wording.sentences import clean

# Events that came from the person. What stands in them needs no word about where it comes from.
_OWN = {"application", "claim", "request"}


class Place(NamedTuple):
    """Where a field stands in its event, or in its part of the record."""

    holder: str
    """The object it belongs to, which makes its name a whole one: `procedure` for a `code`."""
    context: tuple[str, ...]
    """What is further out, from the outside in, without the event."""
    event: str
    own: bool
    """Whether the event is the person's own: the application, the claim or the request."""


class Names:
    """The phrasebook's words first, then the record's own names as words."""

    def __init__(self, words: Wording, phrasebook: Phrasebook) -> None:
        self._words, self._phrasebook = words, phrasebook
        self._withheld: dict[str, bool] = {}
        self._events: dict[str, str] = {}

    def phrase(self, fact: Fact, *names: str) -> Phrase | None:
        """The organization's phrase for a field: by its path, else by one of `names`, else by its name.

        An item of a list has the list's phrase if it has none itself.
        """
        field = fact.field
        return self._phrasebook.find(fact.path, fact.named, *names, fact.name, field.path, field.named, field.name)

    def withheld(self, fact: Fact) -> bool:
        """Whether the organization withholds this, or what it is a part of."""
        if fact.path not in self._withheld:
            phrase = self.phrase(fact)
            inherited = fact.parent is not None and bool(fact.parent.path) and self.withheld(fact.parent)
            self._withheld[fact.path] = inherited or bool(phrase and phrase.withheld)
        return self._withheld[fact.path]

    def place(self, fact: Fact) -> Place:
        """Where a field stands, in words."""
        lineage = fact.field.lineage()
        in_event = lineage[0].name == "events" and len(lineage) > 2
        context: list[str] = []
        holders = lineage[2:-1] if in_event else lineage[1:-1]
        for holder in holders:
            if not holder.in_list:
                context.append(self._called(holder))
                continue
            position = self._position(int(holder.path.rpartition(".")[2]) + 1)
            context[-1:] = [f"{context[-1]} {position}"] if context else [position]
        nearest = context.pop() if holders and not holders[-1].in_list else ""
        own = in_event and lineage[1].name in _OWN
        return Place(nearest, tuple(context), self._event(lineage[1]) if in_event else "", own)

    def _event(self, event: Fact) -> str:
        """What an event is called; of several that are called the same, each has its number."""
        if event.parent and not self._events:
            called = {each.path: self._event_name(each) for each in event.parent.children()}
            several, before = Counter(called.values()), Counter[str]()
            for path, name in called.items():
                before[name] += 1
                self._events[path] = f"{name} {self._position(before[name])}" if several[name] > 1 else name
        return self._events[event.path]

    def _event_name(self, event: Fact) -> str:
        index = event.path.rpartition(".")[2]
        if event.in_list and (event.name == index or self.withheld(event.child("name"))):
            return self._words.say("step", number=str(int(index) + 1))
        return self._called(event)

    def _called(self, fact: Fact) -> str:
        phrase = self.phrase(fact)
        told = clean(phrase.label) if phrase and phrase.label else humanise(fact.name)
        return told or self._words.words["unnamed"]

    def _position(self, number: int) -> str:
        return self._words.say("position", number=str(number))
