import asyncio
from collections.abc import Callable, Hashable
from concurrent.futures import Executor
from typing import Generic, TypeVar

from config import db

K = TypeVar("K", bound=Hashable)


class SingleFlight(Generic[K]):
    """Calls of database functions in an executor's threads. Concurrent calls with the same key share one."""

    def __init__(self, executor: Executor) -> None:
        self.executor = executor
        self._calls: dict[K, asyncio.Future[object]] = {}

    async def __call__(self, key: K, function: Callable[[K], object]) -> None:
        """Call the function, or wait for its running call with this key. Raises what the function raises."""
        call = self._calls.get(key)
        if call is None:
            call = asyncio.get_running_loop().run_in_executor(self.executor, db.fresh(function), key)
            self._calls[key] = call
            call.add_done_callback(lambda _: self._calls.pop(key))
        await asyncio.shield(call)
