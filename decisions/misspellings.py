"""Probable misspellings of the profile's keys in a record: `decidedAt`, `descision_id`, `outcome.reason`.

A record may have any keys, so a misspelling is a warning, not an error.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

from custody.sealing.field_paths import keys, segment

PROFILE = (
    "decision_id", "decided_at",
    "subject.reference", "subject.type", "subject.language", "subject.jurisdiction",
    "system.name", "system.version", "system.provider", "system.deployer", "system.purpose",
    "system.public_body",
    "events",
    "outcome.action", "outcome.effective_date", "outcome.solely_automated", "outcome.score",
    "outcome.score_range.minimum", "outcome.score_range.maximum", "outcome.reason_codes",
    "outcome.reasons.code", "outcome.reasons.text",
    "outcome.principal_factors.factor", "outcome.principal_factors.path", "outcome.principal_factors.value",
    "outcome.principal_factors.direction", "outcome.consequences", "outcome.what_would_have_changed",
    "approval.approver", "approval.authority", "approval.approved_at", "approval.human_involvement", "approval.note",
)  # fmt: skip
"""The paths of docs/srf-record.schema.json, without positions in lists."""
_EVENTS = "events."
_MAX_KEYS = 1000
"""Unknown keys compared in a record. Each is compared with every known name at its place."""
_MAX_KEY_CHARACTERS = 40
_NOT_LETTERS = re.compile(r"[\W_]+")

Tree = dict[str, Any]
_SOURCES: list[Callable[[], Iterable[str]]] = []


class Misspelling(NamedTuple):
    path: str
    meant: str


def register_names(source: Callable[[], Iterable[str]]) -> None:
    """Add known paths, without positions in lists. Apps call this from their `ready()`.

    Args:
        source: returns the paths; called at the first search.
    """
    _SOURCES.append(source)


def find(record: Any) -> Iterator[Misspelling]:
    """Yield the probable misspellings of a record, in the order of its keys."""
    room = iter(range(_MAX_KEYS))
    yield from _in_object(record, _known(), "", "", room)


def is_misspelling(key: str, name: str) -> bool:
    """Whether a key is a name but for case, separators and typing errors: two in nine letters or more, one in five to
    eight. Shorter keys may only have two letters swapped."""
    if len(key) > _MAX_KEY_CHARACTERS:
        return False
    one, other = _folded(key), _folded(name)
    length = min(len(one), len(other))
    slips = 2 if length >= 9 else 1
    if abs(len(one) - len(other)) > slips or len({*one} ^ {*other}) > 2 * slips:
        return False
    if length < 5:
        return one == other or (sorted(one) == sorted(other) and _distance(one, other) == 1)
    return _distance(one, other) <= slips


def _in_object(value: Any, tree: Tree, path: str, known_path: str, room: Iterator[int]) -> Iterator[Misspelling]:
    """Yield the misspellings below an object or list.

    Args:
        tree: the names that are known there.
        path: the path of the value, with the dot.
        known_path: the same path without positions in lists, and with the names of events.
    """
    if not tree:
        return
    if isinstance(value, list):
        for position, item in enumerate(value):
            below, known_below = tree, known_path
            if path == _EVENTS and isinstance(item, dict):
                name = item.get("name")
                below, known_below = tree.get(name, {}) if isinstance(name, str) else {}, f"{known_path}{name}."
            yield from _in_object(item, below, f"{path}{position}.", known_below, room)
    elif isinstance(value, dict):
        for key, child in value.items():
            if key in tree:
                yield from _in_object(child, tree[key], f"{path}{key}.", f"{known_path}{key}.", room)
            elif meant := _dotted(key, tree) or _nearest(key, tree, room):
                yield Misspelling(path + segment(key), known_path + meant)


def _dotted(key: str, tree: Tree) -> str | None:
    """Return the key if it is a whole path of the profile, such as `"outcome.action"`."""
    if "." not in key or len(key) > _MAX_KEY_CHARACTERS:
        return None
    parts: Any = tree
    for part in key.split("."):
        parts = parts.get(part) if parts is not None else None
    return None if parts is None else key


def _nearest(key: str, tree: Tree, room: Iterator[int]) -> str | None:
    """Return the name that a key probably misspells, or None. Compares nothing when `room` is used up."""
    if next(room, None) is None:
        return None
    near = [name for name in tree if is_misspelling(key, name)]
    return min(near, key=lambda name: _distance(_folded(key), _folded(name)), default=None)


@cache
def _known() -> Tree:
    tree: Tree = {}
    for path in (*PROFILE, *(path for source in _SOURCES for path in source())):
        branch = tree
        for key in keys(path):
            branch = branch.setdefault(key, {})
    return tree


def _folded(name: str) -> str:
    return _NOT_LETTERS.sub("", name).casefold()


def _distance(one: str, other: str) -> int:
    """Count the insertions, deletions, substitutions and swaps of neighbours between two words (optimal string
    alignment, L. Boytsov, "Indexing methods for approximate dictionary searching", 2011, 2.1)."""
    earlier: list[int] = []
    last = list(range(len(other) + 1))
    for i, letter in enumerate(one, start=1):
        row = [i]
        for j, match in enumerate(other, start=1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != match))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == match:
                cost = min(cost, earlier[j - 2] + 1)
            row.append(cost)
        earlier, last = last, row
    return last[-1]
