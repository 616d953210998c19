"""Group commit: what many tasks of an event loop want stored at the same time shares a commit.

While one group is being stored, the next one gathers. So nobody waits for a group to fill, and the busier the process
is, the larger its groups become.
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

_MOST = 64
_SECONDS = 10.0

T = TypeVar("T")


class CommitLate(Fault):
    """The database did not store within ten seconds. It may yet, if it had begun."""

    code = "commit_late"
    status = 503
    sentence = "The database does not answer. Repeat the same request: a record is never kept twice."


class _Waiting(NamedTuple, Generic[T]):
    item: T
    loop: asyncio.AbstractEventLoop
    done: "asyncio.Future[bool]"


class GroupCommit(Generic[T]):
    """Stores items in groups, in a thread of its own with a database connection of its own.

    Args:
        store: takes one to 64 items, commits, and says of each whether it is stored.
    """

    def __init__(self, name: str, store: Callable[[Sequence[T]], Sequence[bool]]) -> None:
        self.name, self.store = name, store
        self._queue: SimpleQueue[_Waiting[T]] = SimpleQueue()
        self._thread: threading.Thread | None = None

    async def add(self, item: T) -> bool:
        """Whether the item was stored, and committed. If not, nothing is known of it: the database failed, or `store`
        did not say yes.

        Raises:
            CommitLate: it was not stored within ten seconds. If it had to wait for its group all the time, it never is.
        """
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._run, name=self.name, daemon=True)
            self._thread.start()
        loop = asyncio.get_running_loop()
        waiting = _Waiting(item, loop, loop.create_future())
        self._queue.put(waiting)
        try:
            async with asyncio.timeout(_SECONDS):
                return await waiting.done
        except TimeoutError:
            raise CommitLate(because=f"{self.name} is stuck") from None

    def _run(self) -> None:
        while True:
            group = [self._queue.get()]
            try:
                while len(group) < _MOST:
                    group.append(self._queue.get_nowait())
            except Empty:
                pass
            group = [each for each in group if not each.done.done()]  # whoever went away was told that it is not stored
            if group:
                stored = self._stored([each.item for each in group])
                with suppress(RuntimeError):  # the loop is closed, and nobody waits any more
                    group[0].loop.call_soon_threadsafe(_answer, group, stored)

    def _stored(self, items: Sequence[T]) -> Sequence[bool]:
        try:
            return db.fresh(self.store)(items)
        except Exception as error:  # one of them, or the database: each is tried by itself, where its fault has a name
            log.warning("group not stored", name=self.name, size=len(items), exc_info=error)
            connection.close()
            return [False] * len(items)


def _answer(group: Sequence[_Waiting[T]], stored: Sequence[bool]) -> None:
    for waiting, is_stored in zip(group, stored, strict=True):
        if not waiting.done.done():
            waiting.done.set_result(is_stored)
