"""Printable text: control characters and the like are replaced."""

import re
from typing import Any

# Control characters, surrogates, private use and noncharacters: they are unreadable, and XML and PDF/A forbid them.
_UNREADABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ue000-\uf8ff\ufdd0-\ufdef\ufffe\uffff\U000f0000-\U0010ffff]"
)
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def printable(value: Any) -> str:
    """Return a text with unreadable characters replaced, or "" for any other value."""
    if not isinstance(value, str):
        return ""
    return _UNREADABLE.sub(REPLACEMENT, "\n".join(value.splitlines())).strip()


def printable_lines(value: Any) -> list[str]:
    """Return the non-empty lines of a text."""
    return [line.strip() for line in printable(value).split("\n") if line.strip()]
