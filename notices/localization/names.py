"""What the name of a field says: its words, and what its value is measured in."""

import re
from functools import lru_cache
from typing import NamedTuple

from babel import Locale

from notices.bounded_names import bounded
from notices.localization.sentences import isolate, one_line

LONGEST = 120
_CACHED = 200
"""Characters of a name that is kept for the next record."""
_CAPITAL, _SMALL = "A-ZÀ-ÖØ-ÞŒ", "a-zß-öø-ÿœ"
_PARTS = re.compile(
    rf"[_\-.\s/]+|(?<=[{_SMALL}0-9])(?=[{_CAPITAL}])|(?<=[{_CAPITAL}])(?=[{_CAPITAL}][{_SMALL}])"
    r"|(?<=[A-Za-z][a-z]{3})(?=[0-9]+[A-Z_\-])"  # inquiriesLast6Months, but not sha256Sum
    r"|(?:(?<=Last)|(?<=_last)|(?<=Past)|(?<=_past)|(?<=Next)|(?<=_next)|(?<=Per)|(?<=_per)|(?<=^last)|(?<=^per))(?=[0-9])"
    r"|(?<=[0-9])(?=(?:day|week|month|year|mile|km|tage|monate|jahre|jours|mois|ans)s?(?![a-z]))"
)
# A word with accents is as people write it, unless it is in one with others as programs write them.
_PLAIN = re.compile(
    r"(?![0-9]+(?:\.[0-9]+)+\Z)"  # the dots of a number or a version, such as 0.1, stay
    rf"(?:[A-Za-z0-9_\-./]+|(?=\S*(?:_|[{_SMALL}][{_CAPITAL}]))[{_SMALL}{_CAPITAL}0-9_\-./]+)"
)
_CONSTANT = re.compile(r"[a-z]+(_[a-z]+)+|[A-Z]+(_[A-Z]+)+")
_PUNCTUATION = " .,:;!?"

# Codes that are also English words or common abbreviations: nobody can tell `pain_all` from an amount in lek.
_ENGLISH_WORDS = {"all", "bad", "bam", "ban", "bob", "cop", "crc", "cup", "esp", "gel", "inr", "irr", "mad"}
_ENGLISH_WORDS |= {"mop", "pen", "php", "pte", "ron", "rub", "scr", "sit", "sos", "std", "sur", "top", "try"}
_CODES = frozenset(map(str, Locale("en").currencies))
_CURRENCIES = {code.lower() for code in _CODES} - _ENGLISH_WORDS
_UNITS = {
    "percent": "concentr-percent",
    "percentage": "concentr-percent",
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
    **dict.fromkeys(("prozent", "pourcent", "pourcentage"), "concentr-percent"),
    **dict.fromkeys(("jahr", "jahre", "jahren", "ans", "année", "années", "annee", "annees"), "duration-year"),
    **dict.fromkeys(("monat", "monate", "monaten", "mois"), "duration-month"),
    **dict.fromkeys(("wochen", "semaines"), "duration-week"),
    **dict.fromkeys(("tage", "tagen", "jours"), "duration-day"),
    **dict.fromkeys(("stunden", "heures"), "duration-hour"),
    **dict.fromkeys(("minuten",), "duration-minute"),
}
# Hundredths of a currency, or so: which one, another field says.
MINOR = {"cents", "centimes", "minor", "pence"}
_MINOR_AMOUNTS = {*MINOR, "amount in minor units", "amount minor units", "minor amount", "minor units", "minor value"}
# Metres or millions: the record does not say.
_AMBIGUOUS_UNITS = {"g", "h", "l", "m"}
# `payments_last_months` counts payments and `number_of_days` is already said: after these a unit is part of the name.
_NO_UNIT_AFTER = {"at", "by", "each", "every", "for", "from", "last", "next", "of"}
_BEFORE_MONEY = {"last", "next", "other", "past", "previous", "prior"}
_NO_UNIT_AFTER |= {"other", "past", "per", "previous", "prior", "the", "to", "within"}
_NO_UNIT_AFTER |= {
    "je",
    "letzte",
    "letzten",
    "pro",
    "seit",
    "vor",
    "chaque",
    "de",
    "depuis",
    "dernières",
    "derniers",
    "par",
}
_ADJECTIVE = re.compile(r"^(?:free|consecutive|full|whole|volle[nr]?)$|(?:frei|ig|lich|isch|los)e[nrs]?$")
# Numbers in fields with one of these in their names are names themselves, as far as anybody can tell.
_IDENTIFYING = {"account", "code", "codes", "customer", "fax", "iban", "id", "identifier", "ids", "key", "mobile", "no"}
_IDENTIFYING |= {"nr", "number", "numbers", "phone", "pin", "plz", "postal", "postcode", "ref", "reference", "serial"}
_IDENTIFYING |= {"ssn", "telephone", "year", "years", "zip", "zipcode"}
_IDENTIFYING |= {"lat", "latitude", "lng", "lon", "longitude"}


