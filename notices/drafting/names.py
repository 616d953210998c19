"""What the fields of a record are called in a letter."""

from collections import Counter
from typing import Final, NamedTuple

from decisions.record.outcomes import spelling
from notices import outcome_parts
from notices.drafting.phrases import FieldPhrases
from notices.localization import Catalog
from notices.localization.sentences import clean, isolate
from notices.record_paths import Fact

# Events that came from the person. What stands in them needs no word about where it comes from.
OWN_EVENTS: Final = ("application", "claim", "request", "antrag", "bewerbung", "candidature", "demande")


class FieldContext(NamedTuple):
    """What is around a field in its event, or in its part of the record, in words."""

    holder: str
    """The object it belongs to, which makes its name a whole one: `procedure` for a `code`."""
    outer: tuple[str, ...]
    """What is further out, from the outside in, without the event."""
    event: str
    is_own: bool
    """Whether the event is the person's own: the application, the claim or the request."""


class FieldNames:
    """The phrasebook's words first, then the record's own names as words.

    What holds of a part of the record is found out once, and not again for each of the fields below it. Parts are known
    by the `id` of their values: a path is as long as all the keys above.
    """

    def __init__(self, catalog: Catalog, phrases: FieldPhrases) -> None:
        self.phrases, self._catalog = phrases, catalog
        self._within: dict[int, tuple[str, ...]] = {}
        self._events: dict[str, str] = {}
        self._items: dict[int, Counter[str]] = {}

    def context(self, fact: Fact) -> FieldContext:
        """What is around a field."""
        above = fact.field.lineage()[:-1]
        in_event = len(above) > 1 and above[0].name == "events"
        event, holders = (above[1], above[2:]) if in_event else (None, above[1:])
        outer: tuple[str, ...] = ()
        for holder in holders:
            if id(holder.value) not in self._within:
                self._within[id(holder.value)] = self._names_within(holder, outer)
            outer = self._within[id(holder.value)]
        nearest = ""
        if holders and not holders[-1].in_list:
            *further, nearest = outer
            outer = tuple(further)
        is_own = event is not None and spelling(event.name) in OWN_EVENTS
        return FieldContext(nearest, outer, self._event_name(event) if event else "", is_own)

    def _names_within(self, holder: Fact, outer: tuple[str, ...]) -> tuple[str, ...]:
        """The names around what stands in an object or list, from those around the object or list itself."""
        if not holder.in_list:
            return (*outer, self._name(holder))
        item = outcome_parts.item_of(holder)
        if item and item.value is holder.value and (named := self.item_name(holder)):
            return (*outer[:-1], named)
        position = self._position(int(holder.step) + 1)
        return (*outer[:-1], f"{outer[-1]} {position}") if outer else (position,)

    def item_name(self, part: Fact) -> str:
        """What names the line item that a part of the record is in, or is; "" where nothing does that may be told. Of
        several that are called the same, each has its number."""
        item = outcome_parts.item_of(part)
        name = outcome_parts.item_name(item) if item else None
        if item is None or name is None or item.parent is None or self.phrases.withhold(name):
            return ""
        if id(item.parent.value) not in self._items:
            named = (outcome_parts.item_name(each) for each in item.parent.children() if isinstance(each.value, dict))
            self._items[id(item.parent.value)] = Counter(each.value for each in named if each)
        told = isolate(self._catalog.spell_out(name.value))
        is_one = self._items[id(item.parent.value)][name.value] == 1
        return told if is_one else f"{told} {self._position(int(item.step) + 1)}"

    def _event_name(self, event: Fact) -> str:
        """What an event is called; of several that are called the same, each has its number."""
        if event.parent and not self._events:
            names = {each.path: self._plain_event_name(each) for each in event.parent.children()}
            total, before = Counter(names.values()), Counter[str]()
            for path, name in names.items():
                before[name] += 1
                self._events[path] = f"{name} {self._position(before[name])}" if total[name] > 1 else name
        return self._events[event.path]

    def _plain_event_name(self, event: Fact) -> str:
        called = event.children() if isinstance(event.value, dict) else ()
        is_withheld = any(each.value == event.name and self.phrases.withhold(each) for each in called)
        if event.in_list and (event.name == event.step or is_withheld):
            return self._catalog.message("step", number=str(int(event.step) + 1))
        return self._name(event)

    def _name(self, fact: Fact) -> str:
        phrase = self.phrases.of(fact)
        name = clean(phrase.label) if phrase and phrase.label else self._catalog.label(fact.name)
        return self._catalog.begun(name or self._catalog.messages["unnamed"])

    def _position(self, number: int) -> str:
        return self._catalog.message("position", number=str(number))
