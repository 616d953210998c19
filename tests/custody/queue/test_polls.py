"""A connector's poll counts a queued record as new, once."""

import os

import pytest
from django.utils import timezone

from accounts import callers
from connectors import services as connectors
from connectors.models import Connector
from custody.models import Entry
from custody.services import reconcile

pytestmark = pytest.mark.django_db


@pytest.fixture
def connector(organization, settings, tmp_path):
    settings.CONNECTOR_DIRECTORIES = [str(tmp_path)]
    (tmp_path / "a.ndjson").write_text('{"decision_id": "a"}\n{"decision_id": "b"}\n')
    os.utime(tmp_path / "a.ndjson", (0, 0))  # old enough: a new file may be incomplete
    caller = callers.system(organization.pk)
    return connectors.create_connector(caller=caller, kind="directory", name="Loans", config={"path": str(tmp_path)})


def test_records_that_are_queued_are_new_once_and_move_the_cursor(queueing, connector):
    connectors.poll_due()
    polled = Connector.objects.get()
    assert (polled.seen, polled.new, polled.repeated, polled.failures) == (2, 2, 0, 0)
    assert set(Entry.objects.values_list("state", flat=True)) == {"queued"}
    Connector.objects.update(cursor={}, next_poll_at="2000-01-01T00:00:00Z")
    polled.ledger.all().delete()
    connectors.poll_due()
    polled.refresh_from_db()
    assert (polled.new, polled.repeated) == (2, 2)
    assert reconcile() == (2, 0)


def test_without_an_epoch_key_a_poll_stores_nothing_and_is_repeated(queueing, connector, customer, another_process):
    another_process()
    customer.status = 503
    connectors.poll_due()
    polled = Connector.objects.get()
    assert (polled.seen, polled.new, polled.failures) == (0, 0, 1)
    assert polled.stopped_at is None
    assert "key management service" in polled.runs.get().detail, "the outage is named"
    assert not Entry.objects.exists()


def test_polls_pause_while_too_many_records_wait_and_continue_once_they_are_signed(
    queueing, connector, settings, tmp_path, api
):
    settings.MAX_QUEUED_RECORDS = 2
    connectors.poll_due()
    path = tmp_path / "b.ndjson"
    path.write_text('{"decision_id": "c"}\n')
    os.utime(path, (0, 0))
    Connector.objects.update(next_poll_at="2000-01-01T00:00:00Z")
    connectors.poll_due()
    shown = api.get(f"/v1/connectors/{connector.source_id}").json()
    assert (shown["last_run"]["outcome"], shown["last_run"]["records"]["seen"]) == ("waiting", 0)
    assert "Polls pause" in shown["last_run"]["detail"]
    assert shown["state"] == "running"
    assert Connector.objects.get().next_poll_at > timezone.now(), "it comes again later"
    reconcile()
    Connector.objects.update(next_poll_at="2000-01-01T00:00:00Z")
    connectors.poll_due()
    assert Connector.objects.get().new == 3
    assert Connector.objects.get().runs.last().outcome == "finished"
