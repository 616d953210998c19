"""Polls: each record comes once, the cursor moves only past custody, and an overtaken poll writes nothing."""

import itertools
from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from accounts import callers
from connectors import services
from connectors.kinds.base import SourceFault
from connectors.models import Alert, Connector, LedgerRow, PollRun
from connectors.services import claims, intake, polling
from connectors.services.connectors import Changes
from custody.services import Status
from decisions.models import Decision

pytestmark = pytest.mark.django_db


def loans(count, start=0):
    return [{"decision_id": f"loan-{n}", "system": {"name": "loans"}} for n in range(start, start + count)]


def stored(connector):
    return Connector.objects.get(pk=connector.pk)


def last_run():
    return PollRun.objects.order_by("-pk").first()


def change(connector, **changes):
    caller = callers.system(connector.organization_id)
    return services.change_connector(caller=caller, connector=connector, changes=Changes(**changes))


def poll_now(connector):
    Connector.objects.filter(pk=connector.pk).update(next_poll_at=timezone.now())
    return services.poll_due()


def ids():
    return sorted(Decision.objects.values_list("decision_id", flat=True))


def test_from_creation_over_a_poll_to_records_in_custody(api, feed):
    feed.add(*loans(5))
    made = api.post("/v1/connectors", b'{"kind": "directory", "name": "Loans"}')
    assert made.status_code == 201, made.content
    assert services.due_count(10) == 1
    assert services.poll_due() == 1
    shown = api.get(f"/v1/connectors/{made.json()['source_id']}").json()
    assert shown["records"] == {"seen": 5, "new": 5, "repeated": 0, "quarantined": 0}
    assert shown["last_run"]["outcome"] == "finished"
    assert shown["cursor"] == {"position": 5}
    assert shown["lag_seconds"] <= 5
    assert api.get("/v1/decisions/loan-3").json()["source"] == f"connector:{shown['source_id']}"
    assert services.due_count(10) == 0


def test_the_next_poll_is_at_the_connector_s_own_moment_within_its_schedule(connector):
    services.poll_due()
    wait = stored(connector).next_poll_at - timezone.now()
    assert timedelta() < wait <= timedelta(seconds=300)
    with time_machine.travel(timezone.now() + timedelta(days=3), tick=False):
        assert services.poll_due() == 1  # not once for every missed slot
        following = stored(connector).next_poll_at
        assert following > timezone.now()
    assert (following.timestamp() - connector.source_id.int % 300) % 300 == 0


def test_a_second_poll_reads_on_from_the_cursor(connector, feed):
    feed.add(*loans(3))
    services.poll_due()
    feed.add(*loans(2, start=3))
    poll_now(connector)
    assert feed.reads == [{}, {"position": 3}]
    assert (stored(connector).new, stored(connector).repeated) == (5, 0)


def test_a_repeated_item_makes_no_second_record(connector, feed):
    feed.add(*loans(3))
    services.poll_due()
    change(connector, reset_cursor=True)
    services.poll_due()
    row = stored(connector)
    assert (row.seen, row.new, row.repeated) == (6, 3, 3)
    assert len(ids()) == 3


@pytest.mark.once
@pytest.mark.parametrize("token", ["x" * 9000, "half \ud800 a character", "nul \0"])
def test_a_cursor_that_cannot_be_stored_is_a_fault_and_loses_nothing(connector, feed, api, token):
    feed.add(*loans(2))
    feed.token = token
    services.poll_due()
    assert (last_run().outcome, last_run().cause, stored(connector).cursor) == ("failed", "config", {})
    assert api.get("/v1/connectors").status_code == 200
    feed.token = ""
    Connector.objects.update(next_poll_at=timezone.now())
    services.poll_due()
    assert stored(connector).cursor == {"position": 2}
    assert Decision.objects.count() == 2


def test_the_cursor_stays_while_custody_does_not_answer(connector, feed, monkeypatch):
    feed.add(*loans(4))
    ingest, calls = intake._ingest, itertools.count()

    def fails_once(*arguments):
        lines = list(ingest(*arguments))
        if next(calls) == 1:
            lines[-1] = type(lines[-1])(lines[-1].number, Status.UNAVAILABLE)
        return iter(lines)

    monkeypatch.setattr(intake, "_ingest", fails_once)
    services.poll_due()
    row = stored(connector)
    assert row.cursor == {"position": 2}
    assert (last_run().outcome, last_run().cause) == ("failed", "system")
    assert row.next_poll_at > timezone.now()
    assert row.lease_token is None
    poll_now(connector)
    assert stored(connector).cursor == {"position": 4}
    assert len(ids()) == 4


