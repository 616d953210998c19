"""Values of fields, decoded as a mapping declares them: 1349 basis points are a rate of 13.49 %."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from babel.numbers import get_currency_precision

from config.http.strict_json import LITERALS
from custody.sealing import field_paths
from decisions.record.meanings import AMOUNTS, DATES, RATES, TERMS, Entry, Value

_MAX_TEXT = 4000  # characters
_MAX_DIGITS = 30
_DAY_FORMS = {"month_first": "%m/%d/%Y", "day_first": "%d.%m.%Y", "compact": "%Y%m%d"}
_PERCENT_OF = {"fraction": Decimal(100), "percent": Decimal(1), "basis_points": Decimal("0.01")}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Unreadable(ValueError):
    """The field's value cannot be read as its entry says. The message names no value."""


class Around(NamedTuple):
    """The surroundings of a field: the object or list that has it, and the record."""

    parent: Any
    record: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount of money, in units of `currency` (ISO 4217)."""

    units: Decimal
    currency: str


@dataclass(frozen=True, slots=True)
class Rate:
    """A rate in percent."""

    percent: Decimal


@dataclass(frozen=True, slots=True)
class Number:
    """A number with the words for its unit, or ""."""

    number: Decimal
    unit: str


@dataclass(frozen=True, slots=True)
class Day:
    """A day, and the moment on it if the record has one."""

    day: date
    moment: datetime | None


@dataclass(frozen=True, slots=True)
class Term:
    """A length of time in days, weeks, months or years."""

    count: Decimal
    unit: str


@dataclass(frozen=True, slots=True)
class Flag:
    """A yes or no."""

    is_set: bool


Quantity = Amount | Rate | Number | Day | Term | Flag
Read = tuple[Quantity, str]
"""A value, and how it was decoded, in words, or "" if it was read as written."""


def coded(value: Any, entry: Entry) -> Value | None:
    """Return the meaning of a code. Codes are compared as text and case counts."""
    return entry.values.get(_literal(value))


def plain(value: Any) -> str:
    """Return a scalar as text. Raises Unreadable."""
    text = _literal(value).strip()
    if len(text) > _MAX_TEXT:
        raise Unreadable("a text that is too long for a letter")
    return text


def measured(value: Any, unit: str | None) -> Quantity:
    """Return what a factor measured: a number, or a yes or no. Raises Unreadable."""
    return Flag(value) if isinstance(value, bool) else Number(_number(value), unit or "")


def beside(parent: Any, parent_path: str, place: str) -> tuple[str, Any]:
    """Return the path and value of a field beside another, or None as its value.

    Args:
        place: its path below their object, with a dot at the beginning.
    """
    path = f"{parent_path}{place}" if parent_path else place[1:]
    return path, _at(parent, place[1:])


def _amount(value: Any, entry: Entry, around: Around) -> Read:
    currency = _currency(entry.currency or "", around)
    number = _number(value)
    if entry.scale != "minor":
        return Amount(number, currency), ""
    units = number.scaleb(-get_currency_precision(currency))
    return Amount(units, currency), f"minor units, told as {units:,f} {currency}"


def _rate(value: Any, entry: Entry, _: Around) -> Read:
    scale = entry.scale or ""
    percent = _short(_number(value) * _PERCENT_OF[scale])
    decode = "" if scale == "percent" else f"{scale.replace('_', ' ')}, told as {percent:f} %"
    return Rate(percent), decode


def _plain_number(value: Any, entry: Entry, _: Around) -> Read:
    return Number(_number(value), entry.unit or ""), ""


def _term(value: Any, entry: Entry, _: Around) -> Read:
    return Term(_number(value), entry.unit or ""), ""


def _flag(value: Any, entry: Entry, _: Around) -> Read:
    if not isinstance(value, bool):
        raise Unreadable("neither true nor false")
    return Flag(value), ""


def _day(value: Any, entry: Entry, _: Around) -> Read:
    if entry.epoch:
        seconds = _number(value) / (1000 if entry.epoch == "milliseconds" else 1)
        try:
            moment = _EPOCH + timedelta(seconds=float(seconds))
        except OverflowError:
            raise Unreadable("no time between the years 1 and 9999") from None
        return Day(moment.date(), moment), f"{entry.epoch} since 1970, told as {moment.date().isoformat()}"
    if not isinstance(value, str):
        raise Unreadable("a date that is no text: say which `epoch` it counts from")
    return _written_day(value.strip(), entry.notation)


def _written_day(text: str, notation: str) -> Read:
    try:
        if notation == "iso":
            if len(text) == len("2026-11-20"):
                return Day(date.fromisoformat(text), None), ""
            moment = datetime.fromisoformat(text)
            return Day(moment.date(), moment if moment.tzinfo else None), ""
        day = datetime.strptime(text, _DAY_FORMS[notation]).replace(tzinfo=UTC).date()
    except ValueError:
        raise Unreadable(f"a date that is not written as {notation.replace('_', ' ')}") from None
    return Day(day, None), f"{notation.replace('_', ' ')}, told as {day.isoformat()}"


def _currency(place: str, around: Around) -> str:
    """Return a currency by its code, or by the path of the field that has it. Raises Unreadable."""
    if not (place.isupper() and len(place) == 3):
        named = beside(around.parent, "", place)[1] if place.startswith(".") else _at(around.record, place)
        place = named.strip() if isinstance(named, str) else ""
    if not (len(place) == 3 and place.isascii() and place.isalpha() and place.isupper()):
        raise Unreadable("an amount without a currency")
    return place


def _number(value: Any) -> Decimal:
    """Return a number, also of a text that spells one. Raises Unreadable."""
    if isinstance(value, bool) or not isinstance(value, int | str | Decimal):
        raise Unreadable("no number")
    try:
        if isinstance(value, str) and not (value.strip().isascii() and len(value) <= _MAX_DIGITS):
            raise InvalidOperation
        number = Decimal(value.strip() if isinstance(value, str) else value)
    except InvalidOperation:
        raise Unreadable("no number") from None
    if not number.is_finite() or abs(number.adjusted()) > _MAX_DIGITS:
        raise Unreadable("a number that is too large or too small for a letter")
    return number


def _at(container: Any, path: str) -> Any:
    try:
        return field_paths.value_at(container, path)
    except field_paths.NoSuchField:
        return None


def _short(number: Decimal) -> Decimal:
    """Return a number without zeros at the end of its decimals."""
    short = number.normalize()
    return short.quantize(Decimal(1)) if short == short.to_integral_value() else short


def _literal(value: Any) -> str:
    if isinstance(value, str):
        return value
    return LITERALS[value] if value is None or isinstance(value, bool) else str(value)


READERS: dict[str, Callable[[Any, Entry, Around], Read]] = {
    **dict.fromkeys(AMOUNTS, _amount),
    **dict.fromkeys(RATES, _rate),
    **dict.fromkeys(DATES, _day),
    **dict.fromkeys(TERMS, _term),
    "number": _plain_number,
    "flag": _flag,
    "automation": _flag,
}
"""The reader of each meaning whose value is decoded."""
