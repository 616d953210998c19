"""An organization's own words, looked up by reason code or by field path, and what it keeps out of letters."""

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
    """`{value}` in it stands for the field's value."""
    label: str = ""
    """What the field is called."""
    withheld: bool = False
    """The field is not printed."""
    authors: tuple[Mapping[str, str], ...] = ()
    """Who wrote it: `kind` and `id` of an actor, and the `mail` of the person behind it."""


class Phrasebook:
    """The phrases of one organization in one language, by key."""

    def __init__(self, phrases: Iterable[Phrase] = (), sensitive: SensitiveFields | None = None) -> None:
        """
        Args:
            sensitive: what is withheld whatever the phrases say; the default list if none is given.
        """
        self._phrases = {phrase.key: phrase for phrase in phrases}
        self.sensitive = sensitive or sensitive_fields()

    def __bool__(self) -> bool:
        return bool(self._phrases)

    def find(self, *keys: str) -> Phrase | None:
        """The first of the keys that has a phrase."""
        return next((self._phrases[key] for key in keys if key in self._phrases), None)
