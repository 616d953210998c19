"""A backlog of one organization's records behind a silent key service, or its slow storage, delays no other work."""

import json
import os
import signal
from threading import Event

import pytest
from django.conf import settings

from tests.custody.queue.test_killed_workers import environment, use_keys_of  # noqa: F401 - a fixture
from tests.support.broker import Broker
from tests.support.workers import Workers
from tests.system.live import group, server, wait_until

pytestmark = [pytest.mark.boots, pytest.mark.once]


@pytest.fixture
def silent(customer, monkeypatch):
    """Return an event that is set when a key service, which does not answer, is asked for a signature."""
    asked, ended, answer = Event(), Event(), customer.google.kms.answer

    def wait(request):
        if ":asymmetricSign" in request.path and use.is_set():
            asked.set()
            ended.wait()
        return answer(request)

    use = Event()
    monkeypatch.setattr(customer.google.kms, "answer", wait)
    asked.begin = use.set
    yield asked
    ended.set()


def test_while_a_key_service_is_silent_a_code_a_poll_and_an_alert_go_through(
    customer,
    environment,  # noqa: F811
    silent,
    tmp_path,
):
    broker = Broker()
    broker.start()
    folder = tmp_path / "imports"
    folder.mkdir()
    (folder / "a.ndjson").write_text('{"decision_id": "polled"}\n{"not": "a record"}\n')
    os.utime(folder / "a.ndjson", (0, 0))
    try:
        with server(REDIS_URL=broker.url, CONNECTOR_DIRECTORIES=str(folder), **environment) as live:
            use_keys_of(live, customer)
            silent.begin()
            with live.client() as client:
                for number in range(20):
                    assert client.ingest(b'{"decision_id": "%d"}' % number).status == 202
            workers = {name: Workers(live).worker(",".join(queues)) for name, queues in settings.WORKER_QUEUES.items()}
            try:
                live.manage("shell", "-c", "from custody.tasks import reconcile; reconcile.delay()")
                wait_until(silent.is_set, "the worker waits for a signature")
                for name in ("custody", "letters", "storage"):
                    stop(workers[name])  # so that it waits for ever
                assert_neighbours_go_on(live, folder)
                assert live.sql("SELECT count(*) FROM custody_entry WHERE state = 'stored'") == [(1,)]
            finally:
                for worker in workers.values():
                    worker.kill()
    finally:
        broker.kill()


def stop(worker):
    for pid in group(worker.pid):
        os.kill(pid, signal.SIGSTOP)


def assert_neighbours_go_on(live, folder):
    live.manage("create_organization", "Other Bank", "--owner", "owner@other.example", "--slug", "other")
    key = live.manage("create_api_key", "--organization", "other", "--name", "test", "--role", "owner")
    with live.client(key) as other:
        asked = other.request("POST", "/v1/auth/otp/request", b'{"email": "owner@other.example"}')
        assert asked.status == 200
        wait_until(lambda: "code" in mails(live), "the code is mailed")
        made = other.request(
            "POST",
            "/v1/connectors",
            json.dumps({"kind": "directory", "name": "Loans", "config": {"path": str(folder)}}).encode(),
        )
        source = made.json()["source_id"]
        other.request("POST", f"/v1/connectors/{source}/poll")
        polled = wait_until(lambda: other.get(f"/v1/connectors/{source}").json()["last_run"], "it is polled")
        assert polled
        wait_until(lambda: other.get("/v1/decisions/polled").status == 200, "its record is taken")
        wait_until(lambda: "quarantine" in mails(live), "the alert is mailed")


def mails(live):
    return "\n".join(path.read_text() for path in (live.data_dir / "mail").glob("*")).lower()
