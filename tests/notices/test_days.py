"""Counting of months, days and business days, by hand and against a calendar."""

import calendar
from datetime import date, datetime, timedelta, timezone
from typing import Any

import holidays
import pytest
from hypothesis import given
from hypothesis import strategies as st

from notices.deadlines import compute
from tests.cases import each_case
from tests.notices.test_deadline_arithmetic import RECEIVED, a_pack, due, record, utc


@each_case(
    ("day", "months", "last"),
    [
        ("2026-11-13", 1, "2026-12-13"),
        ("2026-01-31", 1, "2026-02-28"),
        ("2028-01-31", 1, "2028-02-29"),
        ("2028-02-29", 12, "2029-02-28"),
        ("2026-08-31", 1, "2026-09-30"),
        ("2026-12-31", 2, "2027-02-28"),
        ("2026-12-15", 3, "2027-03-15"),
        ("2026-12-15", 0, "2026-12-15"),
    ],
)
def test_months_end_on_the_same_day_or_on_the_last(day: str, months: int, last: str):
    assert due(day, months=months) == utc(last)


@given(st.dates(date(2000, 1, 1), date(2200, 1, 1)), st.integers(0, 600))
def test_months_are_counted_on_and_no_day_is_gained(day: date, months: int):
    last = due(day.isoformat(), months=months).date()
    assert (last.year - day.year) * 12 + last.month - day.month == months
    assert last.day == day.day or (last.day < day.day and (last + timedelta(days=1)).day == 1)


@pytest.mark.parametrize(
    ("day", "days", "last"),
    [("2028-02-28", 1, "2028-02-29"), ("2027-02-28", 1, "2027-03-01"), ("2026-12-31", 30, "2027-01-30")],
)
def test_days_are_calendar_days(day: str, days: int, last: str):
    assert due(day, days=days) == utc(last)


@each_case(
    ("where", "day", "days", "last"),
    [
        ("US", "2026-11-25", 1, "2026-11-27"),  # Thanksgiving
        ("US-CA", "2026-11-25", 1, "2026-11-30"),  # and, in California, the day after
        ("US", "2026-07-02", 1, "2026-07-06"),  # Independence Day, a Saturday, observed on Friday
        ("US", "2021-12-30", 1, "2022-01-03"),  # New Year's Day 2022, a Saturday, observed in the year before
        ("US", "2026-11-14", 1, "2026-11-16"),  # from a Saturday
        ("GB", "2026-12-24", 1, "2026-12-29"),  # Boxing Day, a Saturday, has its substitute day on Monday
    ],
)
def test_neither_weekends_nor_holidays_are_business_days(where: str, day: str, days: int, last: str):
    assert due(day, business_days=days, calendar=where) == utc(last)


@given(
    st.dates(date(2000, 1, 1), date(2100, 1, 1)), st.integers(0, 60), st.sampled_from(["US", "US-CA", "CA-QC", "DE"])
)
def test_business_days_match_counting_day_by_day(first: date, days: int, where: str):
    last = due(first.isoformat(), business_days=days, calendar=where).date()
    country, _, part = where.partition("-")
    off = holidays.country_holidays(country, subdiv=part or None)
    passed = [first + timedelta(days=count) for count in range(1, (last - first).days + 1)]
    worked = [day for day in passed if calendar.weekday(day.year, day.month, day.day) < 5 and day not in off]
    assert len(worked) == days
    assert worked[-1:] in ([], [last])


LENGTHS = st.one_of(
    st.fixed_dictionaries({"hours": st.integers(0, 3660)}),
    st.fixed_dictionaries({"days": st.integers(0, 3660)}),
    st.fixed_dictionaries({"months": st.integers(0, 3660)}),
    st.fixed_dictionaries({"business_days": st.integers(0, 30), "calendar": st.just("US")}),
)
MOMENTS = st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1))


@given(LENGTHS, MOMENTS, MOMENTS, st.integers(-14, 14))
def test_a_later_start_never_ends_earlier(length: dict[str, Any], one: datetime, other: datetime, offset: int):
    there = timezone(timedelta(hours=offset))
    ends = [
        compute(
            a_pack(**length), record(decided_at=at.replace(tzinfo=there).isoformat()), received_at=utc("2400-01-01")
        )
        for at in sorted((one, other))
    ]
    assert ends[0][0].due_at <= ends[1][0].due_at
    assert ends[1][0].triggered_at == max(one, other).replace(tzinfo=there)


def test_days_are_counted_from_the_date_that_the_record_writes():
    """In Texas it was still the ninth, and Texas law counts from the ninth."""
    [deadline] = compute(a_pack(days=30), record(decided_at="2026-11-09T20:00:00-06:00"), received_at=RECEIVED)
    assert deadline.due_at == utc("2026-12-09")
    assert deadline.arithmetic.startswith("30 days after November 9, 2026, ")
    assert deadline.triggered_at == utc("2026-11-10", "02:00:00")


def test_no_time_at_all_ends_with_the_day_and_never_before_it_began():
    [deadline] = compute(a_pack(days=0), record(decided_at="2026-11-12T20:00:00-05:00"), received_at=RECEIVED)
    assert deadline.due_at == utc("2026-11-13")
    assert due("2026-11-12", days=0) == utc("2026-11-12")
