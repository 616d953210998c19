"""What the fields of a record are called in a letter."""

from collections import Counter
from typing import NamedTuple

from notices.drafting.phrases import FieldPhrases
from notices.localization import Wording, humanise
from notices.localization.sentences import clean
from notices.record_paths import Fact

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
    """The phrasebook's words first, then the record's own names as words.

    What holds of a part of the record is found out once, and not again for each of the fields below it. Parts are known
    by the `id` of their values: a path is as long as all the keys above.
    """

    def __init__(self, words: Wording, phrases: FieldPhrases) -> None:
        self.phrases, self._words = phrases, words
        self._contexts: dict[int, tuple[str, ...]] = {}
        self._events: dict[str, str] = {}

    def place(self, fact: Fact) -> Place:
        """Where a field stands, in words."""
        above = fact.field.lineage()[:-1]
        in_event = len(above) > 1 and above[0].name == "events"
        event, holders = (above[1], above[2:]) if in_event else (None, above[1:])
        context: tuple[str, ...] = ()
        for holder in holders:
            if id(holder.value) not in self._contexts:
                self._contexts[id(holder.value)] = self._inside(holder, context)
            context = self._contexts[id(holder.value)]
        nearest = ""
        if holders and not holders[-1].in_list:
            *around, nearest = context
            context = tuple(around)
        own = event is not None and event.name in _OWN
        return Place(nearest, context, self._event(event) if event else "", own)

    def _inside(self, holder: Fact, context: tuple[str, ...]) -> tuple[str, ...]:
        """The context of what stands in an object or list, from that of the object or list itself."""
        if not holder.in_list:
            return (*context, self._called(holder))
        position = self._position(int(holder.step) + 1)
        return (*context[:-1], f"{context[-1]} {position}") if context else (position,)

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
        if event.in_list and (event.name == event.step or self.phrases.withhold(event.child("name"))):
            return self._words.say("step", number=str(int(event.step) + 1))
        return self._called(event)

    def _called(self, fact: Fact) -> str:
        phrase = self.phrases.of(fact)
        told = clean(phrase.label) if phrase and phrase.label else humanise(fact.name)
        return told or self._words.words["unnamed"]

    def _position(self, number: int) -> str:
        return self._words.say("position", number=str(number))
