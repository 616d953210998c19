"""Limits on the content of a notice, and so on the size of its letter and proof."""

from collections.abc import Iterable, Mapping
from typing import Any

from config.errors import DomainError
from notices.packs import STATEMENT_FIELDS

MAX_STATEMENTS = 20_000
MAX_CHARACTERS = 2 * 2**20
MAX_CITED = 4 * 2**20
"""Characters of all cited values. Several paths may cite one value."""

Statement = dict[str, str]


class TooMuch(DomainError):
    """The content exceeds the limits of a notice. Nothing was saved."""

    code = "too_much"
    status = 413
    sentence = (
        "A notice holds 20,000 statements, 2 MiB of text and citations of 4 MiB of values, and this would be more. "
        "Write less, or withhold fields in the phrasebook and draft again."
    )


class Room:
    """The remaining room of a notice while it is written."""

    def __init__(self) -> None:
        self._statements, self._characters = MAX_STATEMENTS, MAX_CHARACTERS

    def take(self, written: Iterable[Statement]) -> list[Statement]:
        """Return the statements. Raises TooMuch at the first that does not fit, before it reads the others."""
        statements = []
        for item in written:
            self._statements -= 1
            self.take_texts(item.values())
            statements.append(item)
        return statements

    def take_texts(self, texts: Iterable[str]) -> None:
        """Take room for texts other than statements. Raises TooMuch."""
        self._characters -= sum(map(len, texts))
        if min(self._statements, self._characters) < 0:
            raise TooMuch(because="more than a notice holds")


def require_room(content: Mapping[str, Any]) -> None:
    """Raise TooMuch if a content exceeds the limits of a notice."""
    room = Room()
    for name, value in content.items():
        if name in STATEMENT_FIELDS:
            room.take(value)
        elif not isinstance(value, bool):
            room.take_texts([value] if isinstance(value, str) else value)
