"""Numbers and dates as people of a language write them. Decimals that nobody reads are rounded: 0.3333333 is 0.333."""

import re
from datetime import date, datetime
from decimal import Context, Decimal, localcontext

from babel import Locale
from babel.dates import format_date
from babel.numbers import format_currency, format_decimal, get_currency_precision, get_decimal_symbol
from babel.units import format_unit
from django.utils.dateparse import parse_date, parse_datetime

Number = int | Decimal

_MOST_DIGITS = 40
_BEYOND: int = 10**_MOST_DIGITS
_EXACT = Context(prec=2 * _MOST_DIGITS)
_CENT = Decimal("0.01")
_CALENDAR_YEARS = 1000
_NO_DAYS = {"0000-00-00", "0000-01-01", "0001-01-01", "9999-12-31", "00.00.0000", "31.12.9999", "12/31/9999"}
_LONGEST_AMOUNT = 30
_PLAIN_AMOUNT = re.compile(r"-?\d{1,15}(?:\.\d{1,10})?", re.ASCII)
_UNCLEAR_AMOUNT = re.compile(r"-?[1-9]\d{0,2}[.,]\d{3}", re.ASCII)
"""Thousands or three decimals: who wrote it knows."""
_SPACE = r"[ \u00a0\u202f'\u2019]"
_GROUPED_AMOUNTS = [  # what is between thousands and before decimals: one of them must be there to tell the other
    # linear: `parse_amount` reads at most _LONGEST_AMOUNT characters
    (re.compile(r"-?\d{1,3}(?:,\d{3})+\.\d{1,2}|-?\d{1,3}(?:,\d{3}){2,}", re.ASCII), ",", "."),
    # linear: the same
    (re.compile(r"-?\d{1,3}(?:\.\d{3})+,\d{1,2}|-?\d{1,3}(?:\.\d{3}){2,}|-?\d{1,15},\d{1,2}", re.ASCII), r"\.", ","),
    (re.compile(rf"-?\d{{1,3}}(?:{_SPACE}\d{{3}})+(?:\.\d{{1,2}})?", re.ASCII), _SPACE, "."),
    # linear: the same
    (re.compile(rf"-?\d{{1,3}}(?:{_SPACE}\d{{3}})+,\d{{1,2}}", re.ASCII), _SPACE, ","),
]
_FIGURES = r"\d(?:[\d.,'\u2019 \u00a0\u202f]*\d)?"
_CODES = frozenset(map(str, Locale("en").currencies))
_MOST_DECIMALS = _SIGNIFICANT = 3
# Below are years and house numbers, above telephone numbers and identifiers.
_GROUPED_FROM, _GROUPED_BELOW = 10**4, 10**9


def format_number(number: Number, locale: Locale, *, identifies: bool) -> str:
    """A number without a unit.

    Args:
        identifies: its digits are a name: they are not grouped, and neither are the digits of numbers that nobody
            counts to.
    """
    if not _is_readable(number):
        return _as_spelled(number, locale)
    if not identifies:
        number = _rounded(number)
    grouped = not identifies and _GROUPED_FROM <= abs(Decimal(number)) < _GROUPED_BELOW
    with localcontext(_EXACT):
        return str(format_decimal(number, locale=locale, group_separator=grouped, decimal_quantization=False))


def format_money(number: Number, currency: str, locale: Locale) -> str:
    """An amount with all its decimals, or with none if it is whole.

    Args:
        currency: its ISO 4217 code.
    """
    if not _is_readable(number):
        return f"{_as_spelled(number, locale)} {currency}"
    if -_exponent(Decimal(number)) > _MOST_DECIMALS:
        # The price of a unit of something is not 0.07.
        number = _rounded(number) if abs(Decimal(number)) < 1 else Decimal(number).quantize(_CENT, context=_EXACT)
    pattern = locale.currency_formats["standard"].pattern
    if number == int(number):
        pattern = pattern.replace(".00", "")
    with localcontext(_EXACT):
        return str(
            format_currency(number, currency, pattern, locale, currency_digits=False, decimal_quantization=False)
        )


def of_minor_units(number: Number, currency: str) -> Number:
    """An amount that is given in a currency's smallest unit, as cents are: a dollar has 100 of them, a yen has none."""
    return Decimal(number).scaleb(-get_currency_precision(currency), _EXACT) if _is_readable(number) else number


def format_quantity(number: Number, unit: str, locale: Locale) -> str | None:
    """A number with its unit; None if the number cannot be one of them, as 2024 is no count of years.

    Args:
        unit: as babel names it, such as `duration-year`.
    """
    if not _is_readable(number) or (unit == "duration-year" and not -_CALENDAR_YEARS < number < _CALENDAR_YEARS):
        return None
    number = _rounded(number)
    decimals = -min(0, _exponent(Decimal(number)))
    pattern = f"#,##0.{'#' * decimals}" if decimals else "#,##0"
    length = "long" if unit.startswith("duration") else "short"
    with localcontext(_EXACT):
        return format_unit(number, unit, length, format=pattern, locale=locale)  # type: ignore[arg-type]


def parse_amount(text: str) -> Decimal | None:
    """The number that a text is no more than, with or without marks between thousands; None where that is not
    plain."""
    if not 0 < len(text) <= _LONGEST_AMOUNT or is_unclear_amount(text):
        return None
    if _PLAIN_AMOUNT.fullmatch(text):
        return Decimal(text)
    for grouped, thousands, decimal in _GROUPED_AMOUNTS:
        if grouped.fullmatch(text):
            # linear: `thousands` is one character
            return Decimal(re.sub(thousands, "", text).replace(decimal, "."))
    return None


def is_unclear_amount(text: str) -> bool:
    """Whether a text is an amount of which nobody can tell how much it is: whether `2,450` and `2.450` have decimals
    depends on who wrote them."""
    return _UNCLEAR_AMOUNT.fullmatch(text) is not None


def parse_day(text: str) -> date | None:
    """The day that a text is, if it is a date or a date and time in the way of RFC 3339."""
    try:
        if len(text) == len("2026-11-01"):
            return parse_date(text)
        moment: datetime | None = parse_datetime(text) if text[10:11] == "T" else None
    except ValueError:
        return None
    return moment.date() if moment else None


def stands_for_no_day(text: str) -> bool:
    """Whether a text only fills a field for a day: `0000-00-00`, or the end of all calendars."""
    return text[:10] in _NO_DAYS


def format_day(day: date, locale: Locale) -> str:
    """A day with the name of its month. French writes the first as an ordinal, which babel does not know."""
    text = str(format_date(day, format="long", locale=locale))
    return f"1er{text[1:]}" if locale.language == "fr" and day.day == 1 else text


def _is_readable(number: Number) -> bool:
    """Whether the number has so few digits, written out, that somebody might read them."""
    if isinstance(number, int):
        return -_BEYOND < number < _BEYOND
    return len(number.as_tuple().digits) + abs(_exponent(number)) <= _MOST_DIGITS


def _rounded(number: Number) -> Number:
    """A number of many decimals with three digits that say something; none before the decimal sign is lost."""
    if isinstance(number, int) or -_exponent(number) <= _MOST_DECIMALS:
        return number
    with localcontext(_EXACT):
        return round(number, max(0, _SIGNIFICANT - 1 - number.adjusted()))


def _exponent(number: Decimal) -> int:
    return int(number.as_tuple().exponent)  # a text only for infinities, which JSON does not have


def _as_spelled(number: Number, locale: Locale) -> str:
    return str(number).replace(".", str(get_decimal_symbol(locale)))
