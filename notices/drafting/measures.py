"""What numbers of a record are measured in, where a field beside them says it: `{"amount": 5, "currency": "EUR"}`."""

from typing import NamedTuple

from notices.localization import NO_MEASURE, Measure, values
from notices.localization.names import MINOR, measured_in, parse_name, words_of
from notices.outcome_parts import is_number
from notices.record_paths import Fact

_CURRENCY = {"currency", "ccy", "währung", "waehrung", "devise", "monnaie"}
_UNIT = {"unit", "units", "uom", "einheit", "unité"}
# What a currency beside it makes an amount of money.
_MONEY = {"amount", "amounts", "assets", "balance", "benefit", "betrag", "budget", "charge", "charges", "cost", "costs"}
_MONEY |= {
    "debt",
    "debts",
    "deductible",
    "deposit",
    "equity",
    "expense",
    "expenses",
    "fee",
    "fees",
    "income",
    "installment",
}
_MONEY |= {
    "instalment",
    "limit",
    "loan",
    "loss",
    "montant",
    "offer",
    "offered",
    "paid",
    "payment",
    "payments",
    "payout",
}
_MONEY |= {"premium", "price", "principal", "rent", "requested", "revenu", "revenue", "salary", "savings", "settlement"}
_MONEY |= {"sum", "summe", "total", "value", "wage", "wages", "worth", "einkommen", "preis", "prix"}
_NO_MONEY = {"count", "days", "months", "number", "percent", "percentage", "rate", "ratio", "term", "years"}
# What a unit beside it measures.
_MEASURED = {"amount", "dose", "length", "level", "measurement", "quantity", "reading", "result", "value", "weight"}
_SCALES = {"scale", "exponent", "decimals"}
_LONGEST_UNIT = 16
_LONGEST_PREFIX = 8


class _Sibling(NamedTuple):
    step: str
    measure: Measure
    prefix: tuple[str, ...]
    """What is before `currency` in its name: that of `loan_currency` is of the loan."""
    others: tuple[str, ...] = ()
    """Fields beside it that say no more than that the amounts are in the currency's smallest unit."""


_Siblings = dict[tuple[str, ...], tuple[_Sibling, ...]]


class Measures:
    """Finds the currency or unit of a field. Each object is read once."""

    def __init__(self) -> None:
        self._siblings: dict[int, _Siblings] = {}
        self._used: dict[int, set[str]] = {}

    def of(self, fact: Fact) -> Measure:
        """What the fields beside a field, or beside the object that it is in, say that its number is."""
        parsed = parse_name(fact.field.name)
        return NO_MEASURE if parsed.currency or parsed.unit else self.beside(fact)

    def beside(self, fact: Fact) -> Measure:
        """The same, whatever the field's own name says."""
        found = None if isinstance(fact.value, bool | None) else self._nearest(fact.field)
        return found.measure if found else NO_MEASURE

    def is_used(self, fact: Fact) -> bool:
        """Whether a field is the currency or unit of others, which are told with it."""
        holder = fact.parent
        if holder is None or not isinstance(holder.value, dict) or not self._of(holder):
            return False
        if id(holder.value) not in self._used:
            own = {sibling for each in self._of(holder).values() for sibling in each}
            nearest = (
                self._nearest(child)
                for within in (holder, *_objects_in(holder))
                for child in within.children()
                if _may_be_measured(child)
            )
            used = [found for found in nearest if found in own and found]
            self._used[id(holder.value)] = {step for found in used for step in (found.step, *found.others)}
        return fact.step in self._used[id(holder.value)]

    def _nearest(self, field: Fact) -> _Sibling | None:
        return self._sibling(field, field.parent) or self._sibling(field, _around(field.parent))

    def _sibling(self, field: Fact, holder: Fact | None) -> _Sibling | None:
        """The field in an object that says what another one is measured in."""
        if holder is None or not isinstance(holder.value, dict):
            return None
        words = words_of(field.name)
        is_money = (not _MONEY.isdisjoint(words) and _NO_MONEY.isdisjoint(words)) or parse_name(field.name).is_minor
        siblings = self._of(holder)
        for length in range(min(len(words), _LONGEST_PREFIX), -1, -1) if siblings else ():
            for sibling in siblings.get(tuple(words[:length]), ()):
                if is_money if sibling.measure.currency else words[-1] in _MEASURED or bool(sibling.prefix):
                    return sibling
        return None

    def _of(self, holder: Fact) -> _Siblings:
        """The currencies and units in an object, by their prefix: no more than one of each."""
        if id(holder.value) not in self._siblings:
            known: dict[tuple[str, ...], dict[bool, _Sibling]] = {}
            for sibling in filter(None, map(_as_sibling, holder.children())):
                known.setdefault(sibling.prefix, {}).setdefault(bool(sibling.measure.currency), sibling)
            scales = _scales(holder) if known else []
            self._siblings[id(holder.value)] = {prefix: _joined(each, scales) for prefix, each in known.items()}
        return self._siblings[id(holder.value)]


