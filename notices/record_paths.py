"""The facts of a record, by the paths that notices cite.

They are those of field proofs, and beside them those by the names of list items, as events have them:
`events.scoring.score` for `events.0.score`. An event is called by its name or type, in any spelling.
"""

from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import cached_property
from typing import Any, NamedTuple

from config.http import strict_json
from custody.sealing.field_paths import NoSuchField, key_in, keys, require_short_paths, segment
from decisions.mapping import builtin
from decisions.mapping.builtin import Proposal, RecordReading
from decisions.record import outcomes
from decisions.record.profile import Profile, Text, Unknown, Value
from decisions.record.walk import EVENT_NAMES
from notices import shapes

__all__ = ["MAX_SOURCE", "Fact", "Facts", "NoSuchField", "Scalar"]

MAX_SOURCE = 4096
"""Characters of a path that can be cited."""
NAMES_OF_EVENTS = EVENT_NAMES
"""Fields in which events of a list say what they are, the first that is there."""
_MOST_STEPS = 5
"""Of a path that is looked up step by step, each of which is kept."""
Scalar = str | int | Decimal | bool | None


def is_as_written(value: Value) -> bool:
    """Whether a value is a decision in a word that no one has explained."""
    return isinstance(value, Text) and value.origin.meaning == "decision"


class Fact(NamedTuple):
    """What is at one place of a record, and how the place is reached.

    A key stands in the path of everything below it, so a path is put together only where it is asked for.
    """

    step: str
    """The last segment of its path."""
    name: str
    """The last key, unquoted; of a list item its name, or its index if it has none."""
    value: Any
    path_length: int
    """Of its path, in characters."""
    parent: "Fact | None" = None

    @property
    def path(self) -> str:
        """As field proofs name it."""
        return ".".join(fact.step for fact in self.lineage())

    @property
    def named_path(self) -> str:
        """The same place, with the names of list items where they have one."""
        return ".".join(segment(fact.name) if fact.in_list else fact.step for fact in self.lineage())

    def paths(self, longest: int) -> Iterator[str]:
        """`path` and `named_path`, where they have at most so many characters."""
        if self.path_length <= longest:
            yield self.path
        lineage = self.lineage()
        if sum(len(fact.name if fact.in_list else fact.step) for fact in lineage) <= longest:
            yield self.named_path

    @property
    def is_scalar(self) -> bool:
        return not isinstance(self.value, dict | list)

    @property
    def in_list(self) -> bool:
        return self.parent is not None and isinstance(self.parent.value, list)

    @property
    def field(self) -> "Fact":
        """What has a key: this, or the list that it is an item of."""
        return self.parent.field if self.parent and self.in_list else self

    @property
    def item(self) -> "Fact":
        """The object in a list that this field belongs to, or the field itself."""
        return self.parent if self.parent and self.parent.in_list and not self.in_list else self

    def lineage(self) -> list["Fact"]:
        """From the top of the record down to this."""
        found, fact = [], self
        while fact.parent:
            found.append(fact)
            fact = fact.parent
        return found[::-1]

    def child(self, key: str | int) -> "Fact":
        """One step down, by a key or index that is there."""
        value = self.value[key]
        is_event = self.name == "events" and self.parent is not None and self.parent.parent is None
        name = _item_name(value, is_event=is_event) or str(key) if isinstance(key, int) else key
        step = segment(key)
        return Fact(step, name, value, self.path_length + len(step) + bool(self.parent), self)

    def children(self) -> Iterator["Fact"]:
        keys = self.value if isinstance(self.value, dict) else range(len(self.value))
        return map(self.child, keys)

    def scalars(self) -> Iterator["Fact"]:
        """Every scalar here or below, in the record's order."""
        if self.is_scalar:
            yield self
            return
        for child in self.children():
            yield from child.scalars()


