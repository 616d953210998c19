"""Isolation of bidirectional text, so that it cannot reorder its surroundings (Unicode Standard Annex #9).

Only control characters reach beyond their own line. Without them, the letters of a line set its direction.
"""

import re
from collections.abc import Sequence

FIRST_STRONG_ISOLATE, POP_ISOLATE = "\u2068", "\u2069"
_POP_EMBEDDING = "\u202c"
_EMBEDDINGS = frozenset("\u202a\u202b\u202d\u202e")
_ISOLATES = frozenset(f"\u2066\u2067{FIRST_STRONG_ISOLATE}")
_CONTROLS = re.compile("[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]")


def contained(text: str) -> str:
    """Return a text whose lines are isolated if their control characters could reach beyond them."""
    if text.isascii() or not _CONTROLS.search(text):
        return text
    return "\n".join(map(_contained_line, text.split("\n")))


def carried(lines: Sequence[str]) -> list[str]:
    """Return the wrapped lines of a text, in which each open isolate or embedding is closed and reopened at breaks."""
    balanced, still_open = [], ""
    for line in lines:
        begun = still_open + line
        still_open = "".join(_open(begun))
        balanced.append(begun + "".join(map(_closing, reversed(still_open))))
    return balanced


def _contained_line(line: str) -> str:
    characters, depth, reaches_out = [], 0, False
    for character in line:
        if character in _ISOLATES:
            depth += 1
        elif character == POP_ISOLATE:
            if not depth:  # it would close an isolate around the line
                continue
            depth -= 1
        elif not depth and _CONTROLS.match(character):
            reaches_out = True
        characters.append(character)
    closed = "".join(characters) + POP_ISOLATE * depth
    return FIRST_STRONG_ISOLATE + closed + POP_ISOLATE if reaches_out else closed


def _open(line: str) -> list[str]:
    """Return the isolates and embeddings that a line leaves open. The end of an isolate ends the embeddings in it."""
    stack: list[str] = []
    for character in line:
        if character in _ISOLATES or character in _EMBEDDINGS:
            stack.append(character)
        elif character == POP_ISOLATE and not _ISOLATES.isdisjoint(stack):
            while stack.pop() in _EMBEDDINGS:
                pass
        elif character == _POP_EMBEDDING and stack and stack[-1] in _EMBEDDINGS:
            stack.pop()
    return stack


def _closing(opening: str) -> str:
    return POP_ISOLATE if opening in _ISOLATES else _POP_EMBEDDING
