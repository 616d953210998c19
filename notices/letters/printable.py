"""What of a text can be printed."""

import re
from typing import Any

# Control characters, surrogates, private use and noncharacters: nobody can read them, and neither XML nor PDF/A takes
# them.
_UNREADABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ue000-\uf8ff\ufdd0-\ufdef\ufffe\uffff\U000f0000-\U0010ffff]"
)
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def printable(value: Any) -> str:
    """A value as text that can be printed: "" for what is no text, and a replacement for what nobody can read."""
    if not isinstance(value, str):
        return ""
    return _UNREADABLE.sub(REPLACEMENT, "\n".join(value.splitlines())).strip()


def printable_lines(value: Any) -> list[str]:
    """Text as its lines, without the empty ones."""
    return [line.strip() for line in printable(value).split("\n") if line.strip()]
