"""Puts of single records in an event loop."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from config.group_commit import CommitLate
from custody.services.complete import Put

_THREADS = 64
_SECONDS = 10.0


class GroupPuts:
    """Puts in parallel, limited for each vault by its `parallel_puts`: a slow vault delays only its own records."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(_THREADS, "puts")
        self._turns: dict[str, asyncio.Semaphore] = {}

    async def put(self, target_id: str, parallel: int, work: Callable[[], Put]) -> Put:
        """Run a put in a thread. `work` uses only its vault. Raises CommitLate: it did not end in ten seconds."""
        turn = self._turns.setdefault(target_id, asyncio.Semaphore(parallel))
        try:
            async with asyncio.timeout(_SECONDS):
                await turn.acquire()
                call = asyncio.get_running_loop().run_in_executor(self._pool, work)
                call.add_done_callback(lambda _: turn.release())  # a late put keeps its turn until it ends
                return await asyncio.shield(call)
        except TimeoutError:
            raise CommitLate(because=f"the vault {target_id} takes too long") from None
