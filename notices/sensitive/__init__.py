"""Values that letters never print, whatever a mapping says: numbers of accounts and people, and secrets, by their form.

An organization adds names of fields to withhold, and takes single fields off.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from notices.record_paths import Fact
from notices.sensitive.names import words_of
from notices.sensitive.spelling import tables
from notices.sensitive.values import kinds

__all__ = ["MAX_FIELD_NAME", "MAX_FIELD_NAMES", "SensitiveFields", "same_names", "sensitive_fields"]

MAX_FIELD_NAME, MAX_FIELD_NAMES = 100, 500
"""Characters and number of the names that an organization adds or takes off."""
_ADDED = "a field that your settings withhold"


def same_names(names: Iterable[str], others: Iterable[str]) -> list[str]:
    """Return the names that are among the others, in any spelling."""
    known = frozenset(map(words_of, others))
    return [name for name in names if words_of(name) in known]


class SensitiveFields:
    """The fields that an organization withholds from letters."""

    def __init__(self, added: Iterable[str] = (), printable: Iterable[str] = ()) -> None:
        """
        Args:
            added: names of fields to withhold.
            printable: names of fields whose values are printed in any form.
        """
        self.lists = (tuple(added), tuple(printable))
        self._added, self._printable = frozenset(map(words_of, added)), frozenset(map(words_of, printable))

    def kind(self, fact: Fact) -> str:
        """Return in words why a field or part of a record is withheld, or "". The parts above it count, too."""
        words = words_of(fact.field.name)
        if fact.value is None or words in self._printable:
            return ""
        return _ADDED if words in self._added else _kind_of_value(fact.value) or _kind_of_value(fact.name)

    def named(self, name: str) -> str:
        """Return in words why a reason or factor of this name is withheld, or ""."""
        return _ADDED if words_of(name) in self._added else _kind_of_value(name)


@lru_cache(maxsize=256)
def sensitive_fields(added: tuple[str, ...] = (), printable: tuple[str, ...] = ()) -> SensitiveFields:
    """Return the fields of an organization, cached."""
    return SensitiveFields(added, printable)


def _kind_of_value(value: Any) -> str:
    return next((tables()["values"][kind] for kind in kinds(value)), "")
