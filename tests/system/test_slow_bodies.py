"""Slow clients, which hardly send or read: any number of them does not block the others."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from tests.system.live import Server, server
from tests.threads import HANGS_SECONDS

pytestmark = pytest.mark.once
CLIENTS = 400  # far more than the threads of the server


@contextmanager
def trickling(live: Server, *headers: str, path: str = "/v1/ingest/srf") -> Iterator[list[socket.socket]]:
    """Yield clients that have announced a body and sent its first bytes."""
    head = "\r\n".join([f"POST {path} HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json", *headers, "", ""])
    with ExitStack() as stack:
        clients = [stack.enter_context(socket.create_connection(("127.0.0.1", live.port))) for _ in range(CLIENTS)]
        for client in clients:
            client.sendall(head.encode() + b'{"decision_id')
        yield clients


@pytest.fixture(scope="module")
def live() -> Iterator[Server]:
    with server(ANONYMOUS_REQUESTS_PER_MINUTE="0") as running:
        yield running


def answers_others(live: Server, name: str) -> bool:
    """Whether the service answers other clients. Uses separate connections, so that every worker is asked."""
    for number in range(8):
        with live.client() as client:
            assert (client.get("/healthz").status, client.get("/v1/decisions").status) == (200, 200)
            assert client.ingest(b'{"decision_id": "%s %d"}' % (name.encode(), number)).status == 201
    return True


@pytest.mark.parametrize("path", ["/v1/ingest/srf", "/v1/auth/otp/request", "/sign-in/"])
def test_slow_anonymous_bodies_block_no_other_client(live, path):
    with trickling(live, "Content-Length: 60000", path=path):
        assert answers_others(live, path)


def test_slow_bodies_of_a_customer_block_no_other_client(live):
    with trickling(live, "Content-Length: 900000", f"Authorization: Bearer {live.key}"):
        assert answers_others(live, "customer")


def test_a_large_announced_body_without_credentials_is_refused_at_once(live):
    with trickling(live, "Content-Length: 900000") as clients:
        assert answers_others(live, "much")
        for client in clients:
            client.settimeout(HANGS_SECONDS)
            assert client.recv(12) in (b"HTTP/1.1 401", b"HTTP/1.1 503")  # 503: half of all turns are taken


def test_endless_heads_block_no_other_client(live):
    with ExitStack() as stack:
        for _ in range(CLIENTS):
            client = stack.enter_context(socket.create_connection(("127.0.0.1", live.port)))
            client.sendall(b"POST /v1/ingest/srf HTTP/1.1\r\nHost: 127")
        assert answers_others(live, "heads")


def test_unread_large_answers_block_no_other_client(live):
    with live.client() as client:
        assert client.ingest(b'{"decision_id": "large", "x": "%s"}' % (b"x" * 1_000_000)).status == 201
    asked = f"GET /v1/decisions/large/record HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {live.key}\r\n\r\n"
    with ExitStack() as stack:
        for _ in range(60):
            client = stack.enter_context(socket.socket())
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect(("127.0.0.1", live.port))
            client.sendall(asked.encode())
        assert answers_others(live, "readers")
