"""Overtaken polls: a worker paused before it writes its cursor never writes an old one, and no record is lost."""

import itertools
import os
from typing import Any

import pytest

from tests.connectors.system.conftest import RUN_OUT, Source
from tests.support.workers import BATCH, go_on, has_ended, has_stopped
from tests.system.live import wait_until

FILE = 2 * BATCH
RECORDS = 3 * FILE
# What is conditional in the database runs on both in tests/connectors/test_polling.py.
pytestmark = pytest.mark.once
numbers = itertools.count()


@pytest.fixture
def loans(source: Any) -> Source:
    """Connect a source of three files with two batches each."""
    made = source(f"loans{next(numbers)}")
    for number in range(3):
        made.put(f"{number}.ndjson", range(number * FILE, (number + 1) * FILE))
    made.connect()
    return made


@pytest.fixture
def stopped(loans: Source, working: Any) -> Any:
    """Pause a worker that has taken the third batch, before it writes its cursor."""
    worker = working.poll(stop_at=3)
    wait_until(lambda: has_stopped(worker), "the worker is paused")
    assert (loans.records(), loans.shown()["records"]["seen"]) == (3 * BATCH, 2 * BATCH)
    yield worker
    worker.kill()


def poll(working: Any, **options: Any) -> None:
    worker = working.poll(**options)
    wait_until(lambda: has_ended(worker), "the poll has ended")


def state(loans: Source) -> tuple[Any, ...]:
    shown = loans.shown()
    run = shown.pop("last_run")
    del shown["lag_seconds"]
    return shown, run["outcome"]


def test_a_worker_stopped_past_its_lease_writes_no_cursor(loans, stopped, working):
    loans.live.sql(RUN_OUT)
    poll(working)
    done = state(loans)
    assert (loans.records(), done[1]) == (RECORDS, "finished")
    go_on(stopped)
    assert state(loans) == done
    assert sorted(loans.outcomes()) == ["finished", "overtaken"]


def test_a_worker_whose_clock_is_ahead_takes_over_and_the_other_one_writes_no_cursor(loans, stopped, working):
    poll(working, ahead=3600)
    done = state(loans)
    assert (loans.records(), done[1]) == (RECORDS, "finished")
    go_on(stopped)
    assert state(loans) == done


def test_a_worker_whose_clock_is_behind_takes_nothing_over(loans, stopped, working):
    poll(working, ahead=-3600)
    assert loans.outcomes() == ["running"]
    go_on(stopped)
    assert (loans.records(), loans.outcomes()) == (RECORDS, ["finished"])


@pytest.mark.parametrize("change", ["config", "disable", "reset"])
def test_a_change_during_a_poll_is_not_written_over(loans, stopped, working, change):
    config = {"path": str(loans.folder), "pattern": "*.ndjson"}
    loans.patch(
        **{"config": {"config": config}, "disable": {"enabled": False}, "reset": {"reset_cursor": True}}[change]
    )
    changed = loans.shown()
    go_on(stopped)
    after = loans.shown()
    assert (after["cursor"], after["records"]) == (changed["cursor"], changed["records"])
    assert after["last_run"]["outcome"] == "overtaken"
    poll(working)
    if change == "disable":
        assert loans.records() == 3 * BATCH, "it is polled no more"
        loans.patch(enabled=True)
        poll(working)
    assert loans.records() == RECORDS
    assert loans.shown()["records"]["repeated"] == (3 * BATCH if change == "reset" else BATCH)


def test_a_connector_that_is_deleted_during_a_poll_stays_deleted(loans, stopped, working):
    loans.delete()
    go_on(stopped)
    assert loans.records() == 3 * BATCH, "what it brought stays in custody"
    for table in ("connector", "pollrun", "ledgerrow", "quarantined"):
        assert not loans.live.sql(f"SELECT 1 FROM connectors_{table}")


def test_a_source_that_changes_under_the_cursor_gives_every_record(loans, stopped, working):
    """Grow the file that the worker reads, replace the one before, move the last, and add a new one."""
    loans.put("1.ndjson", range(FILE, 2 * FILE + BATCH))
    loans.put("0.ndjson", range(-10, FILE))
    loans.put("00.ndjson", range(2 * RECORDS, 2 * RECORDS + 10))
    os.rename(loans.folder / "2.ndjson", loans.folder / "000.ndjson")
    go_on(stopped)
    loans.poll_soon()
    poll(working)
    assert loans.records() == 10 + RECORDS + 10
    assert set(loans.outcomes()) == {"finished"}


def test_a_worker_that_is_killed_costs_its_lease_and_no_record(loans, stopped, working):
    stopped.kill()
    poll(working)
    assert loans.outcomes() == ["running"], "its lease is not over"
    loans.live.sql(RUN_OUT)
    poll(working)
    assert (loans.records(), loans.outcomes()) == (RECORDS, ["running", "finished"])
    assert loans.shown()["records"]["repeated"] == BATCH


def test_a_backlog_that_takes_longer_than_a_worker_s_time_is_taken_on_where_it_was_left(source, working):
    backlog = source("backlog")
    for number in range(3):
        backlog.put(f"{number}.ndjson", range(number * 2, (number + 1) * 2))
    backlog.connect()
    for _ in range(20):
        poll(working, seconds=0.001)
        if "finished" in (outcomes := backlog.outcomes()):
            break
    assert outcomes.count("more") >= 6
    assert backlog.shown()["records"] == {"seen": 6, "new": 6, "repeated": 0, "quarantined": 0}
