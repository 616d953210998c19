"""Workers and beat are killed while sources are polled: every record is in custody once, and none is missing."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.system.live import CHECKOUT, Server, server, wait_until
from tests.throwaway import redis

RECORDS, FILES = 5000, 10
POLL = "import django; django.setup(); from connectors import services; services.poll_due()"
LEASED = "SELECT count(*) FROM connectors_connector WHERE lease_token IS NOT NULL"
IDS = "SELECT count(*), count(DISTINCT decision_id) FROM decisions_decision"
RUN_OUT = "UPDATE connectors_connector SET lease_until = '2000-01-01 00:00:00+00:00' WHERE lease_token IS NOT NULL"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files that were written a minute ago."""
    each = RECORDS // FILES
    for number in range(FILES):
        path = tmp_path / f"{number}.ndjson"
        path.write_text("".join(f'{{"decision_id": "loan-{number * each + n}"}}\n' for n in range(each)))
        os.utime(path, (time.time() - 60, time.time() - 60))
    return tmp_path


def create(live: Server, folder: Path, pattern: str = "*") -> str:
    body = {
        "kind": "directory",
        "name": "Loans",
        "config": {"path": str(folder), "pattern": pattern},
        "schedule_seconds": 86_400,
    }
    with live.client() as client:
        answer = client.request("POST", "/v1/connectors", json.dumps(body).encode())
    assert answer.status == 201, answer.body
    assert answer.json()["problems"] == []
    return answer.json()["source_id"]


@contextmanager
def process(live: Server, *command: str) -> Iterator["subprocess.Popen[bytes]"]:
    environment = live.environment | {"DJANGO_SETTINGS_MODULE": "config.settings"}
    with live.log.open("ab") as log:
        started = subprocess.Popen(
            [sys.executable, "-W", "ignore", *command],
            cwd=CHECKOUT, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    try:
        yield started
    finally:
        kill(started)


def kill(started: "subprocess.Popen[bytes]") -> None:
    if started.poll() is None:
        os.killpg(started.pid, signal.SIGKILL)
    started.wait()


def count(live: Server, statement: str) -> int:
    return int(live.sql(statement)[0][0])


def test_a_worker_that_is_killed_again_and_again_loses_and_doubles_nothing(folder):
    with server(CONNECTOR_DIRECTORIES=str(folder)) as live:
        source_id = create(live, folder)
        kills = 0
        for _ in range(60):
            before = count(live, IDS)
            with process(live, "-c", POLL) as worker:
                goal = before + random.randrange(1, RECORDS // 4)
                wait_until(lambda: worker.poll() is not None or count(live, IDS) >= goal, "records come")  # noqa: B023
                kills += worker.poll() is None
            if not count(live, LEASED):
                break
            live.sql(RUN_OUT)
        assert kills >= 3
        assert [tuple(row) for row in live.sql(IDS)] == [(RECORDS, RECORDS)]
        with live.client() as client:
            shown = client.get(f"/v1/connectors/{source_id}").json()
        assert shown["last_run"]["outcome"] == "finished"
        assert (shown["records"]["quarantined"], shown["in_quarantine"]) == (0, 0)
        assert count(live, "SELECT count(*) FROM connectors_ledgerrow") == FILES


def celery(role: str, *options: str) -> list[str]:
    return ["-m", "celery", "-A", "config", role, *options]


def test_with_two_beats_and_four_workers_no_poll_runs_twice_and_killing_any_of_them_loses_nothing(folder, tmp_path):
    with redis() as url, server(CONNECTOR_DIRECTORIES=str(folder), REDIS_URL=url) as live, ExitStack() as running:
        for number in range(FILES):
            create(live, folder, f"{number}.*")
        beats = [
            running.enter_context(process(live, *celery("beat", "-s", str(tmp_path / f"beat-{n}")))) for n in range(2)
        ]
        worker = celery("worker", "--concurrency", "1", "-Q", "dispatch,poll", "--without-mingle")
        workers = [running.enter_context(process(live, *worker, "-n", f"w{n}@%h")) for n in range(4)]
        wait_until(lambda: count(live, IDS) > 0, "the first records come", 90)
        kill(workers[0])
        kill(beats[0])
        finished = "SELECT count(*) FROM connectors_pollrun WHERE outcome = 'finished'"
        before = -1
        while (after := count(live, finished)) != before:  # until only what the killed worker held is left
            before = after
            time.sleep(15)
        live.sql(RUN_OUT)
        wait_until(lambda: count(live, finished) >= FILES, "what the killed worker held is polled", 120)
        assert [tuple(row) for row in live.sql(IDS)] == [(RECORDS, RECORDS)]
        outcomes = [outcome for (outcome,) in live.sql("SELECT outcome FROM connectors_pollrun")]
        assert outcomes.count("finished") == FILES
        assert set(outcomes) <= {"finished", "running"}
        assert len(outcomes) <= FILES + 1
