"""Deadlines for a notice about a record, and for answers to the person.

A pack sets a time limit and its trigger; the record gives the trigger's time. If the record has no time, or an
impossible one, the nearest known fact replaces it, and the deadline says so. An unknown time never stops a clock.
"""

import calendar
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final, NamedTuple

from babel.dates import format_date
from django.utils.dateparse import parse_datetime

from notices.packs import Clock, Pack
from notices.packs.clocks import Purpose, Trigger, public_holidays
from notices.packs.parts import BINDING
from notices.record_paths import Facts


class Occurrence(NamedTuple):
    """An event that starts a clock, and its paths in records."""

    happened: str
    paths: tuple[str, ...]
    before: bool = False
    """It comes before the event that it replaces, so the deadline is too early rather than too late."""


_DECIDED = Occurrence("the decision was made", ("decided_at",))
_COMPLETED = Occurrence("the application was complete", ("events.application.completed_at",))
_APPLIED = Occurrence("the application came in", ("events.application.received_at",), before=True)
_REQUESTED = Occurrence(
    "the request came in",
    ("events.request.received_at", "events.claim.received_at", "events.application.received_at"),
)
_APPEALED = Occurrence(
    "the appeal came in",
    ("events.appeal.received_at", "events.appeal_request.received_at", "events.reconsideration_request.received_at"),
)
_ACCESS_REQUESTED = Occurrence("the person asked for access", ("events.access_request.received_at",))
_COUNTEROFFERED = Occurrence("the counteroffer was made", ("events.counteroffer.made_at",))
_INFORMED = Occurrence("the person was informed of the decision", ("events.notification.sent_at",))

OCCURRENCES: Final[Mapping[Trigger, tuple[Occurrence, ...]]] = {
    "decision_date": (_DECIDED,),
    "application_completed": (_COMPLETED, _APPLIED, _DECIDED),
    "application_received": (_APPLIED, _DECIDED),
    "appeal_received": (_APPEALED, _DECIDED),
    "request_received": (_REQUESTED, _DECIDED),
    "access_requested": (_ACCESS_REQUESTED,),
    "counteroffer_made": (_COUNTEROFFERED, _DECIDED),
    "person_informed": (_INFORMED,),
}
"""By trigger, the event that starts the clock, and its replacements in order. The last replacement is the receipt of
the record. docs/adding-a-pack.md documents these paths."""


_EXTENDED = ("events.extension.notified_at", "events.extension.sent_at")
_MORE_ASKED = ("events.information_request.sent_at",)
_MORE_GIVEN = ("events.information_request.received_at", "events.information_request.answered_at")
_MORE_DUE = "events.information_request.due_at"
"""Paths of the notice of an extension, and of the request for more information, its answer and its deadline."""
TIMES: Final = tuple(
    dict.fromkeys(
        (
            *(path for events in OCCURRENCES.values() for event in events for path in event.paths),
            *(*_EXTENDED, *_MORE_ASKED, *_MORE_GIVEN, _MORE_DUE),
        )
    )
)
"""Paths of the times that deadlines depend on."""
_MAX_STANDSTILL = timedelta(days=366)


@dataclass(frozen=True, slots=True)
class Deadline:
    """A deadline with its law and its calculation."""

    clock: str
    pack: str
    authority: str
    citation: str
    trigger: str
    triggered_at: datetime
    """In UTC, like `due_at`."""
    assumed: bool
    """The record does not give the trigger's time: another time replaces it."""
    due_at: datetime
    arithmetic: str
    """The calculation in English, for the organization."""


class _Start(NamedTuple):
    at: datetime
    """With the record's offset: days count from the date there."""
    happened: str
    remark: str = ""


