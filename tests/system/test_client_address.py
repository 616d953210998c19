"""The client address behind a proxy: if the header's name is one word, no client can forge it."""

import socket
from collections.abc import Iterator
from itertools import cycle

import pytest

from tests.system.live import Server, server

pytestmark = pytest.mark.once  # it does not depend on the database
REAL = "198.51.100.7"
CLAIMS = [
    "X_Forwarded_For: 203.0.113.{n}",
    "X-Forwarded-For: 203.0.113.{n}",
    "Client_Address: 203.0.113.{n}",
    "Client-Address: 203.0.113.{n}",
    "ClientAddress: 203.0.113.{n}",  # the proxy's line follows it
]


@pytest.fixture(scope="module")
def live() -> Iterator[Server]:
    with server(
        TRUSTED_PROXIES="1", CLIENT_ADDRESS_HEADER="ClientAddress", ANONYMOUS_REQUESTS_PER_MINUTE="5", workers=1
    ) as running:
        yield running


def status(live: Server, *headers: str) -> int:
    """Return the status of an anonymous request with these header lines."""
    lines = ["GET /v1/decisions HTTP/1.1", "Host: 127.0.0.1", "Connection: close", *headers, "", ""]
    with socket.create_connection(("127.0.0.1", live.port)) as connection:
        connection.sendall("\r\n".join(lines).encode())
        return int(connection.makefile("rb").readline().split()[1])


def test_no_spelling_of_the_header_evades_the_limit(live):
    claims = cycle(CLAIMS)
    answers = [status(live, next(claims).format(n=n), f"ClientAddress: {REAL}") for n in range(30)]
    assert set(answers) == {401, 429}
    assert answers.count(401) <= 10, "two minutes' worth, should one end in between"
    assert status(live, "ClientAddress: 198.51.100.8") == 401