class Facts:
    """A record to be cited."""

    def __init__(self, payload: bytes, document: dict[str, Any] | None = None, *, sealed_digest: str = "") -> None:
        """Raises PathsTooLong, also for a record that came in before there was a limit.

        Args:
            document: the record, where the payload holds more than that and was read already.
            sealed_digest: of the sealed record that was opened, as `custody.selectors.Fetched` has it.
        """
        self.sealed_digest = sealed_digest
        self.document: dict[str, Any] = strict_json.read(payload, number=Decimal) if document is None else document
        require_short_paths(payload, self.document)
        self._positions: dict[int, dict[str, int]] = {}
        self._spellings: dict[int, dict[str, str]] = {}
        self._asked_for: dict[str, Fact | None] = {}
        self._cited: dict[str, Fact | None] = {}
        self._shapes: dict[str, Any] | None = None

    def at(self, path: str) -> Fact:
        """What is at a path, scalar or not, also where the record spells its names otherwise: `receivedAt` is
        `received_at`, if nothing is called that. Raises NoSuchField."""
        if (fact := self._any_spelling_at(path)) is None:
            raise NoSuchField(path)
        return fact

    def find(self, source: str) -> Fact:
        """The scalar that a statement cites, by the record's own spelling. Raises NoSuchField. Each rule asks for the
        same few, so what is there is kept."""
        if source not in self._cited:
            try:
                self._cited[source] = self._walk(source, self._key)
            except NoSuchField:
                self._cited[source] = None
        fact = self._cited[source]
        if fact is None or not fact.is_scalar:
            raise NoSuchField(source)
        return fact

    @cached_property
    def profile(self) -> Profile:
        """The values that a letter may tell, as the record's mapping or else the published profile declares them."""
        return self.reading.profile

    @cached_property
    def reading(self) -> RecordReading:
        """The reading of the record by its mapping and the published profile."""
        return builtin.read(self.document)

    def signed_fact(self, path: str) -> Fact:
        """Return the field of the signed record at a path. Raises NoSuchField."""
        return self.find(path)

    def signed(self, path: str) -> str:
        """Return the path of a field in the signed record."""
        return path

    def in_language(self, language: str) -> "Facts":
        """Return the facts with the words of a language, if a mapping has words for codes."""
        return self

    def stored(self, source: str) -> Scalar:
        """Return the value that a statement cites as it was signed. Raises NoSuchField."""
        value: Scalar = self.find(source).value
        return value

    def is_withheld(self, source: str) -> bool:
        """Whether a mapping declares that no letter tells the field."""
        return False

    def decode(self, source: str) -> str:
        """Return in words how a cited value is read, or "" if it is read as it is."""
        return ""

    def label(self, source: str) -> str:
        """Return the name that a mapping gives a cited field, or ""."""
        return ""

    @property
    def unexplained(self) -> list[Unknown]:
        """The fields of the outcome that neither a mapping nor the published profile explains."""
        below = [scalar for scalar in self.profile.unmapped if scalar.path.startswith("outcome.")]
        unmapped = [Unknown(scalar.path, scalar.general, "a field that no one has explained yet") for scalar in below]
        written = [value.origin.path for value in self.profile.values if is_as_written(value)]
        words = [Unknown(path, path, "a code that no one has explained yet") for path in written]
        return [*self._unreadable, *words, *unmapped]

    @property
    def proposals(self) -> list[Proposal]:
        """The proposed entries for fields without an explanation."""
        return self.reading.proposals

    @property
    def _unreadable(self) -> list[Unknown]:
        return [field for field in self.profile.unknown if field.path.startswith("outcome.")]

    def get(self, path: str) -> Any:
        """What is `at` a path; None if there is nothing. At `found.…` is what `shapes` finds."""
        if path.startswith(shapes.PREFIX) and shapes.PREFIX[:-1] not in self.document:
            return self._found().get(path.removeprefix(shapes.PREFIX))
        fact = self._any_spelling_at(path)
        return fact.value if fact else None

    def _any_spelling_at(self, path: str) -> Fact | None:
        """A pack asks for the same few paths again and again, so what is there is kept, and so is what is above it."""
        if path not in self._asked_for:
            above, _, key = path.rpartition(".")
            is_plain = above and key and '"' not in path and path.count(".") < _MOST_STEPS
            try:
                if not is_plain:
                    self._asked_for[path] = self._walk(path, self._key_in_any_spelling)
                elif holder := self._any_spelling_at(above):
                    self._asked_for[path] = holder.child(self._key_in_any_spelling(holder, key))
                else:
                    self._asked_for[path] = None
            except NoSuchField:
                self._asked_for[path] = None
        return self._asked_for[path]

    def _found(self) -> dict[str, Any]:
        if self._shapes is None:
            self._shapes = {**shapes.find(self.document), **shapes.of_outcome(self.get)}
        return self._shapes

    def _walk(self, path: str, key_in_fact: Callable[[Fact, str], str | int]) -> Fact:
        fact = Fact("", "", self.document, 0)
        for key in keys(path):
            fact = fact.child(key_in_fact(fact, key))
        return fact

    def _key_in_any_spelling(self, fact: Fact, key: str) -> str | int:
        try:
            return self._key(fact, key)
        except NoSuchField:
            spellings = self._spellings_in(fact.value) if isinstance(fact.value, dict) else {}
            if (folded := outcomes.folded(key)) not in spellings:
                raise
            return spellings[folded]

    def _key(self, fact: Fact, key: str) -> str | int:
        """The key or index that a path names here, be it by the name of a list item. Raises NoSuchField."""
        try:
            return key_in(fact.value, key)
        except NoSuchField:
            positions = self._positions_in(fact.value) if isinstance(fact.value, list) else {}
            if key not in positions:
                raise
            return positions[key]

    def named(self, source: str) -> str:
        """A path as packs ask for it: with the name of the event instead of its index, where events are a list."""
        events = self.document.get("events")
        start, _, inside = source.removeprefix("events.").partition(".")
        if not (isinstance(events, list) and source.startswith("events.") and start.isdecimal()):
            return source
        item = events[int(start)] if int(start) < len(events) else None
        name = _item_name(item, is_event=True)
        return f"events.{outcomes.spelling(name)}.{inside}" if name else source

    def _spellings_in(self, container: dict[str, Any]) -> dict[str, str]:
        """The key of each name without its spelling, the first where several have it. A record may have thousands of
        keys and packs ask for many, so it is kept."""
        if id(container) not in self._spellings:
            self._spellings[id(container)] = {outcomes.folded(key): key for key in reversed(container)}
        return self._spellings[id(container)]

    def _positions_in(self, items: list[Any]) -> dict[str, int]:
        """The index of each name, the first where several items have it, also in the spelling that packs have. A record
        may have thousands of events and paths into them, so it is kept."""
        if id(items) not in self._positions:
            is_event = items is self.document.get("events")
            named = [(_item_name(item, is_event=is_event), index) for index, item in enumerate(items)]
            exact = {name: index for name, index in reversed(named) if name is not None}
            spelled = {outcomes.spelling(name): index for name, index in reversed(exact.items())}
            self._positions[id(items)] = {**spelled, **exact}
        return self._positions[id(items)]


def _item_name(item: Any, *, is_event: bool = False) -> str | None:
    for key in (NAMES_OF_EVENTS if is_event else NAMES_OF_EVENTS[:1]) if isinstance(item, dict) else ():
        if isinstance(name := item.get(key), str) and name.strip():
            return name
    return None
