"""Paths of a record's fields, as field proofs name them: `outcome.action`, `events.0.score`.

A path is dotted. List items are named by index. A key is written as a JSON string if it is empty or has a dot, a quote
or a control character.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from config.errors import Fault

MAX_PATH_BYTES = 16 * 2**20
_MAX_POSITIONS = 512  # bytes: 64 levels of lists in a path
_BARE_KEY = re.compile(r'[^."\x00-\x1f]+')
_SEGMENT = re.compile(r'"(?:[^"\\]|\\.)*+"|[^."]+')
_INDEX = re.compile(r"[0-9]{1,9}")


class NoSuchField(KeyError):
    """The record has no value at this path."""


class PathsTooLong(Fault):
    """A key is part of the path of every field below it, so that a record of 1 MiB can have paths of many gigabytes."""

    code = "paths_too_long"
    status = 413
    sentence = (
        "The paths of this record's fields take more than 16 MiB together. Shorten the keys that have many fields "
        "below them, or split the record."
    )


def segment(key: str | int) -> str:
    """Return a key or index in the spelling of paths."""
    if isinstance(key, int):
        return str(key)
    return key if _BARE_KEY.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def children(container: Any) -> Iterator[tuple[str, Any]]:
    """Yield the values in an object or list, each with its segment."""
    if isinstance(container, dict):  # most keys are identifiers: this test takes a third of the time
        return ((key if key.isidentifier() else segment(key), value) for key, value in container.items())
    return ((str(index), value) for index, value in enumerate(container))


def scalars(container: Any) -> list[tuple[str, Any]]:
    """Return every scalar in an object or list with its path, in the record's order."""
    pairs: list[tuple[str, Any]] = []
    _collect(container, "", pairs)
    return pairs


def keys(path: str) -> list[str]:
    """Return the keys and indexes of a path, unescaped. Raises NoSuchField if it is not a path.

    The path is read once from its beginning: a search for segments takes the square of its length.
    """
    if not path:
        return []
    if '"' not in path:
        bare = path.split(".")
        if "" in bare:
            raise NoSuchField(path)
        return bare
    parts, at = [], 0
    while match := _SEGMENT.match(path, at):
        parts.append(match[0])
        at = match.end() + 1
        if path[at - 1 : at] != ".":
            break
    if at <= len(path):
        raise NoSuchField(path)
    try:
        return [json.loads(part) if part.startswith('"') else part for part in parts]
    except ValueError:
        raise NoSuchField(path) from None


def key_in(container: Any, key: str) -> str | int:
    """Return the key of an object or the index of a list that an item of `keys` refers to. Raises NoSuchField."""
    if isinstance(container, dict) and key in container:
        return key
    if isinstance(container, list) and _INDEX.fullmatch(key) and int(key) < len(container):
        return int(key)
    raise NoSuchField(key)


def value_at(container: Any, path: str) -> Any:
    """Return the value at a path of a record. Raises NoSuchField."""
    for key in keys(path):
        container = container[key_in(container, key)]
    return container


def require_short_paths(payload: bytes, content: Any) -> None:
    """Refuse a record whose paths would take too much memory.

    Args:
        payload: bytes that `strict_json.read` accepts.
        content: the result of reading them.

    Raises:
        PathsTooLong: the paths of all scalars and of all empty objects and lists are longer than 16 MiB together.
    """
    # Between every two of them is a comma, and no path is much longer than the keys in the payload.
    if (payload.count(b",") + 1) * (len(payload) + _MAX_POSITIONS) > MAX_PATH_BYTES:
        _measure(content, 0, 0)


def _collect(container: Any, prefix: str, pairs: list[tuple[str, Any]]) -> None:
    """Append the scalars below an object or list; `prefix` is its path with the dot, or empty."""
    for step, value in children(container):
        kind = type(value)
        if kind is dict or kind is list:
            _collect(value, f"{prefix}{step}.", pairs)
        else:
            pairs.append((prefix + step, value))


def _measure(container: Any, prefix: int, total: int) -> int:
    """Return `total` plus the bytes of the paths below an object or list. Its own path has `prefix` bytes."""
    for step, value in children(container):
        size = prefix + len(step if step.isascii() else step.encode())
        total = _measure(value, size + 1, total) if value and isinstance(value, dict | list) else total + size
        if total > MAX_PATH_BYTES:
            raise PathsTooLong
    return total
