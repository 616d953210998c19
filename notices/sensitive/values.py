"""Values that are sensitive whatever their field is called, found by how they are made up."""

import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

from notices.sensitive.plain import plain
from notices.sensitive.secret_texts import tells_secret

_NUMBERS: Final = range(10**12, 10**19)
"""Those that may be the number of a card."""
_CARD = re.compile(r"(?<!\d)(?<!\d[.,-])[2-6]\d{3}(?:[ ./-]?\d){9,15}(?!\d)")
_IBAN = re.compile(r"(?<![A-Za-z0-9])([A-Za-z]{2})\d{2}(?:[ -]?[A-Za-z0-9]){11,30}")
_SSN = re.compile(
    r"(?<![\w-])(?!000|666|9\d\d)\d{3}([ .-])(?!00)\d{2}\1(?!0000)\d{4}(?![\w-])"
    r"|(?<![^\W_])ssn[\W_]{0,3}(?!000|666|9\d\d)\d{9}(?!\d)",
    re.IGNORECASE,
)
_NINO = re.compile(
    r"(?<![A-Z0-9])(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z](?:[ -]?\d\d){3}[ -]?[A-D](?![A-Z0-9])",
    re.IGNORECASE,
)
# The Medicare Beneficiary Identifier, as CMS defines it: eleven characters without S, L, O, I, B and Z.
_MBI = re.compile(
    r"(?<![A-Z0-9])[1-9](?:(?![SLOIBZ])[A-Z])(?:(?![SLOIBZ])[A-Z0-9])\d-?(?:(?![SLOIBZ])[A-Z])"
    r"(?:(?![SLOIBZ])[A-Z0-9])\d-?(?:(?![SLOIBZ])[A-Z]){2}\d\d(?![A-Z0-9])"
)
# First digits and lengths of the cards that people have (ISO/IEC 7812): fewer other numbers pass Luhn by chance.
_ISSUED = re.compile(
    r"4\d{12}(?:\d{3}){0,2}|(?:5[1-5]|2(?:22[1-9]|2[3-9]|[3-6]|7[01]|720))\d*|3[47]\d{13}|35\d{14}"
    r"|3(?:0[0-5]|[68]\d)\d{11}|6(?:011|4[4-9]|5)\d*|62\d{14,17}"
)
_IBAN_LENGTHS = {
    country: length
    for length, countries in {
        15: "NO",
        16: "BE",
        18: "DK FI FO GL NL SD",
        19: "MK SI",
        20: "AT BA EE KZ LT LU XK",
        21: "CH HR LI LV",
        22: "BG BH CR DE GB GE IE ME RS VA",
        23: "AE GI IL IQ TL",
        24: "AD CZ ES MD PK RO SA SE SK TN VG",
        25: "LY PT ST",
        26: "IS TR",
        27: "FR GR IT MC MR SM",
        28: "AL AZ BY CY DO GT HU LB PL SV",
        29: "BR EG PS QA UA",
        30: "JO KW MU",
        31: "MT SC",
        32: "LC",
    }.items()
    for country in countries.split()
}
_SHORTEST = 7
_LENGTHS = {"4": {13, 16, 19}, "5": {16}, "2": {16}, "3": {14, 15, 16}, "6": {16, 17, 18, 19}}


def kinds(value: Any) -> Iterator[str]:
    """The kinds of sensitive values, by their names in `fields.toml`, that a value of a record holds."""
    if isinstance(value, int | Decimal):
        value = str(int(value)) if _NUMBERS.start <= value < _NUMBERS.stop else ""
    if isinstance(value, str) and len(value) >= _SHORTEST:
        text = plain(value)
        yield from (kind for kind, holds in _HOLD.items() if holds(text))


def _holds_card(text: str) -> bool:
    return any(is_card_number(re.sub("[ ./-]", "", found[0])) for found in _CARD.finditer(text))


def is_card_number(digits: str) -> bool:
    """Whether digits are those of a payment card: an issuer's first ones, a card's length, and the check digit."""
    if len(digits) not in _LENGTHS.get(digits[:1], ()) or not _ISSUED.fullmatch(digits):
        return False
    doubled = [int(digit) * (2 if position % 2 else 1) for position, digit in enumerate(reversed(digits))]
    return sum(number - 9 if number > 9 else number for number in doubled) % 10 == 0


def _holds_iban(text: str) -> bool:
    return any(
        is_iban(re.sub("[ -]", "", found[0])[: _IBAN_LENGTHS.get(found[1].upper(), 0)])
        for found in _IBAN.finditer(text)
    )


def is_iban(text: str) -> bool:
    """Whether a text has the length of its country and the check digits are right: the number with its first four signs
    behind is 1 modulo 97 (ISO 13616)."""
    if len(text) != _IBAN_LENGTHS.get(text[:2].upper()):
        return False
    return int("".join(str(int(sign, 36)) for sign in text[4:] + text[:4])) % 97 == 1


_HOLD: Mapping[str, Callable[[str], bool]] = {
    "card_number": _holds_card,
    "iban": _holds_iban,
    "us_ssn": lambda text: _SSN.search(text) is not None,
    "uk_nino": lambda text: _NINO.search(text) is not None,
    "us_mbi": lambda text: _MBI.search(text) is not None,
    "secret": tells_secret,
}
