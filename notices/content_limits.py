"""How much a notice holds. Whatever is made of one, such as a letter or a proof, is made of no more."""

from collections.abc import Iterable, Mapping
from typing import Any

from config.errors import DomainError
from notices.packs import STATEMENT_FIELDS

MAX_STATEMENTS = 20_000
MAX_CHARACTERS = 2 * 2**20
MAX_CITED = 4 * 2**20
"""Characters of the values that the sources of a notice lead to. Several paths may lead to one value."""

Statement = dict[str, str]


class TooMuch(DomainError):
    """More than a notice holds. Nothing was saved."""

    code = "too_much"
    status = 413
    sentence = (
        "A notice holds 20,000 statements, 2 MiB of text and citations of 4 MiB of values, and this would be more. "
        "Write less; or withhold by the phrasebook what nobody would read, and draft again."
    )


class Room:
    """What is left of a notice's room while it is written."""

    def __init__(self) -> None:
        self._statements, self._characters = MAX_STATEMENTS, MAX_CHARACTERS

    def take(self, written: Iterable[Statement]) -> list[Statement]:
        """The statements. Raises TooMuch at the first that does not fit: they need not all be written."""
        taken = []
        for item in written:
            self._statements -= 1
            self.take_texts(item.values())
            taken.append(item)
        return taken

    def take_texts(self, texts: Iterable[str]) -> None:
        """Texts beside the statements. Raises TooMuch."""
        self._characters -= sum(map(len, texts))
        if min(self._statements, self._characters) < 0:
            raise TooMuch(because="more than a notice holds")


def require_room(content: Mapping[str, Any]) -> None:
    """Raises TooMuch for more than a notice holds."""
    room = Room()
    for name, value in content.items():
        if name in STATEMENT_FIELDS:
            room.take(value)
        elif not isinstance(value, bool):
            room.take_texts([value] if isinstance(value, str) else value)