@pytest.mark.parametrize("act", ["config", "disable", "reset", "delete"])
def test_a_change_during_a_poll_overtakes_it(connector, feed, act):
    feed.add(*loans(6))
    caller = callers.system(connector.organization_id)

    def during(number):
        if number != 1:
            return
        if act == "delete":
            services.delete_connector(caller=caller, connector=connector)
        else:
            changes = {"config": {"config": {}}, "disable": {"enabled": False}, "reset": {"reset_cursor": True}}
            change(connector, **changes[act])

    feed.before = during
    (claimed,) = claims.claim()
    services.poll(claimed, 60)
    if act == "delete":
        assert not Connector.objects.exists()
        assert not PollRun.objects.exists()
        return
    row = stored(connector)
    assert row.cursor == ({} if act == "reset" else {"position": 2})
    assert row.lease_token is None
    assert last_run().outcome == "overtaken"
    assert (row.next_poll_at is None) == (act == "disable")


def test_a_worker_that_stopped_past_its_lease_writes_no_cursor(connector, feed):
    feed.add(*loans(6))
    (slow,) = claims.claim()

    def take_over(number):
        if number == 1:
            with time_machine.travel(timezone.now() + 2 * claims.LEASE, tick=False):
                (quick,) = claims.claim()
                feed.before = lambda number: None
                services.poll(quick, 60)

    feed.before = take_over
    services.poll(slow, 60)
    row = stored(connector)
    assert row.cursor == {"position": 6}
    assert row.lease_token is None
    assert set(PollRun.objects.values_list("outcome", flat=True)) == {"finished", "overtaken"}
    assert len(ids()) == 6


def test_a_connector_is_polled_by_one_worker_at_a_time(connector):
    assert len(claims.claim()) == 1
    assert claims.claim() == []
    assert services.due_count(10) == 0


def test_a_killed_worker_costs_one_lease(connector, feed):
    feed.add(*loans(2))
    claims.claim()
    with time_machine.travel(timezone.now() + claims.LEASE + timedelta(seconds=1), tick=False):
        assert services.poll_due() == 1
    assert len(ids()) == 2


def test_a_backlog_longer_than_its_time_stops_between_batches_and_is_due_again(connector, feed):
    feed.add(*loans(6))
    (claimed,) = claims.claim()
    services.poll(claimed, 0)
    row = stored(connector)
    assert row.cursor == {"position": 2}
    assert last_run().outcome == "more"
    assert row.next_poll_at <= timezone.now()
    assert row.caught_up_at is None
    services.poll_due()
    assert len(ids()) == 6


def test_a_poll_that_is_asked_for_during_a_poll_is_not_lost(connector, feed):
    feed.add(*loans(2))
    caller = callers.system(connector.organization_id)
    feed.before = lambda number: services.request_poll(caller=caller, connector=connector)
    (claimed,) = claims.claim()
    services.poll(claimed, 60)
    assert services.due_count(10) == 1


def fault(cause, retry_after=None):
    def fail(number):
        raise SourceFault("The door is locked.", fix="Open it.", cause=cause, retry_after=retry_after)

    return fail


@pytest.mark.once
def test_a_fault_of_settings_stops_the_connector_soon_and_alerts_members(connector, feed, mailoutbox):
    feed.add(*loans(2))
    feed.before = fault("config")
    for _ in range(2):
        poll_now(connector)
        assert stored(connector).stopped_at is None
    poll_now(connector)
    row = stored(connector)
    assert row.stopped_because == "The door is locked. Open it."
    assert row.next_poll_at is None
    services.send_alerts()
    (sent,) = mailoutbox
    assert (sent.to, "The door is locked" in sent.body) == (["owner@bank.example"], True)
    feed.before = lambda number: None
    services.request_poll(caller=callers.system(row.organization_id), connector=row)
    services.poll_due()
    assert stored(connector).stopped_because == ""
    assert len(ids()) == 2


@pytest.mark.once
def test_a_transient_fault_is_retried_with_growing_pauses_and_not_before_the_source_asks(connector, feed):
    feed.add(*loans(2))
    feed.before = fault("transient")
    waits = []
    for _ in range(8):
        poll_now(connector)
        waits.append((stored(connector).next_poll_at - timezone.now()).total_seconds())
    assert 44 < waits[0] <= 60
    assert 88 < waits[1] <= 120
    assert 2699 < waits[7] <= 3600
    feed.before = fault("transient", retry_after=7200)
    poll_now(connector)
    assert (stored(connector).next_poll_at - timezone.now()).total_seconds() > 7100
    assert stored(connector).stopped_at is None


