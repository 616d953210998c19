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
from custody.fields import quote_key

_SEGMENT = re.compile(r'"(?:[^"\\]|\\.)*"|[^."]+')
_INDEX = re.compile(r"[0-9]{1,9}")
Scalar = str | int | Decimal | bool | None


class NoSuchField(KeyError):
    """The record has no scalar value at this path."""


@dataclass(frozen=True, slots=True)
class Fact:
    """What is at one place of a record, and how the place is reached."""

    path: str
    """As field proofs name it."""
    named: str
    """The same place, with the names of list items where they have one."""
    name: str
    """The last key, unquoted; of a list item its name, or its index if it has none."""
    value: Any
    parent: "Fact | None" = None

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
        above = self.parent.lineage() if self.parent else []
        return [*above, self] if self.path else []

    def child(self, key: str | int) -> "Fact":
        """One step down, by a key or index that is there."""
        value = self.value[key]
        name = _item_name(value) or str(key) if isinstance(key, int) else key
        step = str(key) if isinstance(key, int) else quote_key(key)
        return Fact(_joined(self.path, step), _joined(self.named, quote_key(name)), name, value, self)

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
        self.document: dict[str, Any] = strict_json.read(payload, number=Decimal)
        self._positions: dict[str, dict[str, int]] = {}

    def at(self, path: str) -> Fact:
        """What is at a path, scalar or not. Raises NoSuchField."""
        fact = Fact("", "", "", self.document)
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
            if fact.path not in self._positions:  # kept, for a record may have thousands of events and paths into them
                named = [(_item_name(item), index) for index, item in enumerate(fact.value)]
                self._positions[fact.path] = {name: index for name, index in reversed(named) if name is not None}
            if segment in self._positions[fact.path]:
                return self._positions[fact.path][segment]
        raise NoSuchField(segment)


def _segments(path: str) -> list[str]:
    found = _SEGMENT.findall(path)
    if ".".join(found) != path:
        raise NoSuchField(path)
    try:
        return [json.loads(part) if part.startswith('"') else part for part in found]
    except ValueError:
        raise NoSuchField(path) from None


def _item_name(item: Any) -> str | None:
    name = item.get("name") if isinstance(item, dict) else None
    return name if isinstance(name, str) else None


def _joined(path: str, step: str) -> str:
    return f"{path}.{step}" if path else step