# `_percent` at the end of a name is a unit.
_SAYS_PERCENT = {"pct", "percent", "percentage", "pourcentage", "prozent"}


class FieldName(NamedTuple):
    """A field's name as words, and without what is said by its value."""

    words: str
    stem: str
    """The words without the unit (`savings_gbp`: savings) or without "at" (`received_at`: received)."""
    currency: str = ""
    unit: str = ""
    """As babel names it."""
    suffix: str = ""
    """A unit that babel does not know."""
    is_minor: bool = False
    """Whether the amount is in the currency's smallest unit, as cents are."""

    @property
    def is_percent(self) -> bool:
        """Whether the name says that a number here is in percent."""
        return not _SAYS_PERCENT.isdisjoint(self.words.casefold().split(" "))

    @property
    def identifies(self) -> bool:
        """Whether a number here tells one thing from another, as in `claim_number`, and counts nothing."""
        return not _IDENTIFYING.isdisjoint(self.words.lower().split(" "))


def humanise(name: str) -> str:
    """A field's name as words: `loan_to_value` becomes `loan to value`. A name that people wrote stays as it is."""
    return _humanise(name) if len(name) <= _CACHED else _humanise.__wrapped__(bounded(name))


@lru_cache(maxsize=8192)
def _humanise(name: str) -> str:
    words = one_line(name).rstrip(_PUNCTUATION)
    if _PLAIN.fullmatch(words):
        parts = [part for part in _PARTS.split(words) if part]
        shouted = words.upper() == words
        words = " ".join(part if part.isupper() and len(part) > 1 and not shouted else part.lower() for part in parts)
    return isolate(words if len(words) <= LONGEST else words[:LONGEST].rstrip() + "…")


def is_machine_name(name: str) -> bool:
    """Whether a name is one that programs write, such as `dti_ratio`, and not what people wrote."""
    return _PLAIN.fullmatch(name) is not None


def words_of(name: str) -> list[str]:
    """The words of a name, small: what tables of names are asked by."""
    return humanise(name[: LONGEST + 1]).casefold().split(" ")


def spell_out(text: str) -> str:
    """A text on one line; one that is no more than the name of something, such as `sent_to_clinician`, as words."""
    return humanise(text) if _CONSTANT.fullmatch(text) else one_line(text)


def _in_minor_units(major: FieldName, unit: str) -> FieldName:
    """What a name says that ends with `cents`, from what is before that."""
    if major.currency:
        return major._replace(is_minor=True)
    suffix = "" if unit == "minor" else unit
    return FieldName(f"{major.words} {unit}", major.words, suffix=suffix, is_minor=True)


def parse_name(name: str) -> FieldName:
    """What a field's name says."""
    return (
        _parse(name) if len(name) <= LONGEST else _parse.__wrapped__(name)
    )  # no more is kept than a cache should hold


def _is_of_unit(word: str) -> bool:
    """Whether a word says of which kind the unit after it is: of `claim_free_years` the years are the thing."""
    return _ADJECTIVE.search(word) is not None


def _ends_in_number_of(stem: list[str]) -> bool:
    """Whether what comes next is counted by the name itself, as in `last_12_months`."""
    return stem[-1][-1:].isdecimal() or stem[-1] in _NO_UNIT_AFTER


@lru_cache(maxsize=4096)
def _parse(name: str) -> FieldName:
    words = humanise(name)
    *stem, last = words.split(" ")
    if stem and stem[-1] == "in":  # age in years
        stem.pop()
    words_before = " ".join(stem)
    if words in _MINOR_AMOUNTS:
        return FieldName(words, "amount", is_minor=True)
    if stem and last.lower() in _CURRENCIES and (stem[-1] in _BEFORE_MONEY or not _ends_in_number_of(stem)):
        return FieldName(f"{words_before} {last.upper()}", words_before, currency=last.upper())
    if not stem or (_ends_in_number_of(stem) and stem != ["within"]):
        return FieldName(words, words)
    if last in MINOR:
        return _in_minor_units(_parse(words_before), last)
    if last.lower() in _UNITS and not _is_of_unit(stem[-1]):
        return FieldName(words, words_before, unit=_UNITS[last.lower()])
    if last in ("at", "on"):
        return FieldName(words, words_before)
    if last in _AMBIGUOUS_UNITS:
        return FieldName(f"{words_before} ({last})", f"{words_before} ({last})")
    return FieldName(words, words)
