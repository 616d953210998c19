"""Unicode normalization (UAX #15) of untrusted texts, in linear time."""

import unicodedata
from functools import lru_cache
from typing import Literal

_MAX_MARKS = 30  # in a row, as in the Stream-Safe Text Format (UAX #15, section 13)
_JOINER = "\u034f"  # COMBINING GRAPHEME JOINER: prints nothing and ends a run of marks


def normalize(form: Literal["NFC", "NFD", "NFKC", "NFKD"], text: str) -> str:
    """Return a text in a normal form.

    Python sorts each run of combining marks by insertion, in quadratic time, and holds the GIL. So runs longer than
    `_MAX_MARKS`, which no language writes, are split first.
    """
    return text if text.isascii() else unicodedata.normalize(form, _split(text))


def _split(text: str) -> str:
    """Return a text in which no run of marks is longer than `_MAX_MARKS`."""
    if len(text) <= _MAX_MARKS:
        return text
    characters, run = [], 0
    for character in text:
        run = run + 1 if _is_mark(character) else 0
        if run > _MAX_MARKS:
            characters.append(_JOINER)
            run = 1
        characters.append(character)
    return "".join(characters)


@lru_cache(4096)
def _is_mark(character: str) -> bool:
    """Whether a character decomposes into marks. Some of these, as U+0F73, have combining class 0 themselves."""
    return unicodedata.combining(unicodedata.normalize("NFKD", character)[0]) != 0
