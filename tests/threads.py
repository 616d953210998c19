"""Callers that come at the same time."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import connections

HANGS_SECONDS = 180
"""Who has waited so long for what should happen says that it hangs. It is far more than a busy computer takes, and
costs nothing where all is well."""


def at_once(count: int, call: Callable[[int], Any]) -> list[Any]:
    """What `call(0)` … `call(count - 1)` return, started together, each in a thread with a connection of its own."""
    barrier = threading.Barrier(count)

    def one(number: int) -> Any:
        barrier.wait()
        try:
            return call(number)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(count)))
