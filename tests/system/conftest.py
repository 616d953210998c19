from collections.abc import Iterator

import pytest

from tests.system.live import Client, Server, server


@pytest.fixture(scope="module")
def live() -> Iterator[Server]:
    """Run a service with the database vault, shared by the tests of a module."""
    with server() as running:
        yield running


@pytest.fixture(scope="module", params=["database", pytest.param("filesystem", marks=pytest.mark.once)])
def live_with_each_vault(request: pytest.FixtureRequest) -> Iterator[Server]:
    """Run a service with each vault. The filesystem vault needs one database only: its files do not depend on it."""
    with server(CUSTODY_VAULT=request.param) as running:
        yield running


@pytest.fixture
def client(live: Server) -> Iterator[Client]:
    """Open a keep-alive connection to `live`."""
    with live.client() as connected:
        yield connected
