"""The tree of a record's fields for a page: in the record's order, each with a label and the path that a notice cites.

A record may have ten thousand fields. A page shows a bounded number of them; larger parts are pages of their own.
"""

from dataclasses import dataclass
from typing import Any

from config.http import strict_json
from config.http.strict_json import spelling
from config.words import in_words
from custody.sealing import field_paths
from decisions.record_summary import as_text

_MAX_FIELDS = 400  # fields on one page, if the parts are small enough to divide
_MAX_CHILDREN = 200  # children of one object or list on one page
_MAX_LEVELS = 8
_MAX_LABEL = 100  # characters
_MAX_STEM_CHARACTERS = 2**17  # characters of a part's path, repeated for each of its fields


@dataclass(frozen=True, slots=True)
class Node:
    """A field, or a part of the record that has fields.

    Attributes:
        stem, key: together, the path.
        label: the key in words.
        value: a field's value as text, numbers as the record spells them. None for a part.
        count: the number of a part's fields, at all depths.
        children: the nodes of a part that is shown in place. None if the part has its own page.
    """

    stem: str
    key: str
    label: str
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
    """The fields that a page shows below a path.

    Attributes:
        path, label: the part's path, and its last key in words.
        above: the paths and labels of the parts around it.
        following: the first child of the next page, if there is one.
    """

    path: str
    label: str
    above: list[tuple[str, str]]
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
    above, path, label, container = _walk(strict_json.read(payload, number=spelling, integer=spelling), path)
    children = list(field_paths.children(container))
    if start and start >= len(children):
        raise KeyError(start)
    count = _count(container)
    tree = _Tree(_MAX_FIELDS, is_open=count <= _MAX_CHILDREN)
    shown = children[start : start + _MAX_CHILDREN]
    nodes = tree.nodes(f"{path}." if path else "", shown, is_list=isinstance(container, list))
    following = start + _MAX_CHILDREN
    return Part(path, label, above, count, nodes, following if following < len(children) else None)


class _Tree:
    """A builder of nodes that shows parts in place while `room` is left."""

    def __init__(self, room: int, *, is_open: bool) -> None:
        self.room, self.is_open = room, is_open

    def nodes(self, stem: str, children: list[tuple[str, Any]], *, is_list: bool, level: int = 1) -> list[Node]:
        return [self._node(stem, key, _label(key, is_position=is_list), value, level) for key, value in children]

    def _node(self, stem: str, key: str, label: str, value: Any, level: int) -> Node:
        if not isinstance(value, dict | list):
            self.room -= 1
            return Node(stem, key, label, as_text(value), isinstance(value, str))
        count = _count(value)
        if not value:
            return Node(stem, key, label, "an empty object" if isinstance(value, dict) else "an empty list")
        stems = count * len(stem + key)
        if count > self.room or stems > _MAX_STEM_CHARACTERS or len(value) > _MAX_CHILDREN or level == _MAX_LEVELS:
            return Node(stem, key, label, count=count)
        children = list(field_paths.children(value))
        inside = self.nodes(f"{stem}{key}.", children, is_list=isinstance(value, list), level=level + 1)
        return Node(stem, key, label, count=count, children=inside, is_open=self.is_open)


def _walk(container: Any, path: str) -> tuple[list[tuple[str, str]], str, str, Any]:
    """Return the parts above a path, the path as the record spells it, its label, and the object or list there."""
    above, walked, label = [], "", ""
    for key in field_paths.keys(path):
        above.append((walked, label))
        step = field_paths.key_in(container, key)
        segment = field_paths.segment(step)
        label = _label(segment, is_position=isinstance(step, int))
        container, walked = container[step], f"{walked}.{segment}".removeprefix(".")
    if not isinstance(container, dict | list):
        raise field_paths.NoSuchField(path)
    return above, walked, label, container


def _label(segment: str, *, is_position: bool) -> str:
    """Return a segment of a path in words. Positions count from 1, as people do."""
    if is_position:
        return f"Item {int(segment) + 1}"
    (key,) = field_paths.keys(segment)
    label = in_words(as_text(key)) or segment
    return label if len(label) <= _MAX_LABEL else f"{label[: _MAX_LABEL - 1]}…"


def _count(value: Any) -> int:
    if isinstance(value, dict):
        return sum(map(_count, value.values()))
    return sum(map(_count, value)) if isinstance(value, list) else 1
