"""What goes wrong with requests to a server of the tests, before or after they take effect."""

import socket
import struct
import threading
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

Kind = Literal["timeout", "reset"] | int
"""Silence until the client hangs up, a connection that breaks off, or an answer with this status alone."""


class Fault(NamedTuple):
    kind: Kind
    is_after: bool
    """Whether the request takes effect all the same, and only its answer is lost."""
    hits: Callable[[Any], bool]


class Faults:
    """The faults to come. Each request takes the first that is meant for it."""

    def __init__(self) -> None:
        self.coming: list[Fault] = []
        self._lock = threading.Lock()

    def add(self, kind: Kind, *, method: str = "", path: str = "", after: bool = False, times: int = 1) -> None:
        """Have the next requests fail.

        Args:
            path: what their path and query contain.
            times: how many of them.
        """

        def hits(request: Any) -> bool:
            return method in ("", request.method) and path in request.target

        with self._lock:
            self.coming += [Fault(kind, after, hits)] * times

    def take(self, request: Any) -> Fault | None:
        with self._lock:
            found = next((fault for fault in self.coming if fault.hits(request)), None)
            if found:
                self.coming.remove(found)
        return found

    def clear(self) -> None:
        with self._lock:
            self.coming.clear()


def reset(connection: socket.socket) -> None:
    """Break off, as a host that crashes would."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()
