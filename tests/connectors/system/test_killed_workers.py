"""Workers, clocks and the broker are killed while sources are polled: every record is in custody once, none is missing,
and no poll runs twice."""

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
    return all("finished" in each.outcomes() for each in sources)


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
    """Two clocks and four workers, from here on: to start them takes longer than what they then do."""
    running = {"clock": [working.clock() for _ in range(2)], "worker": [working.worker() for _ in range(4)]}
    yield running
    for each in running.values():
        for process in each:
            process.kill()


@contextmanager
def killed(parts: dict[str, list[Fork]], part: str, working: Workers) -> Iterator[None]:
    """One of the parts is away, and then another takes its place."""
    parts[part].pop(random.randrange(len(parts[part]))).kill()
    yield
    parts[part].append(getattr(working, part)())


@pytest.mark.once
def test_with_two_clocks_and_four_workers_no_poll_runs_twice(parts: dict[str, list[Fork]], source: Any):
    sources = [filled(source(f"feed{number}"), BATCH) for number in range(10)]
    wait_until(lambda: are_polled(sources), "all are polled")
    assert [each.outcomes() for each in sources] == [["finished"]] * 10
    for each in sources:
        assert each.shown()["records"] == {"seen": BATCH, "new": BATCH, "repeated": 0, "quarantined": 0}


@pytest.mark.once
def test_killing_workers_clocks_and_the_broker_loses_and_doubles_nothing(
    live: Server, working: Workers, broker: Any, parts: dict[str, list[Fork]], source: Any
):
    sources = [filled(source(f"source{number}"), RECORDS) for number in range(3)]

    def records() -> int:
        return sum(each.records() for each in sources)

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
    assert [each.records() for each in sources] == [RECORDS] * 4
    assert [each.shown()["records"]["quarantined"] for each in sources] == [0] * 4
