"""SIGTERM ends web servers and workers in time. Running requests are answered, and interrupted tasks redone."""

import json
import os
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager

import pytest

from config.management.commands.serve import WORKER, WORKER_ENVIRONMENT
from tests.databases import CHECKOUT
from tests.support.forks import Fork
from tests.system.live import Answer, Server, server, wait_until
from tests.system.test_leases import OF_A_LEASE, a_code_waits, mails, work
from tests.threads import HANGS_SECONDS

WRITERS = 16
MAX_SECONDS = 10
ENOUGH = 100
"""Acknowledged records, so that all writers are busy."""


@contextmanager
def ends_in_time(process: "Fork | subprocess.Popen[bytes] | None") -> Iterator[None]:
    """Send SIGTERM, and require exit code 0 within the bound."""
    assert process is not None
    begun = time.monotonic()
    process.terminate()
    yield
    assert process.wait(HANGS_SECONDS) == 0
    assert time.monotonic() - begun < MAX_SECONDS


def count(live: Server, line: str) -> int:
    return live.log.read_text().splitlines().count(line)


def test_every_acknowledged_record_of_many_writers_is_there_after_sigterm():
    acknowledged: list[str] = []
    enough = threading.Event()

    def write(live: Server, writer: int) -> None:
        with live.client() as client:
            for number in range(1_000_000):
                record = f"writer-{writer}-{number}"
                try:
                    answer = client.ingest(json.dumps({"decision_id": record}).encode())
                except ConnectionError:  # refused, or an idle connection that the server has closed
                    return
                assert answer.status == 201
                acknowledged.append(record)
                if len(acknowledged) >= ENOUGH:
                    enough.set()

    with server() as live, ThreadPoolExecutor(WRITERS) as pool:
        writers = [pool.submit(write, live, number) for number in range(WRITERS)]
        assert enough.wait(HANGS_SECONDS)
        with ends_in_time(live.process):
            for writer in writers:
                writer.result()
        stored = {record for (record,) in live.sql("SELECT decision_id FROM decisions_decision")}
    assert set(acknowledged) <= stored


@pytest.mark.once
def test_after_sigterm_running_requests_end_and_waiting_ones_are_told_to_come_back():
    def hold(live: Server) -> Answer:
        with live.client() as client:
            return client.get("/hold")

    application = "tests.support.holding:application"
    with server(workers=1, application=application) as live, ThreadPoolExecutor(5) as pool:
        release = live.data_dir / "release"
        os.mkfifo(release)
        asked = [pool.submit(hold, live) for _ in range(5)]
        wait_until(lambda: count(live, "asks") == 5 and count(live, "has a thread") == 3, "three run and two wait")
        with ends_in_time(live.process):
            answers = (future.result() for future in as_completed(asked))
            refused = [next(answers), next(answers)]
            release.write_bytes(b"")
            assert [answer.status for answer in answers] == [404] * 3
        assert [(answer.status, answer.headers["Retry-After"]) for answer in refused] == [(503, "5")] * 2


@pytest.mark.once
def test_after_sigterm_a_worker_interrupts_its_task_and_another_redoes_it():
    task = "accounts.tasks.deliver_mail"
    with server() as live, socket.create_server(("127.0.0.1", 0)) as silent:
        mail = {"EMAIL_URL": f"smtp://127.0.0.1:{silent.getsockname()[1]}"}
        environment = {**live.environment, **WORKER_ENVIRONMENT, **mail}
        a_code_waits(live)
        with (live.directory / "worker.log").open("wb") as log:
            worker = subprocess.Popen(WORKER, env=environment, cwd=CHECKOUT, stdout=log, stderr=log)
        try:
            silent.settimeout(HANGS_SECONDS)
            connection, _ = silent.accept()
            with connection, ends_in_time(worker):
                assert connection.recv(1) == b""  # the worker has interrupted its task
        finally:
            worker.kill()
        assert mails(live) == []
        live.sql(f"UPDATE {OF_A_LEASE[task]} SET lease_until = '2000-01-01 00:00:00+00:00'")
        assert work(live, task, "go on").wait(HANGS_SECONDS) == 0
        assert len(mails(live)) == 1
