"""Phrasebooks as CSV tables, as organizations import them."""

import csv
from collections.abc import Iterable
from pathlib import Path

from django.core.exceptions import ValidationError

from config.errors import DomainError
from notices.models import Phrase

SHIPPED = Path(__file__).parent / "phrasebooks"
"""Phrases that are public law."""
COLUMNS = ("language", "key", "sentence", "label", "withheld", "owner", "approved_version")


class BadTable(DomainError):
    """A table of phrases is invalid. The sentence names the line and the problem."""

    code = "bad_table"
    status = 422


def read_table(lines: Iterable[str]) -> list[Phrase]:
    """Return the unsaved phrases of a CSV table with the columns COLUMNS.

    Raises:
        BadTable
    """
    phrases: dict[tuple[str, str], Phrase] = {}
    try:
        for number, row in enumerate(csv.DictReader(lines, strict=True), start=2):
            phrase = _phrase(number, row)
            if (phrase.language, phrase.key) in phrases:
                raise BadTable(f"Line {number}: this key is there twice in this language.")
            phrases[phrase.language, phrase.key] = phrase
    except csv.Error as error:
        raise BadTable(f"This is no CSV table: {error}.") from None
    return list(phrases.values())


def _phrase(number: int, row: dict[str, str]) -> Phrase:
    if set(row) != set(COLUMNS) or None in row.values():
        raise BadTable(f"Line {number}: the columns are {', '.join(COLUMNS)}.")
    if row["withheld"] not in ("", "yes", "no"):
        raise BadTable(f"Line {number}: withheld is yes, no or empty.")
    phrase = Phrase(**row | {"withheld": row["withheld"] == "yes"})
    try:
        phrase.full_clean(exclude=["organization"], validate_unique=False, validate_constraints=False)
    except ValidationError as error:
        wrong = "; ".join(f"{name}: {' '.join(problems)}" for name, problems in error.message_dict.items())
        raise BadTable(f"Line {number}: {wrong}") from None
    return phrase
