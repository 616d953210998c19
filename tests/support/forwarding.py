"""Forwarding to another server of this machine, for proxies that change requests or let them fail."""

import http.client
import ssl
import time
from collections import defaultdict
from threading import Lock
from typing import Any

from urllib3.util.wait import wait_for_read

from tests.support.web_server import Reply, Request
from tests.threads import HANGS_SECONDS

_OF_THE_CONNECTION = {"connection", "keep-alive", "transfer-encoding", "content-length"}
_UNVERIFIED = ssl._create_unverified_context()
_IDLE_SECONDS = 1.0
"""Idle time after which a connection is not used again. Servers close idle connections much later."""

_idle: dict[int, list[tuple[http.client.HTTPConnection, float]]] = defaultdict(list)
"""Idle connections by port, in the order of their last use."""
_lock = Lock()


def forward(request: Request, port: int, *, encrypted: bool = False) -> Reply:
    """Forward a request unchanged, so that its signatures stay valid, and return the answer."""
    connection = _used_before(port) or _new(port, encrypted=encrypted)
    try:
        connection.putrequest(request.method, request.target, skip_host=True, skip_accept_encoding=True)
        for name, value in request.headers.items():
            if name.lower() not in _OF_THE_CONNECTION:
                connection.putheader(name, value)
        connection.putheader("Content-Length", str(len(request.body)))
        connection.endheaders(request.body)
        answer = connection.getresponse()
        reply = Reply(answer.read(), answer.status, _headers(request, answer))
    except BaseException:
        connection.close()
        raise
    if connection.sock:  # the server keeps the connection open
        with _lock:
            _idle[port].append((connection, time.monotonic()))
    return reply


def hang_up(port: int) -> None:
    """Close all connections to a server that is about to end."""
    with _lock:
        for connection, _ in _idle.pop(port, ()):
            connection.close()


def _new(port: int, *, encrypted: bool) -> http.client.HTTPConnection:
    if encrypted:
        return http.client.HTTPSConnection("127.0.0.1", port, timeout=HANGS_SECONDS, context=_UNVERIFIED)
    return http.client.HTTPConnection("127.0.0.1", port, timeout=HANGS_SECONDS)


def _used_before(port: int) -> http.client.HTTPConnection | None:
    with _lock:
        while _idle[port]:
            connection, used_at = _idle[port].pop()
            is_young = time.monotonic() - used_at < _IDLE_SECONDS
            if is_young and not wait_for_read(connection.sock, timeout=0):  # readable only if closed
                return connection
            connection.close()
    return None


def _headers(request: Request, answer: Any) -> dict[str, str]:
    headers = {name: value for name, value in answer.getheaders() if name.lower() not in _OF_THE_CONNECTION}
    if request.method == "HEAD" and answer.getheader("Content-Length"):
        headers["Content-Length"] = answer.getheader("Content-Length")
    return headers
