from collections.abc import Iterator

import pytest

from tests.system.live import Client, Server, server


@pytest.fixture(scope="module")
def live() -> Iterator[Server]:
    """A running service with the database vault, shared by the tests of a module."""
    with server() as running:
        yield running


@pytest.fixture(scope="module", params=["database", pytest.param("filesystem", marks=pytest.mark.once)])
def live_with_each_vault(request: pytest.FixtureRequest) -> Iterator[Server]:
    """The vault in the database on each of them, for the other one's files are the same beside any."""
    with server(CUSTODY_VAULT=request.param) as running:
        yield running


@pytest.fixture
def client(live: Server) -> Iterator[Client]:
    """One keep-alive connection to `live`."""
    with live.client() as connected:
        yield connected
