"""Turns at a limited resource, such as threads, that groups of users share fairly."""

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import Awaitable, Callable

MAX_WAIT_SECONDS = 10.0
"""After that a client gets a 503 and can retry, before its own timeout."""


class Busy(Exception):
    """The queue is full, or no place became free in time."""


class Left(Exception):
    """The client disconnected before it had a place."""


class Turns:
    """Places, and the queues of groups that wait for one.

    A group alone may take all places but one, which stays free for another group. While others wait, it may take half.
    Waiting groups are served in turn.

    Args:
        places: the number of places.
        waiting: limit of those who have a place or wait for one. Each group may use half of it. When it is reached, the
            group with the longest queue makes room for the others.
    """

    def __init__(self, places: int, waiting: int) -> None:
        self.places, self.waiting = places, waiting
        self.taken: Counter[str] = Counter()
        self._queues: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @property
    def count(self) -> int:
        """Return how many have a place or wait for one."""
        return self.taken.total() + sum(map(len, self._queues.values()))

    async def take(self, group: str, leave: Callable[[], Awaitable[object]] | None = None) -> None:
        """Wait for a place, `MAX_WAIT_SECONDS` at most.

        Args:
            leave: returns once the client has disconnected. Not called if a place is free.

        Raises:
            Busy, Left
        """
        turn = self._queue(group)
        if turn.done():
            return
        leaving = asyncio.ensure_future(leave()) if leave else asyncio.get_running_loop().create_future()
        try:
            await asyncio.wait((turn, leaving), timeout=MAX_WAIT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if not turn.done():
                raise Left if leaving.done() else Busy
        except asyncio.CancelledError:
            if turn.done() and not turn.exception():
                self.give(group)
            raise
        finally:
            leaving.cancel()
            self._withdraw(group, turn)
        turn.result()

    def give(self, group: str) -> None:
        """Give a place back."""
        self.taken[group] -= 1
        if not self.taken[group]:
            del self.taken[group]
        self._hand_out()

    def close(self) -> None:
        """Refuse all who wait, and all later ones. Places already taken stay taken."""
        self.waiting = 0
        for queue in self._queues.values():
            for turn in queue:
                turn.set_exception(Busy())
        self._queues.clear()

    def _queue(self, group: str) -> asyncio.Future[None]:
        """Return a future that is done once `group` has a place. Raises Busy."""
        own = len(self._queues.get(group, ()))
        if self.taken[group] + own >= max(self.waiting // 2, 1):
            raise Busy
        if self.count >= self.waiting:
            self._refuse_another(own)
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queues.setdefault(group, deque()).append(turn)
        self._hand_out()
        return turn

    def _withdraw(self, group: str, turn: asyncio.Future[None]) -> None:
        """Take a turn out of its queue, if it is still there."""
        queue = self._queues.get(group, deque())
        if turn in queue:
            queue.remove(turn)
            if not queue:
                del self._queues[group]
                self._hand_out()  # the other groups' share may have grown

    def _refuse_another(self, own: int) -> None:
        """Refuse the last of the longest queue. Raises Busy unless it is longer than `own` plus the new turn."""
        longest = max(self._queues, key=lambda group: len(self._queues[group]), default=None)
        if longest is None or len(self._queues[longest]) <= own + 1:
            raise Busy
        self._queues[longest].pop().set_exception(Busy())

    def _hand_out(self) -> None:
        while self.taken.total() < self.places and (group := self._next()) is not None:
            queue = self._queues.pop(group)
            turn = queue.popleft()
            if queue:
                self._queues[group] = queue  # behind the others
            self.taken[group] += 1
            turn.set_result(None)

    def _next(self) -> str | None:
        share = self.places // 2 if len(self._queues) > 1 else self.places - 1
        return next((group for group in self._queues if self.taken[group] < max(share, 1)), None)