def compute(
    pack: Pack,
    facts: Facts,
    *,
    received_at: datetime,
    requested_at: datetime | None = None,
    what: Purpose = "notice",
) -> list[Deadline]:
    """Return the deadlines of a pack for a record, soonest first. The first one counts.

    Args:
        received_at: when the service received the record.
        requested_at: when the affected person asked. Clocks of answers and acknowledgements start then.
        what: the purpose of the clocks to read.
    """
    deadlines = [
        clock_deadline(pack, clock.id, facts, received_at=received_at, requested_at=requested_at)
        for clock in pack.clocks
        if clock.what == what
    ]
    running = [deadline for deadline in deadlines if deadline]
    return sorted(running, key=lambda deadline: (deadline.due_at, deadline.authority not in BINDING))


def clock_deadline(
    pack: Pack, clock_id: str, facts: Facts, *, received_at: datetime, requested_at: datetime | None = None
) -> Deadline | None:
    """Return the deadline of one clock, or None if it does not apply to the record or waits for the person to ask.

    A law that is not in force sets no deadline. A warning says that the pack was chosen too early.

    Args:
        received_at: when the service received the record.
        requested_at: when the affected person asked.
    """
    clock = pack.clock(clock_id)
    if not (clock.applies_to(facts.get) and pack.in_effect(decided_on(facts, received_at))):
        return None
    start = _recorded(clock.trigger, facts, received_at) if clock.what == "notice" else _requested(requested_at)
    if start is None:
        return None
    due_at, lengthened = _lengthened(clock, start.at, facts, received_at)
    return Deadline(
        clock=clock.id,
        pack=pack.id,
        authority=clock.authority,
        citation=clock.citation,
        trigger=clock.trigger,
        triggered_at=start.at.astimezone(UTC),
        assumed=bool(start.remark),
        due_at=due_at,
        arithmetic=_arithmetic(clock, start, due_at) + lengthened,
    )


def days_for_information(facts: Facts) -> int | None:
    """Return the days that the person had to send missing information, if the record has both dates."""
    asked, due = parse_moment(facts.get(_MORE_ASKED[0])), parse_moment(facts.get(_MORE_DUE))
    return (due.date() - asked.date()).days if asked and due else None


def parse_moment(value: Any) -> datetime | None:
    """Return a time of a record (RFC 3339, or a date alone), with its offset; without an offset it is in UTC."""
    try:
        parsed = parse_datetime(value) if isinstance(value, str) else None
        if parsed is None:
            return None
        aware = parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
        aware.astimezone(UTC)
    except (ValueError, OverflowError):  # no such day, or in UTC outside the years 1 to 9999
        return None
    return aware


def decided_on(facts: Facts, received_at: datetime) -> date:
    """Return the day of the decision by the record, or else the day of the record's receipt."""
    return (parse_moment(facts.get("decided_at")) or received_at).date()


def _requested(requested_at: datetime | None) -> _Start | None:
    return _Start(requested_at, "the person asked") if requested_at else None


def _recorded(trigger: Trigger, facts: Facts, received_at: datetime) -> _Start:
    """Return when the clock started by the record. Times after the record's receipt do not count."""
    wanted = OCCURRENCES[trigger][0]
    for occurrence in OCCURRENCES[trigger]:
        for path in occurrence.paths:
            at = parse_moment(facts.get(path))
            if at and at <= received_at:
                remark = "" if occurrence is wanted else _stands_in(wanted, facts, before=occurrence.before)
                return _Start(at, occurrence.happened, remark)
    return _Start(received_at, "the service received the record", _stands_in(wanted, facts))


def _stands_in(wanted: Occurrence, facts: Facts, *, before: bool = False) -> str:
    """Say why another time counts: the record has no time, or one after its receipt."""
    is_later = any(parse_moment(facts.get(path)) for path in wanted.paths)
    cause = (
        f"By the record, {wanted.happened} after the service received it"
        if is_later
        else f"The record does not say when {wanted.happened}"
    )
    return f" {cause}; the true deadline may be {'later' if is_later or before else 'earlier'}."


