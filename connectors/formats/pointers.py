"""JSON pointers (RFC 6901) that lead to the exact bytes of values in a document."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from connectors.formats.scanner import WHITE_SPACE, Scanner

POINTER = r"^(/([^~/]|~[01])*)*$"
MAX_STEPS = 16
"""Steps of a pointer. Each step scans one level of the document."""
_KEY = re.compile(rb'[ \t\r\n]*("(?:[^"\\]++|\\.)*+")[ \t\r\n]*:', re.DOTALL)
_COMMA = ord(",")

_Tree = dict[str, Any]


def values_at(document: bytes, pointers: Iterable[str]) -> dict[str, bytes]:
    """Return the bytes of the value at each pointer that leads to one.

    Args:
        document: JSON. In an invalid document the returned bytes are arbitrary.
        pointers: `""` is the whole document.
    """
    tree: _Tree = {}
    for pointer in pointers:
        branch = tree
        for step in _steps(pointer):
            branch = branch.setdefault(step, {})
        branch[""] = [*branch.get("", []), pointer]  # "" cannot be a step, because steps begin with a slash
    return dict(_pointed(document.strip(WHITE_SPACE), tree))


def _steps(pointer: str) -> list[str]:
    return ["/" + step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def _pointed(value: bytes, tree: _Tree) -> Iterator[tuple[str, bytes]]:
    for pointer in tree.get("", ()):
        yield pointer, value
    if len(tree) > ("" in tree):
        for key, child in _children(value):
            if "/" + key in tree:
                yield from _pointed(child, tree["/" + key])


def _children(value: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the members of an object by key, or the items of an array by number."""
    if not value.startswith((b"{", b"[")):
        return
    is_object = value.startswith(b"{")
    for number, member in enumerate(_members(value)):
        if not is_object:
            yield str(number), member.strip(WHITE_SPACE)
        elif key := _KEY.match(member):
            yield _text(key[1]), member[key.end() :].strip(WHITE_SPACE)


def _members(value: bytes) -> Iterator[bytes]:
    scanner, begin, position = Scanner(), 1, 1
    while True:
        position, byte = scanner.next(value, position)
        if byte is None:
            return
        if byte in b"[{":
            scanner.depth += 1
        elif byte in b"]}":
            scanner.depth -= 1
        if byte == _COMMA or scanner.depth < 0:
            yield value[begin:position]
            begin = position + 1
        if scanner.depth < 0:
            return
        position += 1


def _text(spelled: bytes) -> str:
    try:
        return str(json.loads(spelled))
    except ValueError:
        return ""
