"""Days in a text, however they are written."""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from babel import Locale

from notices.localization import values


class Day(NamedTuple):
    """A day, or as much of one as is said; None for what is not."""

    year: int | None
    month: int
    day: int | None

    def fits(self, other: "Day") -> bool:
        """Whether both may be the same day."""
        return all(one == two for one, two in zip(self, other, strict=True) if one is not None and two is not None)


class DayMention(NamedTuple):
    text: str
    start: int
    end: int
    days: tuple[Day, ...]
    """What it may mean: 02/11 is one day in London and another in New York."""


_ISO = re.compile(r"(?<!\d)(\d{4})-(\d\d)-(\d\d)(?!\d)(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?")
_IN_FIGURES = re.compile(r"(?<![\d.,])(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})(?![\d])")
_YEAR = 2000  # of two digits: nobody is told of a decision of 1926


def find_days(text: str, languages: tuple[str, ...]) -> Iterator[DayMention]:
    """The days that a text names, in order of their kinds; none overlap."""
    taken = bytearray(len(text))
    for pattern, read in ((_ISO, _iso), (_IN_FIGURES, _in_figures), *((_named(each), _by_name) for each in languages)):
        for found in pattern.finditer(text):
            days = tuple(day for day in read(found) if 1 <= day.month <= 12 and (day.day is None or 1 <= day.day <= 31))
            here = slice(*found.span())
            if days and not any(taken[here]):
                taken[here] = b"\1" * len(taken[here])
                yield DayMention(found[0], *found.span(), days)


def day_of(text: str) -> Day | None:
    """The day that a record's text is, in the way of RFC 3339."""
    day = values.parse_day(text)
    return Day(day.year, day.month, day.day) if day else None


def _iso(found: re.Match[str]) -> Iterator[Day]:
    yield Day(int(found[1]), int(found[2]), int(found[3]))


def _in_figures(found: re.Match[str]) -> Iterator[Day]:
    one, other, year = int(found[1]), int(found[3]), int(found[4])
    for day, month in ((one, other), (other, one)):
        yield Day(year if year >= 100 else _YEAR + year, month, day)


def _by_name(found: re.Match[str]) -> Iterator[Day]:
    parts = found.groupdict()
    name = (parts["month1"] or parts["month2"] or parts["month3"] or parts["month4"]).rstrip(".")
    if name == "may":  # you may
        return
    month = _months()[name.casefold()]
    day, year = parts["day1"] or parts["day2"], parts["year1"] or parts["year2"] or parts["year3"]
    yield Day(int(year) if year else None, month, int(day) if day else None)


@cache
def _named(language: str) -> re.Pattern[str]:
    """`2 November 2026`, `November 2, 2026`, `November 2026` and `in November`, in a language."""
    names = sorted(map(re.escape, _month_names(language)), key=len, reverse=True)
    month = rf"(?:{'|'.join(names)})\b\.?"
    space = r"[ \u00a0\u202f]+"
    ordinal = r"(?:st|nd|rd|th|er|re|\.)?"
    return re.compile(
        rf"(?<!\w)(?P<day1>\d{{1,2}}){ordinal}{space}(?:of{space}|de{space})?(?P<month1>{month})"
        rf"(?:,?{space}(?P<year1>\d{{4}})(?!\d))?"
        rf"|(?<!\w)(?P<month2>{month}){space}(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?(?![\d\w])"
        rf"(?:,?{space}(?P<year2>\d{{4}})(?!\d))?"
        rf"|(?<!\w)(?P<month3>{month}){space}(?P<year3>\d{{4}})(?!\d)"
        rf"|(?<!\w)(?:in|im|en|since|seit|depuis){space}(?P<month4>{'|'.join(_whole_names(language))})(?!\w|{space}\d)",
        re.IGNORECASE,
    )


def _whole_names(language: str) -> list[str]:
    return sorted(Locale.parse(language).months["format"]["wide"].values())


def _month_names(language: str) -> dict[str, int]:
    months = Locale.parse(language).months
    return {
        name.rstrip("."): number
        for context in ("format", "stand-alone")
        for width in ("wide", "abbreviated")
        for number, name in months[context][width].items()
    }


@cache
def _months() -> dict[str, int]:
    return {name.casefold(): month for each in ("en", "de", "fr") for name, month in _month_names(each).items()}
