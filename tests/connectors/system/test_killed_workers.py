"""Kills of workers, clocks and the broker during polls: each record is in custody once, and no poll runs twice."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.connectors.system.conftest import RUN_OUT, Source, count
from tests.support.forks import Fork
from tests.support.workers import BATCH, Workers, has_ended
from tests.system.live import Server, wait_until

RECORDS = 1000
HELD = "SELECT count(*) FROM connectors_connector WHERE lease_token IS NOT NULL"


def filled(made: Source, records: int) -> Source:
    for begin in range(0, records, BATCH):
        made.put(f"{begin}.ndjson", range(begin, begin + BATCH))
    made.connect()
    return made


def are_polled(sources: list[Source]) -> bool:
    return all("finished" in feed.outcomes() for feed in sources)


def test_a_worker_that_is_killed_again_and_again_loses_and_doubles_nothing(live: Server, working: Workers, source: Any):
    records, kills = 2 * RECORDS, 0
    loans = filled(source("loans"), records)
    while not are_polled([loans]):
        goal = loans.records() + random.randrange(1, records // 8)
        worker = working.poll()
        wait_until(lambda: has_ended(worker) or loans.records() >= goal, "records come")  # noqa: B023
        kills += not has_ended(worker)
        worker.kill()
        live.sql(RUN_OUT)
    assert kills >= 3
    assert loans.records() == records
    shown = loans.shown()
    assert shown["records"]["quarantined"] == 0
    assert shown["records"]["seen"] == records, "what was taken and not noted is not counted twice"
    assert count(live, "SELECT count(*) FROM connectors_ledgerrow") == records // BATCH


@pytest.fixture(scope="module")
def parts(working: Workers) -> Iterator[dict[str, list[Fork]]]:
    """Run two clocks and four workers for the module, because starting them is slow."""
    running = {"clock": [working.clock() for _ in range(2)], "worker": [working.worker() for _ in range(4)]}
    yield running
    for processes in running.values():
        for process in processes:
            process.kill()


@contextmanager
def killed(parts: dict[str, list[Fork]], part: str, working: Workers) -> Iterator[None]:
    """Kill one process of a part, and start another one afterwards."""
    parts[part].pop(random.randrange(len(parts[part]))).kill()
    yield
    parts[part].append(getattr(working, part)())


@pytest.mark.once
def test_with_two_clocks_and_four_workers_no_poll_runs_twice(parts: dict[str, list[Fork]], source: Any):
    sources = [filled(source(f"feed{number}"), BATCH) for number in range(10)]
    wait_until(lambda: are_polled(sources), "all are polled")
    assert [feed.outcomes() for feed in sources] == [["finished"]] * 10
    for feed in sources:
        assert feed.shown()["records"] == {"seen": BATCH, "new": BATCH, "repeated": 0, "quarantined": 0}


@pytest.mark.once
def test_killing_workers_clocks_and_the_broker_loses_and_doubles_nothing(
    live: Server, working: Workers, broker: Any, parts: dict[str, list[Fork]], source: Any
):
    sources = [filled(source(f"source{number}"), RECORDS) for number in range(3)]

    def records() -> int:
        return sum(feed.records() for feed in sources)

    def some_more() -> None:
        goal = min(records() + random.randrange(1, RECORDS), 3 * RECORDS)
        wait_until(lambda: records() >= goal, "more records come")

    some_more()
    for part in ("worker", "clock", "worker"):
        with killed(parts, part, working):
            live.sql(RUN_OUT)
            some_more()
    broker.kill()
    some_more()
    sources.append(filled(source("meanwhile"), RECORDS))
    broker.start()
    live.sql(RUN_OUT)
    wait_until(lambda: are_polled(sources), "all are polled")
    late = filled(source("late"), BATCH)
    wait_until(lambda: are_polled([late]), "clocks and workers have found the broker again")
    assert [feed.records() for feed in sources] == [RECORDS] * 4
    assert [feed.shown()["records"]["quarantined"] for feed in sources] == [0] * 4
