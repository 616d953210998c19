"""Trials of settings that a user has entered and waits for, limited in time and number."""

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
_MAX_CONCURRENT = 2

T = TypeVar("T")


class TestsBusy(DomainError):
    """The limit of concurrent tests is reached."""

    code: ClassVar = "tests_busy"
    status: ClassVar = 429
    retry_after = SECONDS
    sentence = "Another test is under way. Try again in a few seconds."


class Trials:
    """Trials of one kind: at most two at once in a process, and one for an organization on all machines."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._slots = threading.BoundedSemaphore(_MAX_CONCURRENT)
        self._threads = ThreadPoolExecutor(_MAX_CONCURRENT, thread_name_prefix=name)

    def run(self, organization_id: uuid.UUID, attempt: Callable[[], T], *, seconds: float) -> T:
        """Run the attempt in a thread, without the database, and return its result.

        An attempt that never returns keeps its thread and its slot.

        Raises:
            TestsBusy
            concurrent.futures.TimeoutError: the attempt did not return in time.
        """
        release = self._slot(organization_id, seconds)

        def attempt_and_release() -> T:
            try:
                return attempt()
            finally:  # before the caller has the result and may start the next attempt
                release()

        return self._threads.submit(attempt_and_release).result(timeout=seconds)

    def _slot(self, organization_id: uuid.UUID, seconds: float) -> Callable[[], None]:
        """Take one of the process's slots and the organization's only one. Return a function that releases both."""
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
                if cache.get(key) == token:  # otherwise it expired, and another test has begun
                    cache.delete(key)
            lock.close()
            self._slots.release()

        return release


def _lock(name: str) -> TextIO | None:
    """Return a lock among this machine's processes, held until it is closed, or None if another process holds it."""
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
    """Whether no other machine runs a test for the organization. Without Redis this is unknown, and assumed."""
    try:
        return bool(cache.add(key, token, int(seconds) + 5))
    except RedisError as error:
        log.warning("tests are not counted together", exc_info=error)
        return True
