"""Clients without credentials who begin a body and hardly go on: whatever they hold, the service shows it is alive."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import Thread

import pytest

from tests.system.live import Server, server

CLIENTS = 50  # far more than the threads of the server


@contextmanager
def trickling(live: Server, path: str) -> Iterator[list[socket.socket]]:
    """Clients that have announced a body and sent the first bytes of it."""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
    )
    with ExitStack() as stack:
        clients = [stack.enter_context(socket.create_connection(("127.0.0.1", live.port))) for _ in range(CLIENTS)]
        for client in clients:
            client.sendall(head.encode() + b'{"decision_id')
        yield clients


@pytest.fixture(scope="module")
def live() -> Iterator[Server]:
    with server(ANONYMOUS_REQUESTS_PER_MINUTE="0") as running:
        yield running


def healthy(live: Server) -> bool:
    """By connections of their own, so that every worker is asked."""
    answers = []
    for _ in range(8):
        with live.client(key="") as client:
            answers.append(client.get("/healthz"))
    return all((answer.status, answer.json()) == (200, {"status": "ok"}) for answer in answers)


def test_clients_without_credentials_get_their_401_and_records_are_taken_meanwhile(live):
    with trickling(live, "/v1/ingest/srf") as clients:
        assert healthy(live)
        with live.client() as client:
            assert client.ingest(b'{"decision_id": "meanwhile"}').status == 201
        for each in clients:
            each.settimeout(60)
            assert each.recv(64).startswith(b"HTTP/1.1 401 ")


def test_while_every_thread_waits_for_a_body_the_service_still_says_that_it_lives(live):
    """A view that reads its body before it knows who sends it holds its thread; /healthz needs none."""
    answered = []
    with live.client() as client:
        waiting = Thread(target=lambda: answered.append(client.ingest(b'{"decision_id": "waits"}')))
        with trickling(live, "/v1/auth/otp/request"):
            waiting.start()
            assert healthy(live)
        waiting.join()
    assert answered[0].status == 201
