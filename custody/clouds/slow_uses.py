import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from config import request_log
from custody.vaults import VaultUnavailable

SLOW_SECONDS = 1.0
MAX_SLOW = 2


class SlowUses:
    """Uses of one bucket by requests of this process. While two take longer than a second, further ones are refused.

    A use occupies a thread that requests of other organizations need. Workers and bulk puts have their own threads.
    """

    def __init__(self) -> None:
        self._began: list[float] = []
        self._lock = Lock()

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count a use while it lasts. Raises VaultUnavailable."""
        if not request_log.is_answering.get():
            yield
            return
        now = time.monotonic()
        with self._lock:
            if sum(now - began > SLOW_SECONDS for began in self._began) >= MAX_SLOW:
                raise VaultUnavailable(because="the bucket takes too long, and other requests wait for it")
            self._began.append(now)
        try:
            yield
        finally:
            with self._lock:
                self._began.remove(now)


def patience() -> float:
    """Return how many seconds this thread may wait for another thread's use; -1 for no limit."""
    return SLOW_SECONDS if request_log.is_answering.get() else -1