def _joined(known: dict[bool, _Sibling], scales: list[Fact]) -> tuple[_Sibling, ...]:
    """The currency and unit of one prefix: cents of euros are one measure, and so is the scale that a euro has."""
    money, unit = known.get(True), known.get(False)
    if money is None:
        return tuple(known.values())
    is_minor = unit is not None and unit.measure.suffix.casefold() in (*MINOR, "cent", "minor units")
    others = [unit.step] if unit and is_minor else []
    decimals = values.decimals_of(money.measure.currency)
    others += [scale.step for scale in scales if scale.value == decimals]
    joined = money._replace(measure=money.measure._replace(is_minor=is_minor), others=tuple(others))
    return (joined,) if is_minor or unit is None else (joined, unit)


def _scales(holder: Fact) -> list[Fact]:
    """The fields of an object with an amount in smallest units that say how many of them a currency has."""
    fields = list(holder.children())
    is_minor = any(parse_name(field.name).is_minor for field in fields)
    return [field for field in fields if is_minor and field.name in _SCALES]


def is_money(fact: Fact, measures: Measures) -> bool:
    """Whether a field is an amount whose currency the record names."""
    if isinstance(fact.value, str) and values.is_money(fact.value):
        return True
    if not is_number(fact.value) and not parses_as_amount(fact.value):
        return False
    return bool(parse_name(fact.field.name).currency or measures.of(fact).currency)


def parses_as_amount(value: object) -> bool:
    """Whether a text is no more than a number, as some systems write amounts."""
    if not isinstance(value, str):
        return False
    return values.is_unclear_amount(value.strip()) or values.parse_amount(value.strip()) is not None


def _may_be_measured(field: Fact) -> bool:
    """Whether a field, or a list of them, has a number whose unit its name does not say."""
    parsed = parse_name(field.name)
    values = field.value if isinstance(field.value, list) else [field.value]
    return not (parsed.currency or parsed.unit) and any(is_number(each) or parses_as_amount(each) for each in values)


def _as_sibling(field: Fact) -> _Sibling | None:
    if not isinstance(field.value, str) or not 0 < len(field.value.strip()) <= _LONGEST_UNIT:
        return None
    words = [word for word in words_of(field.name) if word not in ("code", "iso")]
    if not 0 < len(words) <= _LONGEST_PREFIX + 1 or words[-1] not in _CURRENCY | _UNIT:
        return None
    currency, unit = measured_in(field.value)
    measure = Measure(currency, unit, "" if currency or unit else field.value.strip())
    if words[-1] in _CURRENCY and not currency:
        return None
    return _Sibling(field.step, measure, tuple(words[:-1]))


def _around(holder: Fact | None) -> Fact | None:
    """The object around another one, without the list between them."""
    around = holder.parent if holder else None
    return around.parent if around is not None and isinstance(around.value, list) else around


def _objects_in(holder: Fact) -> list[Fact]:
    """The objects directly in another one, or in its lists."""
    items = [item for child in holder.children() if isinstance(child.value, list) for item in child.children()]
    return [each for each in (*holder.children(), *items) if isinstance(each.value, dict)]
