"""The facts of a record, by the paths that notices cite.

A path is dotted: `outcome.action`, `events.scoring.score`. List items go by index; a list of events may also be entered
by the event's name. A key with a dot in it is written as a JSON string.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from config.api import strict_json
from custody import fields
from custody.fields import quote_key

MOST_SOURCE = 4096
"""Characters of a path that can be cited."""
_SEGMENT = re.compile(r'"(?:[^"\\]|\\.)*+"|[^."]+')
_INDEX = re.compile(r"[0-9]{1,9}")
Scalar = str | int | Decimal | bool | None


class NoSuchField(KeyError):
    """The record has no scalar value at this path."""


@dataclass(frozen=True, slots=True)
class Fact:
    """What is at one place of a record, and how the place is reached.

    A key stands in the path of everything below it, so a path is put together only where it is asked for.
    """

    step: str
    """The last segment of its path."""
    name: str
    """The last key, unquoted; of a list item its name, or its index if it has none."""
    value: Any
    length: int
    """Of its path, in characters."""
    parent: "Fact | None" = None

    @property
    def path(self) -> str:
        """As field proofs name it."""
        return ".".join(fact.step for fact in self.lineage())

    @property
    def named(self) -> str:
        """The same place, with the names of list items where they have one."""
        return ".".join(quote_key(fact.name) if fact.in_list else fact.step for fact in self.lineage())

    def paths(self, longest: int) -> Iterator[str]:
        """`path` and `named`, where they have at most so many characters."""
        if self.length <= longest:
            yield self.path
        lineage = self.lineage()
        if sum(len(fact.name if fact.in_list else fact.step) for fact in lineage) <= longest:
            yield self.named

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
        name = _item_name(value) or str(key) if isinstance(key, int) else key
        step = str(key) if isinstance(key, int) else quote_key(key)
        return Fact(step, name, value, self.length + len(step) + bool(self.parent), self)

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

    def __init__(self, payload: bytes) -> None:
        """Raises PathsTooLong for a record that came in before there was a limit."""
        self.document: dict[str, Any] = strict_json.read(payload, number=Decimal)
        fields.require_short_paths(payload, self.document)
        self._positions: dict[int, dict[str, int]] = {}

    def at(self, path: str) -> Fact:
        """What is at a path, scalar or not. Raises NoSuchField."""
        fact = Fact("", "", self.document, 0)
        for key in _segments(path):
            fact = fact.child(self._key(fact, key))
        return fact

    def find(self, path: str) -> Fact:
        """The scalar at a path. Raises NoSuchField."""
        fact = self.at(path)
        if not fact.is_scalar:
            raise NoSuchField(path)
        return fact

    def get(self, path: str) -> Any:
        """What is at a path, scalar or not; None if there is nothing."""
        try:
            return self.at(path).value
        except NoSuchField:
            return None

    def _key(self, fact: Fact, segment: str) -> str | int:
        """The key or index of what a path's segment names. Raises NoSuchField."""
        if isinstance(fact.value, dict) and segment in fact.value:
            return segment
        if isinstance(fact.value, list):
            if _INDEX.fullmatch(segment) and int(segment) < len(fact.value):
                return int(segment)
            if id(fact.value) not in self._positions:  # kept: a record may have thousands of events and paths into them
                named = [(_item_name(item), index) for index, item in enumerate(fact.value)]
                positions = {name: index for name, index in reversed(named) if name is not None}
                self._positions[id(fact.value)] = positions
            if segment in self._positions[id(fact.value)]:
                return self._positions[id(fact.value)][segment]
        raise NoSuchField(segment)


def _segments(path: str) -> list[str]:
    """The keys of a path. It is read once from its beginning: looking for segments anywhere takes the square of its
    length."""
    if not path:
        return []
    found, at = [], 0
    while segment := _SEGMENT.match(path, at):
        found.append(segment[0])
        at = segment.end() + 1
        if path[at - 1 : at] != ".":
            break
    if at <= len(path):
        raise NoSuchField(path)
    try:
        return [json.loads(part) if part.startswith('"') else part for part in found]
    except ValueError:
        raise NoSuchField(path) from None


def _item_name(item: Any) -> str | None:
    name = item.get("name") if isinstance(item, dict) else None
    return name if isinstance(name, str) else None
