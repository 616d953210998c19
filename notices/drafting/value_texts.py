"""Values of a profile as people of a language write them: `$12,500`, `17.99 %`, `48 months`."""

from decimal import Decimal
from typing import assert_never

from decisions.record.profile import Quantity, Text
from decisions.record.values import Amount, Day, Flag, Number, Rate, Term
from notices.localization import Catalog, values

_UNITS = {"days": "duration-day", "weeks": "duration-week", "months": "duration-month", "years": "duration-year"}


def value_text(value: Quantity | Text, catalog: Catalog, name: str) -> str:
    """Return a value in words.

    Args:
        name: the last key of its field. A number of the published profile may have its unit there: `amount_eur`.
    """
    if isinstance(value, Text):
        return catalog.field_text(name, value.text).value
    match value.value:
        case Amount(units, currency):
            return values.format_money(units, currency, catalog.locale)
        case Rate(percent):
            return _quantity(percent, "concentr-percent", catalog)
        case Term(count, unit):
            return _quantity(count, _UNITS[unit], catalog)
        case Day(day):
            return catalog.format_date(day)
        case Flag(is_set):
            return catalog.messages["yes" if is_set else "no"]
        case Number(number, ""):
            return catalog.field_text(name, number).value
        case Number(number, unit):
            return f"{values.format_number(number, catalog.locale, identifies=False)} {unit}"
        case unreachable:
            assert_never(unreachable)


def _quantity(number: Decimal, unit: str, catalog: Catalog) -> str:
    plain = values.format_number(number, catalog.locale, identifies=False)
    return values.format_quantity(number, unit, catalog.locale) or plain
