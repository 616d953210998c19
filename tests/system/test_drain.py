"""SIGTERM drains a web server: what is under way is answered, and the server ends in time."""

import json
import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager

import pytest

from tests.system.live import Answer, Server, server, wait_until
from tests.threads import HANGS_SECONDS

WRITERS = 16
MAX_SECONDS = 10
ENOUGH = 100
"""Acknowledged records, so that all writers are busy."""


@contextmanager
def ends_in_time(live: Server) -> Iterator[None]:
    """Send SIGTERM, and require exit code 0 within the bound."""
    assert live.process is not None
    begun = time.monotonic()
    live.process.terminate()
    yield
    assert live.process.wait(HANGS_SECONDS) == 0
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
        with ends_in_time(live):
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
        with ends_in_time(live):
            answers = (future.result() for future in as_completed(asked))
            refused = [next(answers), next(answers)]
            release.write_bytes(b"")
            assert [answer.status for answer in answers] == [404] * 3
        assert [(answer.status, answer.headers["Retry-After"]) for answer in refused] == [(503, "5")] * 2
