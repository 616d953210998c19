"""The catalogs of messages that notices are made of, one for each of their languages."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from babel import Locale

from notices.localization import values
from notices.localization.names import FieldName, humanise, parse_name, spell_out
from notices.localization.sentences import isolate
from notices.packs import base_language
from notices.record_paths import Scalar

__all__ = ["LONGEST_TEXT", "Catalog", "FieldText", "catalog", "humanise", "spell_out"]

_DIRECTORY = Path(__file__).parent
LONGEST_TEXT = 2000
"""Characters that are printed of a field's value."""


class FieldText(NamedTuple):
    """A field as a person reads it."""

    label: str
    value: str
    is_event_date: bool = False
    """The label is something that happened, and the value the day: `received`."""


@dataclass(frozen=True, slots=True)
class Catalog:
    """The messages of one language. They have no end mark: a sentence gets one when it is complete."""

    locale: Locale
    messages: Mapping[str, str]
    subjects: Mapping[str, str]
    """What was decided about, by the name of an event; `other` is for all others."""
    event_dates: Mapping[str, str]
    """For things that happened on a day, by what happened; `other` likewise."""
    fields: Mapping[str, str]
    """For fields of the record profile and those that packs ask for, by path."""
    fields_if_automated: Mapping[str, str]
    """The same, where the record says that the system decided alone."""
    choices: Mapping[str, Mapping[str, str]]
    """For the known values of such fields."""

    def message(self, name: str, **values: str) -> str:
        """A message with values in its placeholders."""
        return self.messages[name].format(**values)

    def field_text(self, name: str, value: Scalar) -> FieldText:
        """A field's label, and its value as people of this language write it."""
        parsed = parse_name(name)
        if value is None:
            return FieldText(parsed.stem, self.messages["nothing"])
        if isinstance(value, bool):
            return FieldText(parsed.words, self.messages["yes" if value else "no"])
        if isinstance(value, int | Decimal):
            return self._number(parsed, value)
        day = values.parse_day(value)
        if day:
            return FieldText(parsed.stem, self.format_date(day), parsed.is_moment and " " not in parsed.stem)
        text = spell_out(value)
        if not text:
            return FieldText(parsed.stem, self.messages["nothing"])
        return FieldText(parsed.words, isolate(text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + "…"))

    def format_date(self, day: date) -> str:
        """A day as people of this language and region write it."""
        return values.format_day(day, self.locale)

    def has_unit(self, name: str) -> bool:
        """Whether a field's name says what its value is measured in."""
        parsed = parse_name(name)
        return bool(parsed.currency or parsed.unit)

    def choice(self, path: str, value: Scalar) -> str | None:
        """The message for a known value of a known field."""
        known = self.choices.get(path)
        return known.get("_".join(str(value).lower().split())) if known else None

    def _number(self, name: FieldName, number: int | Decimal) -> FieldText:
        if name.currency:
            return FieldText(name.stem, values.format_money(number, name.currency, self.locale))
        quantity = values.format_quantity(number, name.unit, self.locale) if name.unit else None
        if quantity:
            return FieldText(name.stem, quantity)
        return FieldText(name.words, values.format_number(number, self.locale, identifies=name.identifies))


@cache
def catalog(language: str, locale: str = "") -> Catalog:
    """The catalog of a language, or of the language without its region.

    Args:
        locale: the region by whose customs dates and numbers are written, as in `en_GB`; "" is the language's default.

    Raises:
        KeyError: there is no such catalog.
    """
    base = base_language(language)
    file = _DIRECTORY / f"{base}.toml"
    if not file.is_file():
        raise KeyError(language)
    tables: dict[str, Any] = tomllib.loads(file.read_text("utf-8"))
    return Catalog(locale=Locale.parse(locale or base), **tables)
