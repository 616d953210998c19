"""Factors whose names say another unit than the fields they cite, and amounts in two currencies: nobody can tell which
of the two is wrong."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from notices.drafting import Redaction
from notices.drafting.measures import Measures, parses_as_amount
from notices.drafting.reasons import cited_field, parts_of
from notices.localization import Measure
from notices.localization.names import measured_in, parse_name
from notices.outcome_parts import container, is_number
from notices.record_paths import Fact, Facts

_CURRENCY = {"ccy", "currency", "currency_code", "currencycode", "devise", "monnaie", "waehrung", "währung"}
_LONGEST_AMOUNT = 30
_AMOUNT = re.compile(r"([A-Za-z]{3})?\s*-?\d[\d.,' \u00a0\u202f\u2019]*([A-Za-z]{3})?")


class Conflict(NamedTuple):
    """`factor` is where it stands, `source` the field it cites or its own value."""

    factor: str
    named: str
    source: str
    measured: str


def find(facts: Facts, redaction: Redaction) -> Iterator[Conflict]:
    """The conflicts of a record, but for what is withheld: those of factors, then those of amounts, in its order."""
    outcome, measures = cited_field(facts, "outcome"), Measures()
    yield from _of_factors(outcome, facts, redaction, measures)
    yield from _of_amounts(facts.at(""), redaction, measures)


def _of_factors(outcome: Fact | None, facts: Facts, redaction: Redaction, measures: Measures) -> Iterator[Conflict]:
    for item in _items(outcome) if outcome else ():
        parts = parts_of(item)
        for name in parts.get("name", []):
            if not isinstance(name.value, str) or redaction.covers(name) or redaction.covers_name(name.value):
                continue
            parsed = parse_name(name.value)
            named = Measure(parsed.currency, parsed.unit)
            cited = [fact for part in parts["path"] if (fact := cited_field(facts, part.value)) and fact.is_scalar]
            for fact in (*cited, *parts["value"]):
                measured = _measure(fact, measures)
                if any(named) and any(measured) and named != measured and not redaction.covers(fact):
                    yield Conflict(item.path, _spelled(named), fact.path, _spelled(measured))


def _of_amounts(part: Fact, redaction: Redaction, measures: Measures) -> Iterator[Conflict]:
    """Amounts of one currency beside another that is of no other amount: `{"amount_eur": 5, "currency": "USD"}`."""
    children = list(part.children())
    beside = [child for child in children if child.is_scalar and child.name.casefold() in _CURRENCY]
    if isinstance(part.value, dict) and len(beside) == 1 and not measures.is_used(beside[0]):
        currency = measured_in(str(beside[0].value))[0]
        amounts = [(child, own) for child in children if child.is_scalar and (own := _own_currency(child))]
        if currency and amounts and all(own != currency for _, own in amounts):
            for child, own in amounts:
                if measures.beside(child).currency == currency and not redaction.covers(child):
                    yield Conflict(child.path, own, beside[0].path, currency)
    for child in children:
        if not child.is_scalar:
            yield from _of_amounts(child, redaction, measures)


def _own_currency(fact: Fact) -> str:
    """The currency that the name of an amount has, or its text: `5000 EUR`."""
    text = fact.value.strip() if isinstance(fact.value, str) and len(fact.value) <= _LONGEST_AMOUNT else ""
    if (found := _AMOUNT.fullmatch(text)) and (code := found[1] or found[2]):
        return measured_in(code)[0]
    is_amount = is_number(fact.value) or parses_as_amount(fact.value)
    return parse_name(fact.name).currency if is_amount else ""


def _items(part: Fact, *, in_reason: bool = False) -> Iterator[Fact]:
    """The objects that give reasons, wherever in the outcome."""
    in_reason = in_reason or (not part.in_list and container(part.name) == "reason")
    if in_reason and isinstance(part.value, dict):
        yield part
    for child in () if part.is_scalar else part.children():
        if not child.is_scalar:
            yield from _items(child, in_reason=in_reason)


def _measure(fact: Fact, measures: Measures) -> Measure:
    beside, parsed = measures.beside(fact), parse_name(fact.field.name)
    return beside if any(beside) else Measure(parsed.currency, parsed.unit)


def _spelled(measure: Measure) -> str:
    return measure.currency or measure.suffix or measure.unit.rpartition("-")[2]
