"""What a text says that can be compared with what another one says: amounts, days, codes and words."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, localcontext

from notices.wording import Vocabulary
from notices.wording.amounts import (
    Amount,
    AmountMention,
    blank,
    find_amounts,
    is_readable,
    place_of,
    with_currency_codes,
)
from notices.wording.days import Day, DayMention, find_days
from notices.wording.plain import plain

WORD = re.compile(r"[^\W_]+")
IDEOGRAPHIC = re.compile("[〇零一二三四五六七八九十百千万萬億]+")
"""Numbers that are written as words of one sign a figure: compared as they stand."""
_TIME = re.compile(r"(?<![\d:])(\d{1,2}):(\d\d)(?::\d\d)?(?![\d:])")
_GROUPED = re.compile(r"\d \d{3}")
"""Figures that a space may group."""
_FEW = 200
"""More numbers than these in one field are compared by their spelling and value alone, not rounded nor converted."""
_TOLERANCE = Decimal("0.05")
_PRECISION = 160

# What each unit is worth in the first of its kind.
_KINDS: dict[str, tuple[str, Decimal]] = {
    "": ("share", Decimal(1)),
    "percent": ("share", Decimal("0.01")),
    "basis_point": ("share", Decimal("0.0001")),
    "second": ("time", Decimal(1)),
    "minute": ("time", Decimal(60)),
    "hour": ("time", Decimal(3600)),
    "day": ("time", Decimal(86400)),
    "week": ("time", Decimal(604800)),
    "month": ("time", Decimal("2629746")),
    "quarter": ("time", Decimal("7889238")),
    "semester": ("time", Decimal("15778476")),
    "year": ("time", Decimal("31556952")),
    "decade": ("time", Decimal("315569520")),
    "kilometre": ("length", Decimal(1000)),
    "mile": ("length", Decimal("1609.344")),
    "metre": ("length", Decimal(1)),
    "centimetre": ("length", Decimal("0.01")),
    "foot": ("length", Decimal("0.3048")),
    "inch": ("length", Decimal("0.0254")),
    "kilogram": ("mass", Decimal(1000)),
    "gram": ("mass", Decimal(1)),
    "pound_weight": ("mass", Decimal("453.59237")),
}


@dataclass(slots=True)
class Contents:
    """What a field of a record says, in its value and in its name."""

    amounts: set[Amount] = field(default_factory=set)
    numbers: set[Decimal] = field(default_factory=set)
    spelled: set[str] = field(default_factory=set)
    """Numbers, codes and times as they stand."""
    days: set[Day] = field(default_factory=set)
    words: set[str] = field(default_factory=set)

    def add_text(self, text: str, languages: Sequence[Vocabulary]) -> None:
        """Take in a text that may be in any of the languages, with any decimal sign."""
        text = with_currency_codes(plain(text))
        self.spelled.update(IDEOGRAPHIC.findall(text))
        self.words.update(word.casefold() for word in WORD.findall(text))
        mentions = list(find_days(text, tuple(each.language for each in languages)))
        for mention in mentions:
            for day in mention.days:
                self.add_day(day)
        self.spelled.update(f"{int(hour)}:{minute}" for hour, minute in _TIME.findall(text))
        text = _TIME.sub(" ", blank(text, [(mention.start, mention.end) for mention in mentions]))
        for spaces in (False, True) if _GROUPED.search(text) else (False,):
            for found in find_amounts(text, languages, ".,", spaces=spaces):
                self.spelled.add(found.spelled if isinstance(found, AmountMention) else found.text.casefold())
                if isinstance(found, AmountMention):
                    self._add_amounts(found.amounts)

    def add_number(self, number: Decimal, unit: str) -> None:
        unsigned = str(number.copy_abs())
        self.spelled |= {unsigned, unsigned.replace(".", ",")}
        if is_readable(number):
            self._add_amounts([Amount(number, place_of(number), unit)])

    def add_day(self, day: Day) -> None:
        self.days.add(day)
        if day.year:
            self._add_amounts([Amount(Decimal(day.year), Decimal(1))])

    def merge(self, other: "Contents") -> None:
        self._add_amounts(other.amounts)
        self.spelled |= other.spelled
        self.days |= other.days
        self.words |= other.words

    def has_day(self, mention: DayMention) -> bool:
        if not self.days.isdisjoint(mention.days):
            return True
        return len(self.days) <= _FEW and any(said.fits(day) for said in mention.days for day in self.days)

    def has_time(self, hour: str, minute: str) -> bool:
        return f"{int(hour)}:{minute}" in self.spelled

    def has_code(self, text: str) -> bool:
        code = text.casefold()
        return code in self.spelled or code in self.words

    def has_amount(self, mention: AmountMention) -> bool:
        """Whether a number is here: as it stands, rounded, as percent, or in another unit of the same kind."""
        has_unit = any(said.unit for said in mention.amounts)
        is_signed = any(said.number < 0 for said in mention.amounts)
        if mention.spelled in self.spelled and not has_unit and not is_signed:
            return True
        if len(self.amounts) > _FEW:
            return mention.spelled in self.spelled or any(said.number in self.numbers for said in mention.amounts)
        with localcontext(prec=_PRECISION):
            return any(_fits(said, amount) for said in mention.amounts for amount in self.amounts)

    def _add_amounts(self, amounts: Iterable[Amount]) -> None:
        self.amounts.update(amounts)
        self.numbers.update(amount.number for amount in amounts)


def times(text: str) -> Iterable[re.Match[str]]:
    """The times of day that a text names."""
    return _TIME.finditer(text)


def _fits(said: Amount, amount: Amount) -> bool:
    """Whether a sentence may say the one where the record has the other."""
    one, other = said.unit, amount.unit
    alike = not one or not other or one == other or _same_currency(one, other)
    if alike and _rounds_to(amount.number, said.number, said.place):
        return True
    if one in _KINDS and other in _KINDS and _KINDS[one][0] == _KINDS[other][0]:
        exact = amount.number * _KINDS[other][1] / _KINDS[one][1]
        return _rounds_to(exact, said.number, said.place)
    return False


def _same_currency(one: str, other: str) -> bool:
    return "$" in (one, other) and all(each == "$" or each.endswith("D") for each in (one, other))


def _rounds_to(exact: Decimal, said: Decimal, place: Decimal) -> bool:
    """Whether a number is another one as people round: to the last place that they tell, and not to much less."""
    if exact < 0 < said:  # it fell by 12 percent
        exact = -exact
    difference = abs(exact - said)
    return not difference or (difference <= place / 2 and difference <= _TOLERANCE * abs(exact))
