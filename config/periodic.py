"""Periodic work: an app registers each task beside its function, and the clock's schedule is collected from there."""

from collections.abc import Callable
from typing import Any

from kombu.entity import Queue

from config.celery import app

QUEUES = ("dispatch", "poll", "custody", "mail", "default")
"""A worker that is not told otherwise (`-Q`) takes from all of them."""

app.conf.task_queues = [Queue(name) for name in QUEUES]
app.conf.task_default_queue = "default"


def periodic(seconds: float, *, queue: str = "default") -> Callable[[Callable[[], None]], Any]:
    """Make a function a task for which the clock asks again and again.

    The message only wakes a worker: one that nobody took within the interval expires, for the next is on its way.

    Args:
        seconds: the interval.
        queue: one of QUEUES.
    """

    def register(function: Callable[[], None]) -> Any:
        name = f"{function.__module__}.{function.__name__}"
        app.add_periodic_task(seconds, app.signature(name), name=name, expires=seconds, queue=queue)
        return app.task(name=name, queue=queue)(function)

    return register
