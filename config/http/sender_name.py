"""Who sends a request, before its body is read."""

from collections.abc import Callable
from typing import Any

_ways: list[Callable[[dict[str, Any]], str]] = []


def register(identify: Callable[[dict[str, Any]], str]) -> None:
    """Add a way to tell. The app that knows credentials calls this from its `ready()`.

    Args:
        identify: given the WSGI environ of a request that has no body yet, a name for who sends it; nothing if it does
            not know. It may ask the database, and counts and writes nothing: the request is answered like any other.
    """
    _ways.append(identify)


def identify(environ: dict[str, Any]) -> str:
    return next(filter(None, (way(environ) for way in _ways)), "")
