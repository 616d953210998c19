"""New machines that get only a database and a master key.

test_machines_with_a_bucket.py tests running machines that share these.
"""

import base64
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from custody.sealing.envelope import PAYLOAD_TYPE
from tests.databases import new_database
from tests.system.live import Server, server

pytestmark = pytest.mark.once  # machines share a database server

RECORD = b'{"decision_id": "loan-1", "amount": 1.50}'


def another_master_key() -> str:
    return base64.b64encode(os.urandom(32)).decode()


@contextmanager
def machine(url: str, **environment: str) -> Iterator[Server]:
    """Start a machine with these settings and an empty data directory."""
    with tempfile.TemporaryDirectory(prefix="drs-machine-") as directory:
        data = Path(directory) / "data"
        joined = Server(Path(directory), {"DATA_DIR": str(data), "DATABASE_URL": url, **environment}, workers=1)
        try:
            joined.start()
            yield joined
        finally:
            joined.end()


def master_key_of(installed: Server) -> str:
    return (installed.data_dir / "keys" / "master_key").read_text()


@pytest.fixture(scope="module")
def installed() -> Iterator[Server]:
    """Run an installation that ingests a record, and kill it."""
    with server(workers=1) as first:
        with first.client() as client:
            assert client.ingest(RECORD).status == 201
        first.kill()
        yield first


@pytest.fixture
def lost(installed: Server) -> Iterator[tuple[str, str, str]]:
    """Yield the URL of a copy of an installation's database, its master key, and an API key."""
    with new_database(installed.environment["DATABASE_URL"]) as copy:
        yield copy, master_key_of(installed), installed.key


def test_recovery_drill_a_new_machine_needs_only_the_database_and_the_master_key(lost):
    url, key, token = lost
    with machine(url, MASTER_KEY=key) as restored, restored.client(token) as client:
        assert client.get("/v1/decisions/loan-1/record").body == RECORD
        receipt = client.get("/v1/decisions/loan-1/receipt").json()
        assert receipt["envelope"]["payloadType"] == PAYLOAD_TYPE
        assert client.ingest(RECORD).json() == receipt
        assert client.ingest(b'{"decision_id": "loan-2"}').status == 201
        assert client.get("/readyz").status == 200


@pytest.mark.parametrize("wrong", ["another", "none"])
def test_without_the_master_key_a_new_machine_refuses_requests_and_creates_no_keys(lost, wrong):
    url, _, token = lost
    environment = {"MASTER_KEY": another_master_key()} if wrong == "another" else {}
    with machine(url, **environment) as stranger, stranger.client(token) as client:
        rows = "SELECT (SELECT COUNT(*) FROM custody_key), (SELECT COUNT(*) FROM accounts_pepper)"
        before = stranger.sql(rows)
        for answer in (client.ingest(b'{"decision_id": "loan-2"}'), client.get("/v1/decisions/loan-1/record")):
            assert answer.status == 503
            assert "master key" in answer.json()["detail"]
            assert answer.headers["Retry-After"]
        assert client.get("/readyz").status == 503
        assert stranger.sql(rows) == before
