"""The words of notices, in each of their languages."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from babel import Locale

from notices.localization import names, values
from notices.localization.names import Name, humanise, spelled_out
from notices.localization.sentences import isolated
from notices.packs import base_language
from notices.record_paths import Scalar

__all__ = ["LONGEST_TEXT", "Shown", "Wording", "humanise", "spelled_out", "wording"]

_DIRECTORY = Path(__file__).parent
LONGEST_TEXT = 2000
"""Characters that are shown of a field's value."""


class Shown(NamedTuple):
    """A field as a person reads it."""

    label: str
    value: str
    happened: bool
    """Whether the label says that something happened, and the value on which day: `received`."""


@dataclass(frozen=True, slots=True)
class Wording:
    """What the notices of one language are made of. Templates have no end mark: a sentence gets one when it is done."""

    locale: Locale
    words: Mapping[str, str]
    matters: Mapping[str, str]
    """What was decided about, by the name of an event; `other` is for all others."""
    moments: Mapping[str, str]
    """For things that happened on a day, by what happened; `other` likewise."""
    fields: Mapping[str, str]
    """For fields of the record profile and those that packs ask for, by path."""
    alone: Mapping[str, str]
    """The same, where the record says that the system decided alone."""
    choices: Mapping[str, Mapping[str, str]]
    """For the known values of such fields."""

    def say(self, template: str, **values: str) -> str:
        """One of the words, with values in their places."""
        return self.words[template].format(**values)

    def show(self, name: str, found: Scalar) -> Shown:
        """A field's label, and its value as people of this language write it."""
        said = names.read(name)
        if found is None:
            return Shown(said.stem, self.words["nothing"], False)
        if isinstance(found, bool):
            return Shown(said.words, self.words["yes" if found else "no"], False)
        if isinstance(found, int | Decimal):
            return self._number(said, found)
        day = values.day(found)
        if day:
            return Shown(said.stem, self.day(day), said.moment and " " not in said.stem)
        text = spelled_out(found)
        if not text:
            return Shown(said.stem, self.words["nothing"], False)
        return Shown(said.words, isolated(text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + "…"), False)

    def day(self, found: date) -> str:
        """A day as people of this language and region write it."""
        return values.written(found, self.locale)

    def measures(self, name: str) -> bool:
        """Whether a field's name says what its value is measured in."""
        said = names.read(name)
        return bool(said.currency or said.unit)

    def choice(self, path: str, found: Scalar) -> str | None:
        """The template for a known value of a known field."""
        known = self.choices.get(path)
        return known.get("_".join(str(found).lower().split())) if known else None

    def _number(self, said: Name, found: int | Decimal) -> Shown:
        if said.currency:
            return Shown(said.stem, values.money(found, said.currency, self.locale), False)
        counted = values.quantity(found, said.unit, self.locale) if said.unit else None
        if counted:
            return Shown(said.stem, counted, False)
        return Shown(said.words, values.plain(found, self.locale, identifies=said.identifies), False)


@cache
def wording(language: str, locale: str = "") -> Wording:
    """The wording of a language, or of the language without its region.

    Args:
        locale: the region by whose customs dates and numbers are written, as in `en_GB`; "" is the language's default.

    Raises:
        KeyError: there is no such wording.
    """
    base = base_language(language)
    file = _DIRECTORY / f"{base}.toml"
    if not file.is_file():
        raise KeyError(language)
    content: dict[str, Any] = tomllib.loads(file.read_text("utf-8"))
    return Wording(locale=Locale.parse(locale or base), **content)
