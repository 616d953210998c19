"""The tree of a record's fields for a page: in the record's order, each field with the path that a notice cites.

A record may have ten thousand fields. A page shows a bounded number of them; larger parts are pages of their own.
"""

from dataclasses import dataclass
from typing import Any

from config.http import strict_json
from config.http.strict_json import LITERALS, spelling
from custody.sealing import field_paths

_MAX_FIELDS = 400  # fields on one page, if the parts are small enough to divide
_MAX_CHILDREN = 200  # children of one object or list on one page
_MAX_LEVELS = 8
_MAX_STEM_CHARACTERS = 2**17  # characters of a part's path, repeated for each of its fields
_NUL = "\N{SYMBOL FOR NULL}"  # no page can show the character itself


@dataclass(frozen=True, slots=True)
class Node:
    """A field, or a part of the record that has fields.

    Attributes:
        stem, key: together, the path.
        value: a field's value as text, numbers as the record spells them. None for a part.
        count: the number of a part's fields, at all depths.
        children: the nodes of a part that is shown in place. None if the part has its own page.
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
    """The fields that a page shows below `path`. `following` is the first child of the next page, if there is one."""

    path: str
    above: list[str]
    count: int
    nodes: list[Node]
    following: int | None


def part(payload: bytes, path: str = "", start: int = 0) -> Part:
    """Return a page of the fields of a record below a path.

    Args:
        payload: bytes that `strict_json.read` accepts.
        path: the dotted path of an object or list; empty for the whole record.
        start: the first child to show.

    Raises:
        KeyError: the record has no such part.
    """
    above, path, container = _walk(strict_json.read(payload, number=spelling, integer=spelling), path)
    children = list(field_paths.children(container))
    if start and start >= len(children):
        raise KeyError(start)
    count = _count(container)
    tree = _Tree(_MAX_FIELDS, is_open=count <= _MAX_CHILDREN)
    nodes = tree.nodes(f"{path}." if path else "", children[start : start + _MAX_CHILDREN])
    following = start + _MAX_CHILDREN
    return Part(path, above, count, nodes, following if following < len(children) else None)


class _Tree:
    """A builder of nodes that shows parts in place while `room` is left."""

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
        if count > self.room or stems > _MAX_STEM_CHARACTERS or len(value) > _MAX_CHILDREN or level == _MAX_LEVELS:
            return Node(stem, key, count=count)
        inside = self.nodes(f"{stem}{key}.", list(field_paths.children(value)), level + 1)
        return Node(stem, key, count=count, children=inside, is_open=self.is_open)


def _walk(container: Any, path: str) -> tuple[list[str], str, Any]:
    """Return the parts above a path, the path as the record spells it, and the object or list there."""
    above, walked = [], ""
    for key in field_paths.keys(path):
        above.append(walked)
        step = field_paths.key_in(container, key)
        container, walked = container[step], f"{walked}.{field_paths.segment(step)}".removeprefix(".")
    if not isinstance(container, dict | list):
        raise field_paths.NoSuchField(path)
    return above, walked, container


def _count(value: Any) -> int:
    if isinstance(value, dict):
        return sum(map(_count, value.values()))
    return sum(map(_count, value)) if isinstance(value, list) else 1


def _as_text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode()
    return value.replace("\x00", _NUL) if isinstance(value, str) else LITERALS[value]
