"""An organization's own words, looked up by reason code or by field path."""

import csv
import uuid
from collections.abc import Iterable

from django.core.exceptions import ValidationError

from notices.models import Phrase

LONGEST_KEY = Phrase._meta.get_field("key").max_length or 0
COLUMNS = ("language", "key", "sentence", "label", "withheld", "owner", "approved_version")


class Phrasebook:
    """The phrases of one organization in one language, by key."""

    def __init__(self, phrases: Iterable[Phrase]) -> None:
        self._phrases = {phrase.key: phrase for phrase in phrases}
        self._used: dict[str, Phrase] = {}

    @classmethod
    def of(cls, organization_id: uuid.UUID, language: str) -> "Phrasebook":
        return cls(Phrase.objects.filter(organization_id=organization_id, language=language))

    def __bool__(self) -> bool:
        return bool(self._phrases)

    @property
    def withholds(self) -> bool:
        """Whether any phrase keeps something out of letters."""
        return any(phrase.withheld for phrase in self._phrases.values())

    def find(self, *keys: str) -> Phrase | None:
        """The first of the keys that has a phrase."""
        found = next((self._phrases[key] for key in keys if key in self._phrases), None)
        if found is not None:
            self._used[found.key] = found
        return found

    @property
    def authors(self) -> list[dict[str, str]]:
        """Who wrote the phrases that were found so far, as `Phrase.authors` names them."""
        return [author for phrase in self._used.values() for author in phrase.authors.values()]


class BadTable(ValueError):
    """A table of phrases cannot be taken. The message names the line and what is wrong with it."""


def read_table(lines: Iterable[str]) -> list[Phrase]:
    """The phrases of a CSV table whose columns are COLUMNS, not saved yet.

    Raises:
        BadTable
    """
    found: dict[tuple[str, str], Phrase] = {}
    try:
        for number, row in enumerate(csv.DictReader(lines, strict=True), start=2):
            phrase = _phrase(number, row)
            if (phrase.language, phrase.key) in found:
                raise BadTable(f"Line {number}: this key is there twice in this language.")
            found[phrase.language, phrase.key] = phrase
    except csv.Error as error:
        raise BadTable(f"This is no CSV table: {error}.") from None
    return list(found.values())


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
