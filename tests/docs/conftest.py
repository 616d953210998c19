import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.documents import CHECKOUT
from tests.system.live import Server, server


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Run a service with SQLite and the filesystem vault, as docs/custody.md describes them."""
    data = tmp_path_factory.mktemp("data")
    with server(database_url=f"sqlite:///{data}/db.sqlite3", data_dir=data, CUSTODY_VAULT="filesystem") as running:
        yield running


@pytest.fixture(scope="module")
def desk(service: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the working directory of a reader, with the data of the running service in `var`."""
    directory = tmp_path_factory.mktemp("desk")
    (directory / "var").symlink_to(service.data_dir)
    (directory / "samples").symlink_to(CHECKOUT / "samples")
    (directory / ".venv").symlink_to(sys.prefix)
    (service.data_dir / "demo_api_key").write_text(service.key)
    return directory
