"""Lanes: handlers that answer very frequent requests in the event loop, without Django.

A lane answers the common case only. Django answers all others, so each of those has one implementation.
"""

from collections.abc import Awaitable, Callable

from config.http.messages import Answer, Request

Lane = Callable[[Request, bytes], Awaitable[Answer | None]]
"""Answers a request that has no query, given its body. Returns None to leave it to Django."""

MAX_BYTES = 64 * 2**10
"""Limit of a body: a larger one would block the event loop."""

_makers: dict[tuple[str, str], Callable[[], Lane]] = {}


def register(method: str, path: str, make: Callable[[], Lane]) -> None:
    """Register a lane for a method of a path. Apps call this from their `ready()`.

    Args:
        make: builds the lane, once a process, in its event loop.
    """
    _makers[method, path] = make


def make_all() -> dict[tuple[str, str], Lane]:
    return {key: make() for key, make in _makers.items()}
