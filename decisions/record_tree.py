"""A record as people read it: the tree of its fields, in its own order, each with the path that a notice cites.

A record may have ten thousand fields. A page shows a bounded number of them; larger parts are pages of their own.
"""

from dataclasses import dataclass
from typing import Any

from config.http import strict_json
from config.http.strict_json import LITERALS, spelling
from custody import record_paths

_SHOWN = 400  # fields on one page, where the parts are small enough to be divided so
_CHILDREN = 200  # of one object or list
_LEVELS = 8
_STEMS = 2**17  # characters that the fields of one part repeat of its path
_NUL = "\N{SYMBOL FOR NULL}"  # no page can show the character itself


@dataclass(frozen=True, slots=True)
class Node:
    """A field, or a part of the record that has fields.

    Attributes:
        stem, key: together they are its path.
        value: of a field, as text; numbers as the record spells them, digit by digit. None for a part.
        count: how many fields a part has, at all depths.
        children: of a part that is shown in place; the others are shown on a page of their own.
    """

    stem: str
    key: str
    value: str | None = None
    is_text: bool = False
    count: int = 0
    children: "list[Node] | None" = None
    is_open: bool = False

    @property
    def path(self) -> str:
        return self.stem + self.key


@dataclass(frozen=True, slots=True)
class Part:
    """What a page shows: the fields below `path`, from child `start` on; `following` begins the next page, if any."""

    path: str
    above: list[str]
    count: int
    nodes: list[Node]
    following: int | None


def part(payload: bytes, path: str = "", start: int = 0) -> Part:
    """The fields of a record below a path.

    Args:
        payload: bytes that `strict_json.read` accepts.
        path: dotted, of an object or list of the record; empty for the whole record.
        start: the first child to show.

    Raises:
        KeyError: the record has no such part.
    """
    above, path, container = _walk(strict_json.read(payload, number=spelling, integer=spelling), path)
    children = list(record_paths.children(container))
    if start and start >= len(children):
        raise KeyError(start)
    count = _count(container)
    tree = _Tree(_SHOWN, is_open=count <= _CHILDREN)
    nodes = tree.nodes(f"{path}." if path else "", children[start : start + _CHILDREN])
    following = start + _CHILDREN
    return Part(path, above, count, nodes, following if following < len(children) else None)


class _Tree:
    """Makes nodes, in place as long as `room` is left."""

    def __init__(self, room: int, *, is_open: bool) -> None:
        self.room, self.is_open = room, is_open

    def nodes(self, stem: str, children: list[tuple[str, Any]], level: int = 1) -> list[Node]:
        return [self._node(stem, key, value, level) for key, value in children]

    def _node(self, stem: str, key: str, value: Any, level: int) -> Node:
        if not isinstance(value, dict | list):
            self.room -= 1
            return Node(stem, key, _as_text(value), isinstance(value, str))
        count = _count(value)
        if not value:
            return Node(stem, key, "an empty object" if isinstance(value, dict) else "an empty list")
        stems = count * len(stem + key)
        if count > self.room or stems > _STEMS or len(value) > _CHILDREN or level == _LEVELS:
            return Node(stem, key, count=count)
        inside = self.nodes(f"{stem}{key}.", list(record_paths.children(value)), level + 1)
        return Node(stem, key, count=count, children=inside, is_open=self.is_open)


def _walk(container: Any, path: str) -> tuple[list[str], str, Any]:
    """The parts above a path, the path as the record spells it, and the object or list there."""
    above, walked = [], ""
    for key in record_paths.keys(path):
        above.append(walked)
        step = record_paths.key_in(container, key)
        container, walked = container[step], f"{walked}.{record_paths.segment(step)}".removeprefix(".")
    if not isinstance(container, dict | list):
        raise record_paths.NoSuchField(path)
    return above, walked, container


def _count(value: Any) -> int:
    if isinstance(value, dict):
        return sum(map(_count, value.values()))
    return sum(map(_count, value)) if isinstance(value, list) else 1


def _as_text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode()
    return value.replace("\x00", _NUL) if isinstance(value, str) else LITERALS[value]
