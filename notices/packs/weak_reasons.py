"""Weak reasons: those that a law does not accept, such as a score alone. Patterns find paraphrases, too."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

_Words = Annotated[tuple[str, ...], Field(strict=False, min_length=1)]


class WeakReason(BaseModel):
    """A kind of weak reason, and the law that does not accept it."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=64)]
    citation: Annotated[str, Field(min_length=1)]
    source: Annotated[str, Field(min_length=1)]
    advice: Annotated[str, Field(min_length=1)]
    """Advice to the writer of the notice: better words."""
    measured: bool = False
    """A reason is weak even if it cites a number. Otherwise a number makes it specific, as in `Criteria met: 4`."""


class WeakPattern(BaseModel):
    """The words of weak reasons in a language. `*` at the start or end of a word matches any letters.

    A pattern of several words matches them in this order: `ein abschluss` is a contract, and `Ihr Abschluss` a
    degree."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    marks: _Words
    """Words that mark a weak reason: each has at least one."""
    words: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """Other words that a weak reason may have. Any further meaningful word makes it a specific reason."""

    def fits(self, words: Sequence[str], telling: Sequence[str]) -> bool:
        """Whether a reason says no more than the pattern.

        Args:
            words: all words of the reason, in lower case.
            telling: the meaningful words among them.
        """
        marks = _matching(self.marks, words)
        return bool(marks) and marks.union(_matching(self.words, words)).issuperset(telling)


def _matching(patterns: Sequence[str], words: Sequence[str]) -> set[str]:
    """Return the words that match a pattern. Words of a pattern with several words must be in its order."""
    matching: set[str] = set()
    for pattern in patterns:
        parts = pattern.casefold().split(" ")
        rows = zip(*(words[start:] for start in range(len(parts))), strict=False)
        matching.update(word for row in rows if all(map(_fits, row, parts)) for word in row)
    return matching


def _fits(word: str, pattern: str) -> bool:
    return (
        (pattern[0] == "*" and word.endswith(pattern[1:]))
        or (pattern[-1] == "*" and word.startswith(pattern[:-1]))
        or word == pattern
    )
