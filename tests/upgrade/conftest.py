"""Installations of an earlier version, upgraded to this one and running."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.databases import new_database
from tests.system.live import Server

HERE = Path(__file__).resolve().parent
# The commands of docs/operations.md, Upgrading, in their order.
UPGRADE = [["migrate", "--verbosity", "0"], ["keys_import"], ["custody_create_vault", "--verbosity", "0"]]


class Upgraded(Server):
    """An upgraded installation. `facts` are what the earlier version wrote down about it."""

    facts: dict[str, Any]


@pytest.fixture(scope="module")
def upgraded() -> Iterator[Upgraded]:
    """Upgrade an installation with the suite's kind of database. No request of a test may make it fail."""
    with tempfile.TemporaryDirectory(prefix="drs-upgrade-") as directory, new_database() as url:
        kind, data = url.partition(":")[0], Path(directory) / "data"
        shutil.unpack_archive(HERE / f"{'sqlite' if kind == 'sqlite' else 'postgresql'}.tar.xz", data)
        if kind == "sqlite":
            shutil.move(data / "db.sqlite3", url.removeprefix("sqlite:///"))
        else:
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute((data / "dump.sql").read_bytes())
        limits = {"ANONYMOUS_REQUESTS_PER_MINUTE": "0"}
        environment = {"DATA_DIR": str(data), "DATABASE_URL": url, "CUSTODY_VAULT": "filesystem", **limits}
        server = Upgraded(Path(directory), environment, workers=2)
        server.facts = json.loads((data / "told.json").read_text())
        server.key = server.facts["key"]
        for command in UPGRADE:
            server.manage(*command)
        server.start()
        try:
            yield server
            log = server.log.read_text()
        finally:
            server.end()
        assert not [line for line in log.splitlines() if '"status": 5' in line or '"level": "error"' in line]