def test_a_fault_of_ours_says_nothing_and_is_tried_again(connector, feed):
    feed.add(*loans(2))

    def fail(number):
        raise RuntimeError("password=hunter2")

    feed.before = fail
    services.poll_due()
    assert (last_run().cause, "hunter2" in last_run().detail) == ("system", False)
    assert stored(connector).next_poll_at > timezone.now()


def test_with_problems_it_is_never_polled(organization, connector_of):
    row = connector_of(organization, config={"feed": "nowhere"})
    assert row.problems == ["config.feed: there is no such feed."]
    assert services.due_count(10) == 0
    assert change(row, config={}).problems == []
    assert services.due_count(10) == 1


def test_an_object_in_the_ledger_is_read_again_only_after_a_reset(connector, feed):
    feed.by_ledger = True
    feed.add(*loans(4))
    services.poll_due()
    assert LedgerRow.objects.count() == 2
    Connector.objects.update(cursor={})
    poll_now(connector)
    assert stored(connector).seen == 4
    change(connector, reset_cursor=True)
    services.poll_due()
    assert stored(connector).seen == 8


@pytest.mark.once
def test_the_secret_is_resolved_when_it_is_needed(organization, connector_of, feed, monkeypatch):
    monkeypatch.setenv("DRS_SECRET_FEED", "open sesame")
    connector_of(organization, config={"needs_secret": True}, secret_ref="env:DRS_SECRET_FEED")
    services.poll_due()
    assert feed.secrets == ["open sesame"]
    monkeypatch.delenv("DRS_SECRET_FEED")
    Connector.objects.update(next_poll_at=timezone.now())
    services.poll_due()
    assert (last_run().cause, "secret" in last_run().detail) == ("system", True)


@pytest.mark.once
def test_a_connector_that_falls_silent_is_mailed_once(connector, feed, mailoutbox):
    feed.add(*loans(2))
    services.poll_due()
    assert services.note_silence() == 0
    with time_machine.travel(timezone.now() + timedelta(days=2), tick=False):
        assert services.note_silence() == 1
        assert services.note_silence() == 0
        assert services.send_alerts() == 1
    with time_machine.travel(timezone.now() + timedelta(days=4), tick=False):
        assert services.note_silence() == 0
        feed.add(*loans(2, start=2))
        poll_now(connector)
    assert Alert.objects.filter(event="silent").count() == 1
    assert "silent" in mailoutbox[0].subject
    assert stored(connector).longest_gap_seconds >= 4 * 86_400


@pytest.mark.once
def test_a_map_makes_records_of_items_of_another_shape(api, organization, connector_of, feed):
    config = {"map": {"fields": {"decision_id": "/id"}, "constants": {"system.name": "loans"}}}
    connector_of(organization, config=config)
    feed.add(b'{"id": 7, "amount": 1.50}')
    services.poll_due()
    assert api.get("/v1/decisions/7/record").content == (
        b'{"decision_id":"7","system":{"name":"loans"},"original":{"id": 7, "amount": 1.50}}'
    )


def test_many_connectors_are_polled_once_each_and_the_oldest_first(organization, connector_of):
    for number in range(50):
        row = connector_of(organization, name=f"c{number}")
        Connector.objects.filter(pk=row.pk).update(next_poll_at=timezone.now() - timedelta(seconds=50 - number))
    with time_machine.travel(timezone.now(), tick=False):  # otherwise the next poll of one might be due
        assert services.poll_due() == 50
        assert PollRun.objects.values("connector").distinct().count() == PollRun.objects.count() == 50
        assert services.due_count(10) == 0


def test_the_connector_that_waited_longest_is_next(organization, connector_of):
    first, second = (connector_of(organization, name=name) for name in ("first", "second"))
    now = timezone.now()
    Connector.objects.filter(pk=first.pk).update(next_poll_at=now - timedelta(seconds=1))
    Connector.objects.filter(pk=second.pk).update(next_poll_at=now - timedelta(hours=1))
    assert [row.pk for row in claims.claim()] == [second.pk]


def test_a_source_without_a_time_of_its_newest_item_is_read(connector, feed):
    feed.behind = 2026 * 366 * 86_400.0
    feed.add(*loans(1))
    services.poll_due()
    connector.refresh_from_db()
    assert (connector.seen, connector.newest_item_at) == (1, None)


def test_old_runs_are_forgotten(connector, monkeypatch):
    monkeypatch.setattr(polling, "_MAX_RUNS", 3)
    for _ in range(45):
        poll_now(connector)
    assert PollRun.objects.count() <= 3 + 19
