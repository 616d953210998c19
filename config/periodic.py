"""Periodic work: an app registers each task beside its function, and the clock's schedule is collected from there."""

from collections.abc import Callable
from typing import Any

from config.celery import app

_queues: dict[str, str] = {}


def periodic(seconds: float, *, queue: str = "default") -> Callable[[Callable[[], None]], Any]:
    """Make a function a task for which the clock asks again and again.

    The message only wakes a worker: one that nobody took within the interval expires, for the next is on its way.

    Args:
        seconds: the interval.
        queue: one of those that settings declare.
    """

    def register(function: Callable[[], None]) -> Any:
        name = f"{function.__module__}.{function.__name__}"
        _queues[name] = queue
        app.add_periodic_task(seconds, app.signature(name), name=name, expires=seconds)
        return app.task(name=name)(function)

    return register


def route(name: str, *_: Any, **__: Any) -> dict[str, str] | None:
    """The queue of a task, for Celery: whether the clock sends it or a request does."""
    return {"queue": _queues[name]} if name in _queues else None
