"""Times of polls: a poll ends in time, delays no other, and recovers from a wrong clock."""

import time
from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from connectors import services
from connectors.kinds.base import SourceFault
from connectors.models import Connector, PollRun
from connectors.services import claims, polling
from tests.connectors.test_polling import fault, ids, last_run, loans, poll_now, stored

pytestmark = pytest.mark.django_db

YEAR = timedelta(days=365)


def cut_off(number):
    """Raise at the second request, after the deadline."""
    if number == 1:
        time.sleep(0.05)
        raise SourceFault("The host did not answer in time.", fix="", cause="transient")


def test_a_request_that_is_cut_off_because_the_time_is_over_is_no_failure(connector, feed, monkeypatch):
    feed.add(*loans(6))
    feed.before = cut_off
    (claimed,) = claims.claim()
    services.poll(claimed, 0.05)
    row = stored(connector)
    assert (last_run().outcome, row.failures, row.cursor) == ("more", 0, {"position": 2})
    assert row.next_poll_at <= timezone.now()


def test_a_source_without_an_end_is_polled_by_its_schedule_while_nothing_new_comes(connector, feed):
    def poll(*records):
        feed.add(*records)
        Connector.objects.update(next_poll_at=timezone.now())
        services.poll(claims.claim()[0], 0)
        assert last_run().outcome == "more"
        return stored(connector).next_poll_at <= timezone.now()

    known = loans(2)
    assert poll(*known)
    assert all(poll(*known) for _ in range(polling._MAX_IDLE_POLLS))
    assert not poll(*known)
    assert not poll(*known)
    assert poll(*loans(2, start=2))
    assert poll(*known)


def test_a_source_that_gives_nothing_in_all_of_the_time_has_failed(connector, feed):
    feed.add(*loans(6))
    feed.before = lambda number: cut_off(1)
    (claimed,) = claims.claim()
    services.poll(claimed, 0.05)
    assert (last_run().outcome, stored(connector).failures) == ("failed", 1)


def test_a_worker_whose_time_is_nearly_over_begins_no_poll(connector, feed):
    feed.add(*loans(2))
    assert services.poll_due(polling._MIN_POLL_SECONDS) == 0
    assert services.due_count(10) == 1


def test_connectors_behind_a_slow_source_are_left_to_other_workers(organization, connector_of, feed, monkeypatch):
    for number in range(2 * claims.SHARE):
        connector_of(organization, name=f"c{number}")
    feed.add(*loans(2))
    others = []

    def look(number):
        others.append(services.due_count(100))

    feed.before = look
    monkeypatch.setattr(polling, "_PAGE_SECONDS", 0)
    with time_machine.travel(timezone.now(), tick=False):
        assert services.poll_due() == 2 * claims.SHARE, "all are polled, one of a page at a time"
    assert others[0] == 2 * claims.SHARE - 2, "it claimed two"
    assert PollRun.objects.count() == 2 * claims.SHARE


def test_a_clock_that_was_a_year_ahead_delays_nothing(connector, feed):
    feed.add(*loans(2))
    with time_machine.travel(timezone.now() + YEAR, tick=False):
        services.poll_due()
    assert stored(connector).next_poll_at > timezone.now() + YEAR
    assert services.repair_times() == 2  # the next poll, and the time of silence
    feed.add(*loans(2, start=2))
    assert services.poll_due() == 1
    assert len(ids()) == 4
    assert stored(connector).silent_at < timezone.now() + timedelta(days=15)


def test_a_lease_that_was_taken_while_the_clock_was_ahead_is_free_again(connector, feed):
    with time_machine.travel(timezone.now() + YEAR, tick=False):
        (held,) = claims.claim()
    assert services.poll_due() == 0
    assert services.repair_times() == 1
    assert services.poll_due() == 1
    services.poll(held, 60)
    assert PollRun.objects.count() == 1, "the old lease holder has lost it"


def test_a_clock_that_jumps_during_a_poll_loses_and_doubles_nothing(connector, feed, monkeypatch):
    feed.add(*loans(6))
    now, ahead = timezone.now, [timedelta()]
    with monkeypatch.context() as patched:  # the time of day alone; the monotonic clock is unchanged
        patched.setattr(timezone, "now", lambda: now() + ahead[-1])
        feed.before = lambda number: ahead.append([YEAR, -YEAR, -YEAR][number])
        services.poll_due()
    assert stored(connector).cursor == {"position": 6}
    feed.before = lambda number: None
    services.repair_times()
    poll_now(connector)
    assert (stored(connector).seen, len(ids())) == (6, 6)
    assert stored(connector).cursor == {"position": 6}


def test_times_that_are_right_are_left_as_they_are(organization, connector_of, feed):
    feed.add(*loans(1))
    daily = connector_of(organization, name="daily", schedule_seconds=86_400)
    connector_of(organization, name="hourly", schedule_seconds=3600)
    services.poll_due()
    feed.add(*loans(1, start=1))
    feed.before = fault("transient", retry_after=86_400)
    poll_now(daily)
    claims.claim()
    before = list(Connector.objects.order_by("pk").values())
    assert services.repair_times() == 0
    assert list(Connector.objects.order_by("pk").values()) == before
