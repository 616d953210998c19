"""Group commit: items that tasks of an event loop store at the same time share a commit.

While one group is being stored, the next one collects. So no item waits for its group to fill, and groups grow with the
load.
"""

import asyncio
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Generic, NamedTuple, TypeVar

import structlog
from django.db import connection

from config import db
from config.errors import Fault

log = structlog.get_logger("group_commit")

_MAX_GROUP = 64
_SECONDS = 10.0

T = TypeVar("T")


class CommitLate(Fault):
    """The database did not store the item within ten seconds. If storing had begun, it may still succeed."""

    code = "commit_late"
    status = 503
    sentence = "The database does not answer. Repeat the same request: a record is never kept twice."


class Undecided(Fault):
    """An event loop does not know whether an item is stored. A thread finds out: storing the item again is safe."""

    code = "undecided"
    status = 503
    sentence = CommitLate.sentence


class _Waiting(NamedTuple, Generic[T]):
    item: T
    loop: asyncio.AbstractEventLoop
    done: "asyncio.Future[bool | Undecided]"


class GroupCommit(Generic[T]):
    """A background thread with its own database connection that stores items in groups.

    Args:
        store: stores one to 64 items, commits, and returns for each whether it is stored.
    """

    def __init__(self, name: str, store: Callable[[Sequence[T]], Sequence[bool]]) -> None:
        self.name, self.store = name, store
        self._queue: SimpleQueue[_Waiting[T]] = SimpleQueue()
        self._thread: threading.Thread | None = None

    async def add(self, item: T) -> bool:
        """Store an item. Return what `store` returns for it, once it is committed.

        Raises:
            Undecided: the item's group failed.
            CommitLate: the item was not stored within ten seconds. If its group had not begun, it never will be.
        """
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._run, name=self.name, daemon=True)
            self._thread.start()
        loop = asyncio.get_running_loop()
        waiting = _Waiting(item, loop, loop.create_future())
        self._queue.put(waiting)
        try:
            async with asyncio.timeout(_SECONDS):
                result = await waiting.done
        except TimeoutError:
            raise CommitLate(because=f"{self.name} is stuck") from None
        if isinstance(result, Undecided):
            raise result
        return result

    def _run(self) -> None:
        while True:
            group = [self._queue.get()]
            try:
                while len(group) < _MAX_GROUP:
                    group.append(self._queue.get_nowait())
            except Empty:
                pass
            group = [waiting for waiting in group if not waiting.done.done()]  # the others got a CommitLate
            if group:
                stored = self._stored([waiting.item for waiting in group])
                with suppress(RuntimeError):  # the loop is closed, so no task waits any more
                    group[0].loop.call_soon_threadsafe(_answer, group, stored)

    def _stored(self, items: Sequence[T]) -> Sequence[bool | Undecided]:
        try:
            return db.fresh(self.store)(items)
        except Exception as error:  # of one item or of the database: callers then store each item separately
            log.warning("group not stored", name=self.name, size=len(items), exc_info=error)
            connection.close()
            return [Undecided() for _ in items]


def _answer(group: Sequence[_Waiting[T]], stored: Sequence[bool | Undecided]) -> None:
    for waiting, is_stored in zip(group, stored, strict=True):
        if not waiting.done.done():
            waiting.done.set_result(is_stored)
