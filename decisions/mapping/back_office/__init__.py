"""Pages of mappings in the back office, and the letter that another app drafts beside them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpRequest

from decisions.record.meanings import Entry


@dataclass(frozen=True, slots=True)
class SampleLetter:
    """The letter about a sample record, by entries that no one has confirmed yet.

    Attributes:
        text: the letter as plain text, or "" if there is none.
        problems: why it could not be approved, or why there is no letter.
    """

    text: str
    problems: Sequence[str] = field(default_factory=list)


SampleLetters = Callable[[HttpRequest, dict[str, Any], Sequence[Entry]], SampleLetter | None]
_SAMPLE_LETTERS: list[SampleLetters] = []


def register_sample_letter(source: SampleLetters) -> None:
    """Ask `source` for the letter about a sample record. Apps call this from their `ready()`.

    Args:
        source: takes the request, the record with numbers as int or Decimal, and the entries. It returns None if the
            operator may not draft letters.
    """
    _SAMPLE_LETTERS.append(source)


def sample_letter(request: HttpRequest, record: dict[str, Any], entries: Sequence[Entry]) -> SampleLetter | None:
    """Return the letter about a sample record by these entries, if an app drafts letters."""
    return next((letter for source in _SAMPLE_LETTERS if (letter := source(request, record, entries))), None)
