"""Amounts of money of which the record does not say plainly how much they are: `"5.000"`, or 5000 with an exponent."""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from notices.checklist import Case
from notices.drafting.measures import Measures
from notices.localization.names import parse_name, words_of
from notices.localization.values import is_unclear_amount
from notices.outcome_parts import is_number
from notices.record_paths import Fact, NoSuchField
from notices.warnings.findings import Finding, Statement, statements
from notices.wording import vocabulary
from notices.wording.amounts import AmountMention, find_amounts
from notices.wording.plain import plain

_SCALES = {"decimals", "exponent", "in cents", "in minor units", "is minor", "minor unit", "minor units", "multiplier"}
_SCALES |= {"power", "scale"}
"""What the names of fields say that tell how to read an amount beside them."""
_SCALED = {"cent", "cents", "centimes", "pence", "penny", "minor", "k", "thousand", "thousands", "million", "millions"}
_SCALED |= {"mio", "mn", "tausend", "tsd", "milliers"}
"""Units of money that are no currency, in a name or in the unit beside an amount."""
_IN_THOUSANDS = re.compile(r"[km](?:aud|cad|chf|eur|gbp|usd)")
_UNITS = {"unit", "units", "uom"}
_NO_SCALE = (None, False, "", 0, "0")


def findings(case: Case, content: Mapping[str, Any]) -> Iterator[Finding]:
    check = _Check(str(content["language"]))
    for statement in statements(content):
        try:
            fact = case.facts.find(statement.source)
        except NoSuchField:
            continue
        if why := check.unclear(statement, fact):
            yield statement.finding(
                "unclear_amount", f"{fact.path} is {fact.value}, {why}: find out how much it is, and write it so."
            )


class _Check:
    def __init__(self, language: str) -> None:
        self._measures, self._words = Measures(), [vocabulary(language)]
        self._scales: dict[int, str] = {}

    def unclear(self, statement: Statement, fact: Fact) -> str:
        """Why nobody can tell how much an amount is; nothing where a sentence tells another number than the record's,
        for whoever wrote it knew."""
        name = parse_name(fact.field.name)
        unit = self._measures.of(fact).of(name)
        if isinstance(fact.value, str):
            is_unclear = bool(unit.currency) and is_unclear_amount(fact.value.strip())
            return "which may have decimals or thousands" if is_unclear else ""
        if not is_number(fact.value) or unit.is_minor or not self._says(statement.text, Decimal(fact.value)):
            return ""
        words = words_of(fact.field.name)
        if words[-1] in _SCALES:
            return ""
        in_name = [word for word in words if _IN_THOUSANDS.fullmatch(word) or (unit.currency and word in _SCALED)]
        beside = self._scale(fact.field.parent) if unit.currency else ""
        return f"and the record speaks of “{(in_name or [beside])[0]}” too" if in_name or beside else ""

    def _says(self, text: str, number: Decimal) -> bool:
        found = (each for each in find_amounts(plain(text), self._words, ".,", spaces=True))
        return any(said.number == number for each in found if isinstance(each, AmountMention) for said in each.amounts)

    def _scale(self, holder: Fact | None) -> str:
        """What in an object says how to read its amounts. Each object is looked through once."""
        if holder is None or not isinstance(holder.value, dict):
            return ""
        if id(holder.value) not in self._scales:
            self._scales[id(holder.value)] = next(filter(None, map(_as_scale, holder.children())), "")
        return self._scales[id(holder.value)]


def _as_scale(field: Fact) -> str:
    words = words_of(field.name)
    if not field.is_scalar or field.value in _NO_SCALE:
        return ""
    if words[-1] in _SCALES or " ".join(words[-2:]) in _SCALES or " ".join(words[-3:]) in _SCALES:
        return field.name
    is_scaled = words[-1] in _UNITS and str(field.value).strip().casefold() in _SCALED
    return f"{field.name}: {field.value}" if is_scaled else ""
