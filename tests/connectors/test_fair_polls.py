"""Fair polls: organizations share the workers, and a machine that lacks something affects no other machine."""

import math
import socket
import time
from collections import Counter

import pytest
from django.utils import timezone

from accounts.models import Organization
from config import addresses, wrapped_secrets
from connectors import kinds, services
from connectors.kinds import faults
from connectors.kinds.base import MachineFault
from connectors.models import Connector, PollRun
from connectors.services import claims, polling, unserved
from custody import vaults
from tests.connectors.test_polling import ids, last_run, loans, stored

pytestmark = pytest.mark.django_db
SECRET = "env:DRS_SECRET_FEED"


@pytest.fixture
def other_organization():
    return Organization.objects.create(name="Other", slug="other")


def due(connector):
    Connector.objects.filter(pk=connector.pk).update(next_poll_at=timezone.now())


@pytest.fixture
def crowd(organization, connector_of, feed):
    """Make connectors of one organization that are always due."""
    return [connector_of(organization, name=f"a{number}") for number in range(12)]


def test_a_crowd_of_one_organization_delays_another_by_one_poll(crowd, other_organization, connector_of, feed):
    connector = connector_of(other_organization, name="b")
    for _ in range(6):
        due(connector)
        first, second = claims.claim(), claims.claim()  # the longest of two polls that follow each other
        for claimed in [*first, *second]:
            services.poll(claimed, 60)
        for row in crowd:
            due(row)
    polls = Counter(PollRun.objects.values_list("connector__organization_id", flat=True))
    assert polls == {crowd[0].organization_id: 6, other_organization.pk: 6}


def test_no_organization_holds_more_than_half_of_the_workers_while_another_waits(
    crowd, other_organization, connector_of
):
    for number in range(12):
        connector_of(other_organization, name=f"b{number}")
    held = Counter(row.organization_id for _ in range(4) for row in claims.claim())
    assert held == {crowd[0].organization_id: 2, other_organization.pk: 2}


def test_one_organization_alone_may_use_every_worker(crowd):
    assert all(claims.claim() for _ in range(4))


def test_a_poll_gives_way_after_its_slice_only_while_another_connector_waits(
    connector, connector_of, feed, monkeypatch
):
    monkeypatch.setattr(polling, "SLICE_SECONDS", 0)
    monkeypatch.setattr(polling, "_LOOK_SECONDS", 0)
    feed.add(*loans(6))
    (claimed,) = claims.claim()
    services.poll(claimed, 60)
    assert (last_run().outcome, stored(connector).cursor) == ("finished", {"position": 6})
    feed.add(*loans(6, start=6))
    due(connector)
    (claimed,) = claims.claim()
    connector_of(connector.organization, name="waits")
    services.poll(claimed, 60)
    assert (last_run().outcome, stored(connector).cursor) == ("more", {"position": 8})
    assert stored(connector).next_poll_at <= timezone.now()


def test_a_secret_that_one_machine_lacks_is_no_failure_of_the_connector(
    organization, connector_of, feed, client, monkeypatch
):
    feed.add(*loans(2))
    connector = connector_of(organization, config={"needs_secret": True}, secret_ref=SECRET)
    before = stored(connector)
    for _ in range(5):
        unserved._pauses.clear()  # as a new process in each round
        assert services.poll_due() == 1
    row = stored(connector)
    assert (row.failures, row.stopped_at, row.lease_token) == (0, None, None)
    assert row.next_poll_at == before.next_poll_at, "it is due for the other machines"
    assert (last_run().outcome, last_run().cause) == ("failed", "system")
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["connectors"]) == (200, "failing")
    assert answer.json()["connectors_unserved"] == [str(connector.source_id)]
    assert SECRET.encode() not in answer.content
    monkeypatch.setenv("DRS_SECRET_FEED", "hunter2")
    unserved._pauses[connector.pk] = unserved._Pause(row.version, 1, time.monotonic())
    assert services.poll_due() == 1
    assert (ids(), client.get("/readyz").json()["connectors"]) == (["loan-0", "loan-1"], "ok")


def test_a_machine_skips_what_it_cannot_read_until_the_settings_change(organization, connector_of, feed):
    connector = connector_of(organization, config={"needs_secret": True}, secret_ref=SECRET)
    assert (services.poll_due(), services.poll_due(), services.due_count(9)) == (1, 0, 0)
    Connector.objects.filter(pk=connector.pk).update(version=connector.version + 1)
    assert services.due_count(9) == 1


@pytest.mark.parametrize(
    "error",
    [
        MachineFault("No network.", fix="Connect it."),
        wrapped_secrets.MasterKeyWrong(),
        ImportError("a library"),
        MemoryError(),
        OSError(24, "Too many open files"),
    ],
)
def test_a_lack_of_the_machine_is_not_counted(connector, feed, error):
    feed.add(*loans(2))

    def fail(number):
        raise error

    feed.before = fail
    services.poll_due()
    row = stored(connector)
    assert (row.failures, row.lease_token) == (0, None)
    assert row.next_poll_at <= timezone.now()
    assert unserved.source_ids() == [str(connector.source_id)]


def test_settings_that_only_this_machine_refuses_are_not_counted(connector, monkeypatch):
    monkeypatch.setattr(kinds, "names", list)
    services.poll_due()
    assert (stored(connector).failures, last_run().cause) == (0, "system")


def test_a_machine_without_a_name_service_blames_no_source(monkeypatch):
    def fails(*arguments, **options):
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", fails)
    with pytest.raises(MachineFault), faults.mapped():
        addresses.resolve("api.example.org", 443)


def test_a_machine_that_lacks_the_mount_of_the_vault_delays_no_connector(connector, feed, filesystem_vault):
    feed.add(*loans(2))
    filesystem_vault.rename(filesystem_vault.with_name("gone"))
    vaults._last_success = -math.inf
    services.poll_due()
    row = stored(connector)
    assert (row.failures, row.cursor, last_run().outcome) == (0, {}, "failed")
    assert row.next_poll_at <= timezone.now()
    filesystem_vault.with_name("gone").rename(filesystem_vault)
    unserved._pauses.clear()
    services.poll_due()
    assert stored(connector).cursor == {"position": 2}
