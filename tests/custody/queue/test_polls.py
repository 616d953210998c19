"""A connector's poll takes what is queued for taken, and counts it once."""

import os

import pytest

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
    os.utime(tmp_path / "a.ndjson", (0, 0))  # what was written just now may not be complete yet
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


def test_while_no_epoch_key_can_be_had_a_poll_takes_nothing_and_comes_again(
    queueing, connector, customer, another_process
):
    another_process()
    customer.status = 503
    connectors.poll_due()
    polled = Connector.objects.get()
    assert (polled.seen, polled.new, polled.failures) == (0, 0, 1)
    assert polled.stopped_at is None
    assert not Entry.objects.exists()
