"""How pages show the time left, the due date, and who acted."""

from datetime import UTC, datetime

import pytest
import time_machine

from accounts.back_office import label_of
from notices.back_office.formatting import deadline, time_left

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("due_at", "shown"),
    [
        ("2026-11-29T23:59:59+00:00", "in 9 days"),
        ("2026-12-20T23:59:59+00:00", "in 30 days"),
        ("2026-11-21T23:59:59+00:00", "in 1 day"),
        ("2026-11-21T11:59:59+00:00", "in 23 hours"),
        ("2026-11-20T13:30:00+00:00", "in 1 hour"),
        ("2026-11-20T12:59:59+00:00", "in less than an hour"),
        ("2026-11-20T11:30:00+00:00", "less than an hour late"),
        ("2026-11-19T23:59:59+00:00", "12 hours late"),
        ("2026-11-18T23:59:59+00:00", "2 days late"),
        ("2026-11-17T23:59:59+00:00", "3 days late"),
        ("2026-11-17T20:00:00-05:00", "2 days late"),
        ("2025-11-20T12:00:00+00:00", "365 days late"),
    ],
)
def test_time_left_is_in_calendar_days_and_below_a_day_in_hours(due_at, shown):
    with time_machine.travel(NOON, tick=False):
        assert time_left(datetime.fromisoformat(due_at)) == shown


def test_the_date_is_shown_below_and_lateness_is_marked():
    with time_machine.travel(NOON, tick=False):
        late, open_ = (deadline(datetime(2026, 11, day, 23, 59, 59, tzinfo=UTC)) for day in (17, 29))
    assert '<span class="late">3 days late</span>' in late
    assert '<span class="">in 9 days</span>' in open_
    assert '<time class="quiet" datetime="2026-11-29T23:59:59.000000Z">29 Nov 2026</time>' in open_


@pytest.mark.parametrize(
    ("actor", "label"),
    [
        ("member owner@bank.example", "owner@bank.example"),
        ("system an administrator at the command line", "an administrator at the command line"),
        ("", ""),
    ],
)
def test_an_actor_is_shown_by_label(actor, label):
    assert label_of(actor) == label
