"""Periodic tasks: apps register each beside its function, which builds the clock's schedule."""

from collections.abc import Callable
from typing import Any

from config.celery import app

SLICE_SECONDS = 5.0
"""Length of a slice of a long task, which then wakes itself. Other tasks of its queue run between slices."""

_queues: dict[str, str] = {}


def periodic(seconds: float, *, queue: str = "default") -> Callable[[Callable[[], None]], Any]:
    """Make a function a task that the clock starts at an interval.

    The message only wakes a worker. It expires after the interval, when the next one is sent.

    Args:
        seconds: the interval.
        queue: a queue declared in settings.
    """

    def register(function: Callable[[], None]) -> Any:
        name = f"{function.__module__}.{function.__name__}"
        _queues[name] = queue
        app.add_periodic_task(seconds, app.signature(name), name=name, expires=seconds)
        return app.task(name=name)(function)

    return register


def route(name: str, *_: Any, **__: Any) -> dict[str, str] | None:
    """Return the queue of a task, whether the clock or a request sends it. Celery calls this."""
    return {"queue": _queues[name]} if name in _queues else None
