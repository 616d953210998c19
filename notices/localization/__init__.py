"""The catalogs of messages that notices are made of, one for each of their languages."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from babel import Locale

from decisions.record import outcomes
from notices.localization import values
from notices.localization.names import FieldName, humanise, is_machine_name, parse_name, spell_out
from notices.localization.sentences import isolate
from notices.packs import base_language
from notices.record_paths import Scalar

__all__ = ["MAX_TEXT", "Catalog", "FieldText", "catalog", "humanise", "spell_out"]

_DIRECTORY = Path(__file__).parent
MAX_TEXT = 2000
"""Characters that are printed of a field's value."""
_REPEATED = re.compile(r"(?i)\b([^\W\d_]+)(?: \1\b)+")
"""`provider_npi` would be the provider provider number."""
_SHOUTED = re.compile(r"[A-Z0-9._/\-]+")
"""Codes, which stay as they are."""
# Programs write names small. Compounds end as their last word does.
_GERMAN_NOUN = re.compile(
    r"(?:betr[aä]g|betr[aä]ge|dauer|datum|einkommen|euro|fahrzeug|forderungen|grund|jahr|jahre|konto|kosten|kredit|miete|monat"
    r"|monate|nummer|größe|höhe|gebühr|gebühren|vermögen|prämie|person|personen|preis|punkte|rate|raten|schulden|summe|tage|vertrag|wert|zins"
    r"|\w{3}(?:heit|heiten|ion|ionen|keit|keiten|nis|nisse|schaft|schaften|tät|ung|ungen))$"
)
# `dti_ratio`: these say nothing more after an abbreviation that is written out.
_SAID_BY_ABBREVIATIONS = {"code", "index", "no", "number", "rate", "ratio"}


class FieldText(NamedTuple):
    """A field as a person reads it."""

    label: str
    value: str


@dataclass(frozen=True, slots=True)
class Catalog:
    """The messages of one language. They have no end mark: a sentence gets one when it is complete."""

    locale: Locale
    messages: Mapping[str, str]
    subjects: Mapping[str, str]
    """What was decided about, by the name of an event; `other` is for all others."""
    fields: Mapping[str, str]
    """For fields of the record profile and those that packs ask for, by path."""
    fields_if_automated: Mapping[str, str]
    """The same, where the record says that the system decided alone."""
    fields_if_influenced: Mapping[str, str]
    """The same, where a flag says that a system had a part in the decision."""
    fields_if_not_decided: Mapping[str, str]
    """The same, where nobody has decided yet."""
    since: Mapping[str, str]
    """When a case came to be so, by the word for what became of it, where nobody decided."""
    choices: Mapping[str, Mapping[str, str]]
    """For the known values of such fields."""
    abbreviations: Mapping[str, str]
    """What the short words in names of fields stand for, such as `dti`."""
    names: Mapping[str, str]
    """For whole names of fields that the record profile has, or that are much used."""

    letters: Mapping[str, str] = field(default_factory=dict)
    """Parts of words in the letters that programs have, each as it is spelled: `groesse`."""

    def message(self, name: str, **values: str) -> str:
        """A message with values in its placeholders."""
        if label := values.get("label"):
            values["label"] = self.begun(label)
        return self.messages[name].format(**values)

    def begun(self, label: str) -> str:
        """A label as this language begins one: German does with a capital, as most are nouns."""
        return label[:1].upper() + label[1:] if self.locale.language == "de" else label

    def field_text(self, name: str, value: Scalar) -> FieldText:
        """Return a field's label, and its value as people of this language write it."""
        text = self._field_text(parse_name(name), value)
        return text._replace(label=self._written_out(text.label)) if is_machine_name(name) else text

    def label(self, name: str) -> str:
        """A name as words, with its abbreviations written out."""
        return self._written_out(humanise(name)) if is_machine_name(name) else humanise(name)

    def _field_text(self, parsed: FieldName, value: Scalar) -> FieldText:
        if value is None:
            return FieldText(parsed.stem, self.messages["nothing"])
        if isinstance(value, bool):
            return FieldText(parsed.words, self.messages["yes" if value else "no"])
        if isinstance(value, int | Decimal):
            return self._number(parsed, value)
        day = values.parse_day(value)
        if day:
            return FieldText(parsed.stem, self.format_date(day))
        amount = values.parse_amount(value.strip()) if parsed.currency else None
        if amount is not None:
            return self._number(parsed, amount)
        if parsed.currency and values.is_unclear_amount(value.strip()):
            return FieldText(parsed.stem, f"{value.strip()} {parsed.currency}")
        text = self.spell_out(value)
        if not text:
            return FieldText(parsed.stem, self.messages["nothing"])
        return FieldText(parsed.words, isolate(text if len(text) <= MAX_TEXT else text[:MAX_TEXT] + "…"))

    def spell_out(self, text: str) -> str:
        """A text on one line; one that is no more than the name of something as words."""
        spelled = spell_out(text)
        return self._written_out(spelled) if is_machine_name(text) and not _SHOUTED.fullmatch(text) else spelled

    def _written_out(self, words: str) -> str:
        """Words with their abbreviations written out: `debt-to-income ratio (DTI)` for `dti ratio`."""
        if known := self.names.get(words.casefold()):
            return known
        parts, told = words.split(" "), []
        while parts:
            length = 2 if " ".join(parts[:2]).casefold() in self.abbreviations and len(parts) > 1 else 1
            short, parts = " ".join(parts[:length]), parts[length:]
            full = self.abbreviations.get(short.casefold()) or self._spelled(short)
            told.append(full)
            if full.endswith(")") and parts and parts[0].casefold() in _SAID_BY_ABBREVIATIONS:
                parts = parts[1:]
        return _REPEATED.sub(r"\1", " ".join(told))

    def _spelled(self, word: str) -> str:
        if word.isascii():
            for plain, letters in self.letters.items():
                word = word.replace(plain, letters)
        is_noun = self.locale.language == "de" and _GERMAN_NOUN.search(word)
        return word[:1].upper() + word[1:] if is_noun else word

    def format_date(self, day: date) -> str:
        """A day as people of this language and region write it."""
        return values.format_day(day, self.locale)

    def label_without_unit(self, name: str) -> str:
        """A name as words, without the unit that it says a value has."""
        parsed = parse_name(name)
        words = parsed.stem if parsed.currency or parsed.unit else parsed.words
        return self._written_out(words) if is_machine_name(name) else words

    def choice(self, path: str, value: Scalar) -> str | None:
        """The message for a known value of a known field."""
        if path in (*outcomes.PATHS, *outcomes.INSTEAD):
            outcome = outcomes.outcome(value)
            return self.choices[outcomes.PATHS[0]].get(outcome.word) if outcome else None
        known = self.choices.get(path)
        return known.get("_".join(str(value).lower().split())) if known else None

    def _number(self, name: FieldName, number: int | Decimal) -> FieldText:
        if name.currency:
            amount = values.of_minor_units(number, name.currency) if name.is_minor else number
            return FieldText(name.stem, values.format_money(amount, name.currency, self.locale))
        quantity = values.format_quantity(number, name.unit, self.locale) if name.unit else None
        if not (name.unit or name.suffix) and name.is_percent:
            quantity = values.format_quantity(number, "concentr-percent", self.locale)
        if name.suffix:
            quantity = f"{values.format_number(number, self.locale, identifies=False)} {name.suffix}"
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
