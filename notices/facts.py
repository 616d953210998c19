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
Scalar = str | int | Decimal | bool | None


class NoSuchField(KeyError):
    """The record has no scalar value at this path."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A scalar of a record: where it is, as field proofs name it, and what it is."""

    path: str
    value: Scalar


class Facts:
    """A record to be cited."""

    def __init__(self, payload: bytes) -> None:
        self.document: dict[str, Any] = strict_json.read(payload, number=Decimal)

    def find(self, path: str) -> Fact:
        """The scalar at a path. Raises NoSuchField."""
        node: Any = self.document
        canonical: list[str] = []
        for key in _segments(path):
            step, node = _enter(node, key)
            canonical.append(step)
        if isinstance(node, dict | list) or not canonical:
            raise NoSuchField(path)
        return Fact(".".join(canonical), node)

    def get(self, path: str) -> Any:
        """What is at a path, scalar or not; None if there is nothing."""
        node: Any = self.document
        try:
            for key in _segments(path):
                _, node = _enter(node, key)
        except NoSuchField:
            return None
        return node

    def events(self) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """Each event's path, name and fields, whether the record keeps them in an object or in a list."""
        events = self.document.get("events")
        if isinstance(events, dict):
            for name, fields in events.items():
                if isinstance(fields, dict):
                    yield f"events.{quote_key(name)}", name, fields
        elif isinstance(events, list):
            for index, fields in enumerate(events):
                if isinstance(fields, dict):
                    name = fields.get("name")
                    rest = {key: value for key, value in fields.items() if key != "name"}
                    yield f"events.{index}", name if isinstance(name, str) else str(index + 1), rest


def scalars(path: str, fields: dict[str, Any]) -> Iterator[Fact]:
    """The scalars directly in an object, with their paths."""
    for key, value in fields.items():
        if not isinstance(value, dict | list):
            yield Fact(f"{path}.{quote_key(key)}", value)


def last_key(path: str) -> str:
    """The key at the end of a path, unquoted."""
    return _segments(path)[-1]


def _segments(path: str) -> list[str]:
    found = _SEGMENT.findall(path)
    if ".".join(found) != path:
        raise NoSuchField(path)
    return [json.loads(part) if part.startswith('"') else part for part in found]


def _enter(node: Any, key: str) -> tuple[str, Any]:
    """One step down: the step as field proofs spell it, and what is there."""
    if isinstance(node, dict) and key in node:
        return quote_key(key), node[key]
    if isinstance(node, list):
        if key.isascii() and key.isdigit() and int(key) < len(node):
            return str(int(key)), node[int(key)]
        for index, item in enumerate(node):
            if isinstance(item, dict) and item.get("name") == key:
                return str(index), item
    raise NoSuchField(key)
