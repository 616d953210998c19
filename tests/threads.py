"""Concurrent calls in threads."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import connections

HANGS_SECONDS = 180
"""The timeout after which a test counts as hanging. It is far longer than a busy computer takes, and costs nothing in a
passing test."""


def at_once(count: int, call: Callable[[int], Any]) -> list[Any]:
    """Start `call(0)` … `call(count - 1)` together, each in a thread with its own connection. Return their results."""
    barrier = threading.Barrier(count)

    def one(number: int) -> Any:
        barrier.wait()
        try:
            return call(number)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(count)))
