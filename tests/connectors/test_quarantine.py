"""Quarantine: bad items wait there until they are read again or dismissed."""

import pytest

from accounts import callers
from connectors import services
from connectors.errors import NotPolled
from connectors.models import Alert, Quarantined
from connectors.services import polling
from connectors.services.connectors import Changes
from tests.connectors.test_polling import change, ids, loans, poll_now, stored

pytestmark = pytest.mark.django_db


def test_bad_items_are_quarantined_with_position_reason_and_digest_but_no_content(connector, feed):
    feed.add({"decision_id": "good"}, b'{"secret name": ', {"no_id": "Jane Roe"}, b"", {"decision_id": "also good"})
    services.poll_due()
    assert ids() == ["also good", "good"]
    row = stored(connector)
    assert (row.seen, row.new, row.quarantined) == (5, 2, 3)
    reasons = dict(Quarantined.objects.values_list("position", "reason"))
    assert set(reasons) == {"feed, item 2", "feed, item 3", "feed, item 4"}
    assert "JSON" in reasons["feed, item 2"]
    assert "decision_id" in reasons["feed, item 3"]
    assert not any(private in str(reasons) for private in ("Jane", "secret name"))
    assert all(len(item.digest) == 64 for item in Quarantined.objects.all())


def test_a_conflict_is_quarantined_once_however_often_it_comes(connector, feed):
    feed.add({"decision_id": "a", "n": 1}, {"decision_id": "a", "n": 2}, {"decision_id": "b"})
    services.poll_due()
    change(connector, reset_cursor=True)
    services.poll_due()
    assert ids() == ["a", "b"]
    assert list(Quarantined.objects.values_list("cause", flat=True)) == ["conflict"]
    assert stored(connector).quarantined == 1


def test_too_many_bad_items_stop_it(connector, feed, monkeypatch):
    monkeypatch.setattr(polling, "MAX_QUARANTINED", 5)
    feed.add(*(b'{"n": %d}' % n for n in range(20)), *loans(1))
    services.poll_due()
    row = stored(connector)
    assert "quarantine" in row.stopped_because
    assert row.cursor == {"position": 6}
    assert ids() == []


def test_a_full_quarantine_stops_polls_until_it_is_emptied(connector, feed, monkeypatch):
    monkeypatch.setattr(polling, "MAX_QUARANTINED", 2)
    feed.add(b"bad", b"worse")
    services.poll_due()
    feed.add(b"worst")
    services.request_poll(caller=callers.system(connector.organization_id), connector=connector)
    services.poll_due()
    assert Quarantined.objects.count() == 2
    assert stored(connector).stopped_at


def test_a_retry_takes_in_an_item_that_was_fixed(connector, feed):
    feed.by_ledger = True
    feed.add(*loans(2), b"half a li", {"decision_id": "x"}, *loans(2, start=5))
    services.poll_due()
    feed.items[2] = b'{"decision_id": "fixed"}'
    caller = callers.system(connector.organization_id)
    assert services.retry_quarantined(caller=caller, connector=connector) == 1
    services.poll_due()
    assert "fixed" in ids()
    assert not Quarantined.objects.exists()
    assert feed.reads[-1] == {"position": 2}


def test_nothing_of_a_disabled_connector_is_read_again(connector, feed):
    feed.add(b"bad")
    services.poll_due()
    caller = callers.system(connector.organization_id)
    services.change_connector(caller=caller, connector=connector, changes=Changes(enabled=False))
    with pytest.raises(NotPolled):
        services.retry_quarantined(caller=caller, connector=connector)
    assert Quarantined.objects.count() == 1


def test_a_dismissed_item_returns_only_after_a_reset(connector, feed):
    feed.add(b"bad", b"worse")
    services.poll_due()
    caller = callers.system(connector.organization_id)
    first = Quarantined.objects.order_by("pk").first()
    assert services.dismiss_quarantined(caller=caller, connector=connector, items=[first.pk]) == 1
    assert Quarantined.objects.count() == 1
    assert stored(connector).quarantined == 2
    services.retry_quarantined(caller=caller, connector=connector)
    services.poll_due()
    assert [row.digest for row in Quarantined.objects.all()] != [first.digest]
    assert Quarantined.objects.count() == 1
    services.change_connector(caller=caller, connector=connector, changes=Changes(reset_cursor=True))
    services.poll_due()
    assert Quarantined.objects.count() == 2


def test_one_mail_a_day_tells_of_a_growing_quarantine(connector, feed):
    feed.add(b"bad")
    services.poll_due()
    feed.add(b"worse")
    poll_now(connector)
    assert Alert.objects.filter(event="quarantine").count() == 1


def test_an_item_leaves_the_quarantine_once_its_place_holds_a_record(connector, feed):
    feed.add(*loans(2), b"half a li", b"also bad")
    services.poll_due()
    assert Quarantined.objects.count() == 2
    feed.items[2] = b'{"decision_id": "fixed"}'
    change(connector, reset_cursor=True)
    services.poll_due()
    assert "fixed" in ids()
    assert list(Quarantined.objects.values_list("position", flat=True)) == ["feed, item 4"]


def test_a_bad_item_that_moves_stays_in_quarantine(connector, feed):
    feed.add(*loans(4), b"bad")
    services.poll_due()
    feed.items = [b"bad", *feed.items[:4]]
    change(connector, reset_cursor=True)
    services.poll_due()
    assert list(Quarantined.objects.values_list("position", flat=True)) == ["feed, item 1"]
    assert stored(connector).quarantined == 1
