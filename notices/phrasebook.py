"""An organization's own words, looked up by reason code or by field path."""

import uuid
from collections.abc import Iterable

from notices.models import Phrase


class Phrasebook:
    """The phrases of one organization in one language, by key."""

    def __init__(self, phrases: Iterable[Phrase]) -> None:
        self._phrases = {phrase.key: phrase for phrase in phrases}

    @classmethod
    def of(cls, organization_id: uuid.UUID, language: str) -> "Phrasebook":
        return cls(Phrase.objects.filter(organization_id=organization_id, language=language))

    def find(self, *keys: str) -> Phrase | None:
        """The first of the keys that has a phrase."""
        return next((self._phrases[key] for key in keys if key in self._phrases), None)
