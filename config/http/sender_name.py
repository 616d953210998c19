"""The name of a request's sender, before the body is read."""

from collections.abc import Callable
from typing import Any

_identifiers: list[Callable[[dict[str, Any]], str]] = []


def register(identify: Callable[[dict[str, Any]], str]) -> None:
    """Register a function that names senders. The app that checks credentials calls this from its `ready()`.

    Args:
        identify: returns the sender's name from a WSGI environ without a body, or an empty text. It may read the
            database, but must neither write nor count: the request is still answered like any other.
    """
    _identifiers.append(identify)


def identify(environ: dict[str, Any]) -> str:
    return next(filter(None, (identifier(environ) for identifier in _identifiers)), "")
