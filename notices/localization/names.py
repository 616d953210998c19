"""What the name of a field says: its words, and what its value is measured in."""

import re
from functools import lru_cache
from typing import NamedTuple

from babel import Locale

from notices.localization.sentences import isolate, one_line

LONGEST = 120
_PARTS = re.compile(r"[_\-.\s/]+|(?<=[a-z0-9])(?=[A-Z])")
_PLAIN = re.compile(r"[A-Za-z0-9_\-./]+")
_CONSTANT = re.compile(r"[a-z]+(_[a-z]+)+|[A-Z]+(_[A-Z]+)+")
_PUNCTUATION = " .,:;!?"

# Codes that are also English words or common abbreviations: nobody can tell `pain_all` from an amount in lek.
_ENGLISH_WORDS = {"all", "bad", "bam", "ban", "bob", "cop", "crc", "cup", "esp", "gel", "inr", "irr", "mad"}
_ENGLISH_WORDS |= {"mop", "pen", "php", "pte", "ron", "rub", "scr", "sit", "sos", "std", "sur", "top", "try"}
_CURRENCIES = {str(code).lower() for code in Locale("en").currencies} - _ENGLISH_WORDS
_UNITS = {
    "percent": "concentr-percent",
    "pct": "concentr-percent",
    "years": "duration-year",
    "months": "duration-month",
    "weeks": "duration-week",
    "days": "duration-day",
    "hours": "duration-hour",
    "minutes": "duration-minute",
    "seconds": "duration-second",
    "km": "length-kilometer",
    "miles": "length-mile",
    "cm": "length-centimeter",
    "kg": "mass-kilogram",
    "mmhg": "pressure-millimeter-ofhg",
}
# Metres or millions: the record does not say.
_AMBIGUOUS_UNITS = {"g", "h", "l", "m"}
# `payments_last_months` counts payments and `number_of_days` is already said: after these a unit is part of the name.
_NO_UNIT_AFTER = {"at", "by", "each", "every", "for", "from", "last", "next", "of"}
_NO_UNIT_AFTER |= {"other", "past", "per", "previous", "prior", "the", "to", "within"}
# Numbers in fields with one of these in their names are names themselves, as far as anybody can tell.
_IDENTIFYING = {"account", "code", "codes", "customer", "fax", "iban", "id", "identifier", "ids", "key", "mobile", "no"}
_IDENTIFYING |= {"nr", "number", "numbers", "phone", "pin", "plz", "postal", "postcode", "ref", "reference", "serial"}
_IDENTIFYING |= {"ssn", "telephone", "year", "years", "zip", "zipcode"}


class FieldName(NamedTuple):
    """A field's name as words, and without what is said by its value."""

    words: str
    stem: str
    """The words without the unit (`savings_gbp`: savings) or without "at" (`received_at`: received)."""
    currency: str = ""
    unit: str = ""
    """As babel names it."""
    is_moment: bool = False
    """Whether a date here is when something happened: the name ends with "at" or "on"."""

    @property
    def identifies(self) -> bool:
        """Whether a number here tells one thing from another, as in `claim_number`, and counts nothing."""
        return not _IDENTIFYING.isdisjoint(self.words.lower().split(" "))


def humanise(name: str) -> str:
    """A field's name as words: `loan_to_value` becomes `loan to value`. A name that people wrote stays as it is."""
    words = one_line(name).rstrip(_PUNCTUATION)
    if _PLAIN.fullmatch(words):
        parts = [part for part in _PARTS.split(words) if part]
        shouted = words.upper() == words
        words = " ".join(part if part.isupper() and len(part) > 1 and not shouted else part.lower() for part in parts)
    return isolate(words if len(words) <= LONGEST else words[:LONGEST].rstrip() + "…")


def spell_out(text: str) -> str:
    """A text on one line; one that is no more than the name of something, such as `sent_to_clinician`, as words."""
    return humanise(text) if _CONSTANT.fullmatch(text) else one_line(text)


def parse_name(name: str) -> FieldName:
    """What a field's name says."""
    return (
        _parse(name) if len(name) <= LONGEST else _parse.__wrapped__(name)
    )  # no more is kept than a cache should hold


@lru_cache(maxsize=4096)
def _parse(name: str) -> FieldName:
    words = humanise(name)
    *stem, last = words.split(" ")
    if stem and stem[-1] == "in":  # age in years
        stem.pop()
    words_before = " ".join(stem)
    if not stem or stem[-1].isdecimal() or stem[-1] in _NO_UNIT_AFTER:
        return FieldName(words, words)
    if last.lower() in _CURRENCIES:
        return FieldName(f"{words_before} {last.upper()}", words_before, currency=last.upper())
    if last.lower() in _UNITS:
        return FieldName(words, words_before, unit=_UNITS[last.lower()])
    if last in ("at", "on"):
        return FieldName(words, words_before, is_moment=True)
    if last in _AMBIGUOUS_UNITS:
        return FieldName(f"{words_before} ({last})", f"{words_before} ({last})")
    return FieldName(words, words)
