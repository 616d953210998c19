"""Faults of requests to a test server, before or after the requests take effect."""

import socket
import struct
import threading
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

Kind = Literal["timeout", "reset"] | int
"""Silence until the client hangs up, a broken connection, or an empty answer with this status."""


class Fault(NamedTuple):
    kind: Kind
    is_after: bool
    """Whether the request takes effect, and only its answer is lost."""
    hits: Callable[[Any], bool]


class Faults:
    """Coming faults. Each request takes the first fault that matches it."""

    def __init__(self) -> None:
        self.coming: list[Fault] = []
        self._lock = threading.Lock()

    def add(self, kind: Kind, *, method: str = "", path: str = "", after: bool = False, times: int = 1) -> None:
        """Let the next matching requests fail.

        Args:
            path: a text in their path and query.
            times: the number of requests.
        """

        def hits(request: Any) -> bool:
            return method in ("", request.method) and path in request.target

        with self._lock:
            self.coming += [Fault(kind, after, hits)] * times

    def take(self, request: Any) -> Fault | None:
        with self._lock:
            fault = next((fault for fault in self.coming if fault.hits(request)), None)
            if fault:
                self.coming.remove(fault)
        return fault

    def clear(self) -> None:
        with self._lock:
            self.coming.clear()


def reset(connection: socket.socket) -> None:
    """Break a connection, as a crashed host does."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()
