"""Phrasebook of an organization: its words by reason code or field path, and the fields that letters withhold."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from notices.sensitive import SensitiveFields, sensitive_fields

MAX_KEY = 256


@dataclass(frozen=True, slots=True)
class Phrase:
    """The words for a reason code or a record field, in the language of its phrasebook."""

    key: str
    """A reason code, or the path or name of a field."""
    sentence: str = ""
    """May contain `{value}`, the field's value."""
    label: str = ""
    """The field's name."""
    withheld: bool = False
    """The field is not printed."""
    authors: tuple[Mapping[str, str], ...] = ()
    """Its authors: `kind` and `id` of an actor, and the `mail` of the person behind it."""


class Phrasebook:
    """The phrases of one organization in one language, by key."""

    def __init__(self, phrases: Iterable[Phrase] = (), sensitive: SensitiveFields | None = None) -> None:
        """
        Args:
            sensitive: the fields to withhold, even if a phrase exists; by default those of the default list.
        """
        self._phrases = {phrase.key: phrase for phrase in phrases}
        self.sensitive = sensitive or sensitive_fields()

    def __bool__(self) -> bool:
        return bool(self._phrases)

    @property
    def digest(self) -> str:
        """SHA-256 of everything but the authors, which no letter or check depends on."""
        rows = sorted((row.key, row.sentence, row.label, row.withheld) for row in self._phrases.values())
        return hashlib.sha256(json.dumps([rows, self.sensitive.lists]).encode()).hexdigest()

    def find(self, *keys: str) -> Phrase | None:
        """Return the phrase of the first key that has one."""
        return next((self._phrases[key] for key in keys if key in self._phrases), None)
