"""Trying out what somebody entered, while they wait: in bounded time, and not too many at once."""

import fcntl
import threading
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import ClassVar, TextIO, TypeVar

import structlog
from django.conf import settings
from django.core.cache import cache
from redis.exceptions import RedisError

from config.errors import DomainError

log = structlog.get_logger("config.trials")

SECONDS = 10
_AT_ONCE = 2

T = TypeVar("T")


class TestsBusy(DomainError):
    """As many tests are under way as may be at once."""

    code: ClassVar = "tests_busy"
    status: ClassVar = 429
    retry_after = SECONDS
    sentence = "Another test is under way. Try again in a few seconds."


class Trials:
    """Trials of one kind: two at once in a process, and one of an organization on all machines."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._slots = threading.BoundedSemaphore(_AT_ONCE)
        self._threads = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix=name)

    def run(self, organization_id: uuid.UUID, attempt: Callable[[], T], *, seconds: float) -> T:
        """What the attempt returns. It runs in a thread of its own, without the database; one that does not come back
        keeps its thread, and with it the slot.

        Raises:
            TestsBusy
            concurrent.futures.TimeoutError: it did not come back in time.
        """
        release = self._slot(organization_id, seconds)

        def attempt_and_release() -> T:
            try:
                return attempt()
            finally:  # before anybody has the result, and with it may come again
                release()

        return self._threads.submit(attempt_and_release).result(timeout=seconds)

    def _slot(self, organization_id: uuid.UUID, seconds: float) -> Callable[[], None]:
        """Take one of the process's slots, and the organization's only one. Returns what gives them back."""
        key, token = f"{self._name}-{organization_id}", uuid.uuid4().hex
        if not self._slots.acquire(blocking=False):
            raise TestsBusy
        lock = _lock(key)
        if lock is None or not _is_free_elsewhere(key, token, seconds):
            if lock:
                lock.close()
            self._slots.release()
            raise TestsBusy

        def release() -> None:
            with suppress(RedisError):
                if cache.get(key) == token:  # else it took so long that another test has begun
                    cache.delete(key)
            lock.close()
            self._slots.release()

        return release


def _lock(name: str) -> TextIO | None:
    """A lock that the processes of this machine share, until it is closed; None if another holds it."""
    folder = settings.DATA_DIR / "locks"
    folder.mkdir(mode=0o700, exist_ok=True)
    file = (folder / name).open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    return file


def _is_free_elsewhere(key: str, token: str, seconds: float) -> bool:
    """Whether no other machine tests for the organization. While Redis is away, machines do not know of each other."""
    try:
        return bool(cache.add(key, token, int(seconds) + 5))
    except RedisError as error:
        log.warning("tests are not counted together", exc_info=error)
        return True
