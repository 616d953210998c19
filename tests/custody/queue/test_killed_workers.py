"""Workers are killed while they sign and store: every acknowledged record is in custody once, and none is missing."""

import itertools
import json
import os
import threading
from collections import Counter

import pytest

from custody.keys.keyrings import Purpose
from tests.support.broker import Broker
from tests.support.workers import Workers, has_ended
from tests.system.live import server, wait_until

STEPS = [
    "custody.services.sign._save_signed",
    "custody.services.complete.put",
    "custody.services.complete.mark_stored",
]
RUN_OUT = "UPDATE custody_waitingobject SET lease_until = '2000-01-01 00:00:00+00:00' WHERE lease_token IS NOT NULL"
STORED = "SELECT count(*) FROM custody_entry WHERE state = 'stored'"
RECORDS = 80


@pytest.fixture
def environment(customer, monkeypatch, settings):
    """Return the environment with which a service's processes reach the tests' key management service."""
    return {
        "DRS_SECRET_CUSTOMER": os.environ["DRS_SECRET_CUSTOMER"],
        "TRUSTED_CA_FILE": settings.TRUSTED_CA_FILE,
        "ALLOWED_PRIVATE_HOSTS": "localhost",
    }


def use_keys_of(live, customer):
    ((slug,),) = live.sql("SELECT slug FROM accounts_organization")
    config = [f"{name}={value}" for name, value in customer.key(Purpose.SIGNING).items()]
    live.manage(
        "custody_rotate_key", "--organization", slug, "--purpose", "signing", "--provider", "gcp", "--config", *config
    )


def count(live, statement):
    return live.sql(statement)[0][0]


def assert_in_custody_once(live, decision_ids):
    assert count(live, STORED) == count(live, "SELECT count(*) FROM decisions_decision") == len(decision_ids)
    assert count(live, "SELECT count(*) FROM custody_waitingobject") == 0
    assert count(live, "SELECT count(*) FROM custody_sealedobject") == len(decision_ids)
    with live.client() as client:
        for decision_id in decision_ids:
            receipt = client.get(f"/v1/decisions/{decision_id}/receipt")
            assert (receipt.status, receipt.json()["decision_id"]) == (200, decision_id)
            assert client.get(f"/v1/decisions/{decision_id}/record").json() == {"decision_id": decision_id}


@pytest.mark.boots
@pytest.mark.once  # on the other database test_state_machine.py kills each step
def test_records_of_workers_killed_at_any_step_or_under_load_are_finished(customer, environment):
    broker = Broker()
    broker.start()
    try:
        with server(REDIS_URL=broker.url, **environment) as live:
            working = Workers(live)
            use_keys_of(live, customer)
            acknowledged = kill_at_each_step(live, working)
            assert_in_custody_once(live, acknowledged)
            assert_in_custody_once(live, acknowledged + kill_under_load(live, working, len(acknowledged)))
    finally:
        broker.kill()


def kill_at_each_step(live, working):
    """Return the ids of the records that were acknowledged meanwhile."""
    acknowledged = []
    for number, step in enumerate([*STEPS, ""]):
        with live.client() as client:
            for letter in "abcde":
                acknowledged.append(f"{number}-{letter}")
                assert client.ingest(b'{"decision_id": "%b"}' % acknowledged[-1].encode()).status == 202
        worker = working.reconcile(kill_at=step)
        wait_until(lambda: has_ended(worker), "the worker is killed or has ended")  # noqa: B023
        assert (count(live, STORED) == len(acknowledged)) == (not step), step
        live.sql(RUN_OUT)
    return acknowledged


def kill_under_load(live, working, before):
    """Kill workers while messages repeat. Return the ids of the records that were acknowledged meanwhile.

    Args:
        before: number of records that were acknowledged before.
    """
    answers: Counter[int] = Counter()

    def send(sender: int) -> None:
        with live.client() as client:
            for number in range(RECORDS // 4):
                record = json.dumps({"decision_id": f"{sender}-{number}"}).encode()
                answers[client.ingest(record).status] += 1

    senders = [threading.Thread(target=send, args=(sender,)) for sender in range(4)]
    running = [working.worker("custody") for _ in range(2)]
    for thread in senders:
        thread.start()
    for goal in range(RECORDS // 4, RECORDS // 2 + 1, RECORDS // 4):
        wait_until(lambda: count(live, STORED) >= before + goal, "records are stored")  # noqa: B023
        running.pop(0).kill()
        live.sql(RUN_OUT)
        running.append(working.worker("custody"))
    for thread in senders:
        thread.join()
    live.sql(RUN_OUT)
    working.reconcile()
    wait_until(lambda: count(live, STORED) == before + RECORDS, "the records of killed workers are stored too")
    assert answers == {202: RECORDS}
    for worker in running:
        worker.kill()
    return [f"{sender}-{number}" for sender, number in itertools.product(range(4), range(RECORDS // 4))]
