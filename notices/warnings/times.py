"""Times of the record that nobody can read: deadlines and laws go by others then, and no letter says so. And days
that a letter tells, such as how long an offer holds, of which nobody knows which they are."""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from notices import deadlines
from notices.checklist import Case
from notices.localization.names import words_of
from notices.localization.values import parse_day, stands_for_no_day
from notices.record_paths import Fact, NoSuchField
from notices.warnings import in_force
from notices.warnings.findings import Finding, statements

_DECIDED, _APPROVED = "decided_at", "approval.approved_at"
_INSTEAD = {
    _DECIDED: "the day on which the record came stands in for it, for deadlines and for which law holds",
    _APPROVED: "no letter tells it",
}
_OF_DAYS = {"date", "day", "deadline", "due", "expiration", "expires", "expiry", "until", "datum", "bis", "frist"}
_OF_DAYS |= {"gueltig", "gültig", "échéance", "echeance"}
_LONGEST = 40
_SECONDS = 10**8
"""Numbers from here on count seconds since 1970, or less than seconds."""
_ISO = re.compile(r"\d{4}-\d\d-\d\d(?:[T ].*)?", re.ASCII)
_IN_FIGURES = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(?:\d{4}|\d\d)", re.ASCII)


def findings(case: Case, content: Mapping[str, Any]) -> Iterator[Finding]:
    for path in (*deadlines.TIMES, _APPROVED):
        value = case.facts.get(path)
        if value in (None, "") or deadlines.parse_moment(value) is not None:
            continue
        if path != _DECIDED or not any(in_force.findings(case, content)):  # which says it too
            instead = _INSTEAD.get(path, "deadlines are reckoned without it")
            sentence = f"{path} is no time that can be read, as 2026-11-20T09:30:00Z is: {instead}."
            yield Finding("unreadable_time", "", sentence)
    yield from _days(case, content)


def _days(case: Case, content: Mapping[str, Any]) -> Iterator[Finding]:
    for statement in statements(content):
        try:
            fact = case.facts.find(statement.source)
        except NoSuchField:
            continue
        if fact.path not in (*deadlines.TIMES, _APPROVED) and _is_unclear_day(fact, str(content["language"])):
            yield statement.finding(
                "unclear_day",
                f"{fact.path} is {str(fact.value)[:_LONGEST]}, which is no clear day. Find out the day and write it "
                "into the sentence.",
            )


def _is_unclear_day(fact: Fact, language: str) -> bool:
    """Whether a value is a day that does not exist, one of two (01/02/2027), or a number that stands for one."""
    if isinstance(fact.value, int | Decimal) and not isinstance(fact.value, bool):
        return abs(Decimal(fact.value)) >= _SECONDS and not _OF_DAYS.isdisjoint(words_of(fact.field.name))
    if not isinstance(fact.value, str) or len(text := fact.value.strip()) > _LONGEST or stands_for_no_day(text):
        return False
    if _ISO.fullmatch(text):
        return parse_day(text[: len("2027-02-28")]) is None
    if not (found := _IN_FIGURES.fullmatch(text)):
        return False
    one, other = int(found[1]), int(found[3])
    months, days = range(1, 13), range(1, 32)
    readings = {(day, month) for day, month in ((one, other), (other, one)) if day in days and month in months}
    # Whoever writes points, or no English, writes the day first.
    return not readings or (len(readings) > 1 and found[2] != "." and language.startswith("en"))
