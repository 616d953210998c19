"""The paths of a record's fields, as field proofs name them: `outcome.action`, `events.0.score`.

A path is dotted. List items go by index. A key is written as a JSON string where it is empty or has a dot, a quote or a
control character in it.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from config.errors import Fault

MOST_PATH_BYTES = 16 * 2**20
_LONGEST_POSITIONS = 512  # of 64 levels of lists, in a path
_BARE_KEY = re.compile(r'[^."\x00-\x1f]+')
_SEGMENT = re.compile(r'"(?:[^"\\]|\\.)*+"|[^."]+')
_INDEX = re.compile(r"[0-9]{1,9}")


class NoSuchField(KeyError):
    """The record has nothing at this path."""


class PathsTooLong(Fault):
    """A key is part of the path of every field below it, so that a record of 1 MiB can have paths of many gigabytes."""

    code = "paths_too_long"
    status = 413
    sentence = (
        "The paths of this record's fields take more than 16 MiB together. Shorten the keys that have many fields "
        "below them, or split the record."
    )


def segment(key: str | int) -> str:
    """A key or index as paths spell it."""
    if isinstance(key, int):
        return str(key)
    return key if _BARE_KEY.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def children(container: Any) -> Iterator[tuple[str, Any]]:
    """What is in an object or list, each value with its segment."""
    if isinstance(container, dict):  # most keys are identifiers, which are bare: this test takes a third of the time
        return ((key if key.isidentifier() else segment(key), value) for key, value in container.items())
    return ((str(index), value) for index, value in enumerate(container))


def scalars(container: Any) -> list[tuple[str, Any]]:
    """Every scalar in an object or list with its path, in the record's order."""
    found: list[tuple[str, Any]] = []
    _collect(container, "", found)
    return found


def keys(path: str) -> list[str]:
    """The keys and indexes that a path names, as the record has them. Raises NoSuchField for what is no path.

    It is read once from its beginning: looking for segments anywhere takes the square of its length.
    """
    if not path:
        return []
    if '"' not in path:
        bare = path.split(".")
        if "" in bare:
            raise NoSuchField(path)
        return bare
    found, at = [], 0
    while match := _SEGMENT.match(path, at):
        found.append(match[0])
        at = match.end() + 1
        if path[at - 1 : at] != ".":
            break
    if at <= len(path):
        raise NoSuchField(path)
    try:
        return [json.loads(part) if part.startswith('"') else part for part in found]
    except ValueError:
        raise NoSuchField(path) from None


def key_in(container: Any, key: str) -> str | int:
    """The key of an object or the index of a list that one of `keys` stands for. Raises NoSuchField."""
    if isinstance(container, dict) and key in container:
        return key
    if isinstance(container, list) and _INDEX.fullmatch(key) and int(key) < len(container):
        return int(key)
    raise NoSuchField(key)


def require_short_paths(payload: bytes, content: Any) -> None:
    """Refuse a record whose paths would take more memory than a process should spend on it.

    Args:
        payload: bytes that `strict_json.read` accepts.
        content: what it made of them.

    Raises:
        PathsTooLong: the paths of all scalars and of all empty objects and lists are longer than 16 MiB together.
    """
    # There is a comma between each two of them, and no path is much longer than the keys in the payload.
    if (payload.count(b",") + 1) * (len(payload) + _LONGEST_POSITIONS) > MOST_PATH_BYTES:
        _measure(content, 0, 0)


def _collect(container: Any, prefix: str, found: list[tuple[str, Any]]) -> None:
    """Append the scalars below an object or list; `prefix` is its path with the dot, or empty."""
    for step, value in children(container):
        kind = type(value)
        if kind is dict or kind is list:
            _collect(value, f"{prefix}{step}.", found)
        else:
            found.append((prefix + step, value))


def _measure(container: Any, prefix: int, total: int) -> int:
    """`total` and the bytes of the paths below an object or list, whose own path with the dot has `prefix` bytes."""
    for step, value in children(container):
        size = prefix + len(step if step.isascii() else step.encode())
        total = _measure(value, size + 1, total) if value and isinstance(value, dict | list) else total + size
        if total > MOST_PATH_BYTES:
            raise PathsTooLong
    return total
