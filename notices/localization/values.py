"""Numbers and dates as people of a language write them, to the last digit that the record has."""

from datetime import date, datetime
from decimal import Context, Decimal, localcontext

from babel import Locale
from babel.dates import format_date
from babel.numbers import format_currency, format_decimal, get_decimal_symbol
from babel.units import format_unit
from django.utils.dateparse import parse_date, parse_datetime

Number = int | Decimal

_MOST_DIGITS = 40
_BEYOND: int = 10**_MOST_DIGITS
_EXACT = Context(prec=2 * _MOST_DIGITS)
_CALENDAR_YEARS = 1000
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
    pattern = locale.currency_formats["standard"].pattern
    if number == int(number):
        pattern = pattern.replace(".00", "")
    with localcontext(_EXACT):
        return str(
            format_currency(number, currency, pattern, locale, currency_digits=False, decimal_quantization=False)
        )


def format_quantity(number: Number, unit: str, locale: Locale) -> str | None:
    """A number with its unit; None if the number cannot be one of them, as 2024 is no count of years.

    Args:
        unit: as babel names it, such as `duration-year`.
    """
    if not _is_readable(number) or (unit == "duration-year" and not -_CALENDAR_YEARS < number < _CALENDAR_YEARS):
        return None
    decimals = -min(0, _exponent(Decimal(number)))
    pattern = f"#,##0.{'#' * decimals}" if decimals else "#,##0"
    length = "long" if unit.startswith("duration") else "short"
    with localcontext(_EXACT):
        return format_unit(number, unit, length, format=pattern, locale=locale)  # type: ignore[arg-type]


def parse_day(text: str) -> date | None:
    """The day that a text is, if it is a date or a date and time in the way of RFC 3339."""
    try:
        if len(text) == len("2026-11-01"):
            return parse_date(text)
        moment: datetime | None = parse_datetime(text) if text[10:11] == "T" else None
    except ValueError:
        return None
    return moment.date() if moment else None


def format_day(day: date, locale: Locale) -> str:
    """A day with the name of its month. French writes the first as an ordinal, which babel does not know."""
    text = str(format_date(day, format="long", locale=locale))
    return f"1er{text[1:]}" if locale.language == "fr" and day.day == 1 else text


def _is_readable(number: Number) -> bool:
    """Whether the number has so few digits, written out, that somebody might read them."""
    if isinstance(number, int):
        return -_BEYOND < number < _BEYOND
    return len(number.as_tuple().digits) + abs(_exponent(number)) <= _MOST_DIGITS


def _exponent(number: Decimal) -> int:
    return int(number.as_tuple().exponent)  # a text only for infinities, which JSON does not have


def _as_spelled(number: Number, locale: Locale) -> str:
    return str(number).replace(".", str(get_decimal_symbol(locale)))
