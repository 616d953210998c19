"""Lanes: requests that an app answers in the event loop, without Django, because there are so many of them.

A lane answers what goes the usual way, and nothing else: whatever it leaves is answered by Django, so that every other
answer has one implementation.
"""

from collections.abc import Awaitable, Callable

from config.http.messages import Answer, Request

Lane = Callable[[Request, bytes], Awaitable[Answer | None]]
"""Takes a request without a query, and its body. None: Django is to answer it."""

MOST_BYTES = 64 * 2**10
"""Of a body: a larger one would block the event loop."""

_makers: dict[tuple[str, str], Callable[[], Lane]] = {}


def register(method: str, path: str, make: Callable[[], Lane]) -> None:
    """Give a method of a path a lane; an app calls this from its `ready()`.

    Args:
        make: called once a process, in its event loop.
    """
    _makers[method, path] = make


def make_all() -> dict[tuple[str, str], Lane]:
    return {key: make() for key, make in _makers.items()}
