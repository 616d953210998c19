"""Group commit: each caller gets the result of its item, and a failed group does not affect the next."""

import asyncio
import threading

import pytest

from config import group_commit
from config.group_commit import CommitLate, GroupCommit, Undecided
from tests.support.loops import run
from tests.threads import HANGS_SECONDS


def added(store, *items):
    """Return the results of items that are all added at once."""

    async def add_all():
        commit = GroupCommit("test", store)
        return await asyncio.gather(*(commit.add(item) for item in items))

    return run(add_all())


def test_each_caller_gets_the_result_of_its_item():
    assert added(lambda items: [item % 3 == 0 for item in items], *range(200)) == [n % 3 == 0 for n in range(200)]


def test_items_that_wait_while_a_group_is_stored_form_the_next_groups_of_at_most_64():
    first, gathered, sizes = threading.Event(), threading.Event(), []

    def store(items):
        sizes.append(len(items))
        if len(sizes) == 1:
            first.set()
            assert gathered.wait(HANGS_SECONDS)
        return [True] * len(items)

    async def add_all():
        commit = GroupCommit("test", store)
        begun = asyncio.create_task(commit.add(0))
        await asyncio.get_running_loop().run_in_executor(None, first.wait, HANGS_SECONDS)
        others = [asyncio.create_task(commit.add(item)) for item in range(100)]
        await asyncio.sleep(0)  # until all of them wait
        gathered.set()
        return await asyncio.gather(begun, *others)

    assert all(run(add_all()))
    assert sizes == [1, 64, 36]


def test_items_of_a_failed_group_are_undecided_but_the_next_group_is_stored():
    def store(items):
        if "poison" in items:
            raise ValueError
        return [True] * len(items)

    async def add_two_groups():
        commit = GroupCommit("test", store)
        failed = await asyncio.gather(commit.add("good"), commit.add("poison"), return_exceptions=True)
        return [[type(error) for error in failed], await commit.add("good")]

    assert run(add_two_groups()) == [[Undecided, Undecided], True]


def test_waiting_for_a_stuck_committer_times_out(monkeypatch):
    monkeypatch.setattr(group_commit, "_SECONDS", 0.01)
    goes_on = threading.Event()

    def store(items):
        assert goes_on.wait(HANGS_SECONDS)
        return [True] * len(items)

    async def add():
        commit = GroupCommit("test", store)
        with pytest.raises(CommitLate):
            await commit.add(1)
        goes_on.set()

    run(add())


def test_an_item_whose_caller_timed_out_is_not_stored(monkeypatch):
    """The caller was asked to retry, so storing the item long afterwards would surprise it."""
    goes_on, stored = threading.Event(), []

    def store(items):
        stored.extend(items)
        assert goes_on.wait(HANGS_SECONDS)
        return [True] * len(items)

    async def add_three():
        commit = GroupCommit("test", store)
        begun = asyncio.create_task(commit.add("begun"))
        while not stored:
            await asyncio.sleep(0)
        monkeypatch.setattr(group_commit, "_SECONDS", 0.01)
        with pytest.raises(CommitLate):
            await commit.add("given up")
        monkeypatch.setattr(group_commit, "_SECONDS", HANGS_SECONDS)
        goes_on.set()
        return [await begun, await commit.add("next")]

    assert run(add_three()) == [True, True]
    assert stored == ["begun", "next"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_committer_that_died_is_replaced(monkeypatch):
    monkeypatch.setattr(group_commit, "_SECONDS", 0.01)

    def store(items):
        if items == ["deadly"]:
            raise SystemExit  # not an Exception, so it ends the thread
        return [True] * len(items)

    async def add_two():
        commit = GroupCommit("test", store)
        with pytest.raises(CommitLate):
            await commit.add("deadly")
        commit._thread.join()
        monkeypatch.setattr(group_commit, "_SECONDS", HANGS_SECONDS)
        return await commit.add("good")

    assert run(add_two()) is True
