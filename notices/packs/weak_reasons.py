"""Reasons that a law does not take for any, such as a score alone: as data, so that paraphrases are found too."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

_Words = Annotated[tuple[str, ...], Field(strict=False, min_length=1)]


class WeakReason(BaseModel):
    """A kind of them, and the law that says so."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=64)]
    citation: Annotated[str, Field(min_length=1)]
    source: Annotated[str, Field(min_length=1)]
    advice: Annotated[str, Field(min_length=1)]
    """What to write instead, for whoever writes the notice."""
    measured: bool = False
    """It is one of these also where the field that it cites is a number. `Criteria met: 4` is more than a standard."""


class WeakPattern(BaseModel):
    """How such reasons are worded in a language. `*` at the end of a word, or before it, stands for any letters.

    A pattern may have several words, which then stand in this order: `ein abschluss` is a contract, and `Ihr Abschluss`
    a degree."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    marks: _Words
    """One of these is in each."""
    words: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """What else may be in one. Any other word that tells something makes a reason of it."""

    def fits(self, words: Sequence[str], telling: Sequence[str]) -> bool:
        """Whether a reason says no more than this.

        Args:
            words: all words of the reason, small.
            telling: those among them that are not empty by themselves.
        """
        found = _found(self.marks, words)
        return bool(found) and found.union(_found(self.words, words)).issuperset(telling)


def _found(patterns: Sequence[str], words: Sequence[str]) -> set[str]:
    """Those words that one of the patterns fits; of a pattern of several words, those that stand in its order."""
    found: set[str] = set()
    for pattern in patterns:
        parts = pattern.casefold().split(" ")
        rows = zip(*(words[start:] for start in range(len(parts))), strict=False)
        found.update(word for row in rows if all(map(_fits, row, parts)) for word in row)
    return found


def _fits(word: str, pattern: str) -> bool:
    return (
        (pattern[0] == "*" and word.endswith(pattern[1:]))
        or (pattern[-1] == "*" and word.startswith(pattern[:-1]))
        or word == pattern
    )
