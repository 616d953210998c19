"""Statistics of the fields of sample records, by general path."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from decisions.record.patterns import MAX_PATTERN
from decisions.record.walk import Table

MAX_FIELDS = 1000
"""Twice the entries of a mapping. A record may have a hundred thousand keys."""
_MAX_DISTINCT = 50
_MAX_EXAMPLES = 3
_MAX_MAGNITUDE = 15  # digits of a number that may count cents
_MAX_SHOWN = 40  # characters of a masked example
_DAY = re.compile(r"\d{4}-\d\d-\d\d(?:[Tt ].{0,40})?")
_SLASHED_DAY = re.compile(r"\d{1,2}[/.]\d{1,2}[/.]\d{2,4}")
_CODE = re.compile(r"[A-Z0-9][A-Z0-9_.\-]{0,15}")


@dataclass(slots=True)
class FieldStatistics:
    """Statistics of a general path in sample records.

    Attributes:
        records: the number of records that have the field.
        kinds: how often it is a `text`, `number`, `flag` or `null`.
        values: how often each text or flag occurs; empty if there are more than 50.
        lowest, highest, whole, hundreds: the range of the numbers, and how many are whole or multiples of 100.
        days, slashes, codes: how many texts are ISO days, days such as 04/03/2026, or codes.
        examples: texts with letters as x and digits as 9.
        label, words: its name and the words of its codes by language, if a data dictionary has them.
    """

    path: str
    records: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    values: Counter[str] = field(default_factory=Counter)
    has_many_values: bool = False
    lowest: Decimal | None = None
    highest: Decimal | None = None
    whole: int = 0
    hundreds: int = 0
    days: int = 0
    codes: int = 0
    slashes: int = 0
    examples: list[str] = field(default_factory=list)
    label: dict[str, str] = field(default_factory=dict)
    words: dict[str, dict[str, str]] = field(default_factory=dict)

    def add(self, value: Any) -> None:
        """Count a value of the field."""
        match value:
            case None:
                self.kinds["null"] += 1
            case bool():
                self.kinds["flag"] += 1
                self._count(str(value).lower())
            case str():
                self.kinds["text"] += 1
                self._count(value)
                self.days += bool(_DAY.fullmatch(value))
                self.codes += bool(_CODE.fullmatch(value))
                self.slashes += bool(_SLASHED_DAY.fullmatch(value))
            case _:
                self.kinds["number"] += 1
                self._measure(Decimal(value))
        if len(self.examples) < _MAX_EXAMPLES and value is not None:
            self.examples.append(masked(str(value)))

    @property
    def has_slashes_or_dots(self) -> bool:
        """Whether its texts are days such as 04/03/2026."""
        return self.are_mostly(self.slashes)

    @property
    def kind(self) -> str:
        """The most frequent kind that is not null, or "null"."""
        kinds = Counter({kind: count for kind, count in self.kinds.items() if kind != "null"})
        return kinds.most_common(1)[0][0] if kinds else "null"

    def are_mostly(self, count: int) -> bool:
        """Whether a count covers nine of ten values of the field's kind."""
        return 10 * count >= 9 * max(self.kinds[self.kind], 1)

    def _count(self, text: str) -> None:
        if not self.has_many_values:
            self.values[text[:256]] += 1
            if len(self.values) > _MAX_DISTINCT:
                self.has_many_values, self.values = True, Counter()

    def _measure(self, number: Decimal) -> None:
        self.lowest = number if self.lowest is None else min(self.lowest, number)
        self.highest = number if self.highest is None else max(self.highest, number)
        if abs(number.adjusted()) <= _MAX_MAGNITUDE and number == number.to_integral_value():
            self.whole += 1
            self.hundreds += int(number) % 100 == 0


def statistics(records: Iterable[dict[str, Any]]) -> dict[str, FieldStatistics]:
    """Return the statistics of the first MAX_FIELDS fields of records, by general path, in their order."""
    fields: dict[str, FieldStatistics] = {}
    table = Table([])
    for record in records:
        seen: set[str] = set()
        for scalar in table.walk(record):
            known = fields.get(scalar.general)
            if known is None and len(fields) < MAX_FIELDS and len(scalar.general) <= MAX_PATTERN:
                known = fields[scalar.general] = FieldStatistics(scalar.general)
            if known:
                known.add(scalar.value)
                seen.add(scalar.general)
        for path in seen:
            fields[path].records += 1
    return fields


def masked(text: str) -> str:
    """Return a text whose letters are x and whose digits are 9, shortened."""
    shape = "".join("9" if letter.isdigit() else "x" if letter.isalpha() else letter for letter in text[:_MAX_SHOWN])
    return shape if len(text) <= _MAX_SHOWN else f"{shape}…"