def _due(clock: Clock, start: datetime) -> datetime:
    """Return the last second. Days end with their last hour, by Regulation (EEC, Euratom) No 1182/71, Article 3(2)."""
    begun = start.astimezone(UTC)
    if clock.unit == "hours":
        return begun + timedelta(hours=clock.amount)
    # With zero days after an evening west of Greenwich, that day has passed already in UTC.
    last = max(_last_day(clock, start.date()), begun.date())
    return datetime.combine(last, time(23, 59, 59), UTC)


def _lengthened(clock: Clock, begun: datetime, facts: Facts, received_at: datetime) -> tuple[datetime, str]:
    """Return the deadline with the record's standstill and extension, and sentences about both.

    A standstill or extension counts only if it came before the deadline.
    """
    due_at, explanation = _due(clock, begun), ""
    asked = _moment(facts, _MORE_ASKED, received_at)
    if clock.missing_information_days and asked and begun <= asked <= due_at:
        until, because = _answered(clock.missing_information_days, asked, facts, received_at)
        stood_still = (until.date() - asked.date()).days
        due_at += timedelta(days=stood_still)
        explanation += f" The time stood still for {stood_still} days from {_day(asked)}, {because}."
    extended = _moment(facts, _EXTENDED, received_at)
    if clock.extension_days and extended:
        if begun <= extended <= due_at:
            due_at += timedelta(days=clock.extension_days)
            explanation += f" It was extended once by {clock.extension_days} days on {_day(extended)}."
        else:
            explanation += f" The extension of {_day(extended)} was told too late to count."
    return due_at, explanation


def _answered(days: int, asked: datetime, facts: Facts, received_at: datetime) -> tuple[datetime, str]:
    """Return when the clock resumed after a request for more information: at the answer, or at the end of its days."""
    longer = min(parse_moment(facts.get(_MORE_DUE)) or asked, asked + _MAX_STANDSTILL)
    allowed = max(asked + timedelta(days=days), longer)
    given = _moment(facts, _MORE_GIVEN, received_at)
    if given and asked <= given <= allowed:
        return given, f"when more information was asked for, to {_day(given)}, when it came"
    return allowed, f"when more information was asked for, to {_day(allowed)}, when the days to send it end"


def _moment(facts: Facts, paths: tuple[str, ...], received_at: datetime) -> datetime | None:
    """Return the first time at these paths that is not after the record's receipt."""
    times = (parse_moment(facts.get(path)) for path in paths)
    return next((at for at in times if at and at <= received_at), None)


def _last_day(clock: Clock, first: date) -> date:
    match clock.unit:
        case "months":
            return _months_after(first, clock.amount)
        case "business_days":
            return _business_days_after(first, clock.amount, str(clock.calendar))
        case _:
            return first + timedelta(days=clock.amount)


def _months_after(first: date, months: int) -> date:
    """Return the same day of a later month, or the month's last day: Article 3(2)(c) of the same regulation."""
    years, month = divmod(first.month - 1 + months, 12)
    year, month = first.year + years, month + 1
    return date(year, month, min(first.day, calendar.monthrange(year, month)[1]))


def _business_days_after(first: date, days: int, holidays: str) -> date:
    last = first
    while days:
        last += timedelta(days=1)
        if last.isoweekday() <= 5 and last not in public_holidays(holidays, last.year):
            days -= 1
    return last


def _arithmetic(clock: Clock, start: _Start, due_at: datetime) -> str:
    begun, until = _day(start.at), f"the end of {_day(due_at)}"
    if clock.unit == "hours":
        begun, until = _hour(start.at.astimezone(UTC)), _hour(due_at)
    counted = f", without weekends and the public holidays of {clock.calendar}" if clock.calendar else ""
    return f"{clock.length} after {begun}, when {start.happened}{counted}: until {until} (UTC).{start.remark}"


def _hour(at: datetime) -> str:
    return f"{at:%H:%M:%S} on {_day(at)}"


def _day(day: date) -> str:
    return format_date(day, "long", locale="en")
