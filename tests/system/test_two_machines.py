"""Web machines that share a database and a master key, and nothing else; and a new machine that is given just these."""

import base64
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from custody.envelope import PAYLOAD_TYPE
from tests.databases import new_database
from tests.system.live import Server, server, wait_until

pytestmark = pytest.mark.once  # machines share a database server

RECORD = b'{"decision_id": "loan-1", "amount": 1.50}'


def another_master_key() -> str:
    return base64.b64encode(os.urandom(32)).decode()


@contextmanager
def machine(url: str, **environment: str) -> Iterator[Server]:
    """A machine that joins: nothing is prepared for it but its settings."""
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


@pytest.fixture
def machines() -> Iterator[tuple[Server, Server]]:
    with (
        server(workers=1) as first,
        machine(first.environment["DATABASE_URL"], MASTER_KEY=master_key_of(first)) as second,
    ):
        second.key = first.key
        yield first, second


def test_two_web_machines_with_one_database_and_one_master_key_serve_the_same_organizations(machines):
    first, second = machines
    with first.client() as here, second.client() as there:
        taken = here.ingest(RECORD)
        assert (taken.status, there.ingest(RECORD).status) == (201, 200)
        assert there.get("/v1/decisions/loan-1/record").body == RECORD
        assert there.get("/v1/decisions/loan-1/receipt").json() == taken.json()
    first.manage("create_organization", "New Bank", "--owner", "owner@new.example", "--slug", "new")
    token = first.manage("create_api_key", "--organization", "new", "--name", "n", "--role", "sender")
    with second.client(token) as there, first.client(token) as here:
        assert there.ingest(RECORD).status == 201
        assert here.ingest(RECORD).status == 200
    assert not (second.data_dir / "keys").exists()  # it has no secrets of its own


def test_a_rotation_on_one_machine_is_followed_on_the_other(machines):
    first, second = machines
    with second.client() as there:
        before = there.ingest(RECORD).json()["key_id"]
        first.manage("custody_rotate_key", "--organization", "live-bank", "--purpose", "signing")
        numbers = iter(range(2, 10_000))

        def key_of_the_next() -> str:
            record = b'{"decision_id": "loan-%d"}' % next(numbers)
            return there.ingest(record).json()["key_id"]

        wait_until(lambda: key_of_the_next() != before, "the other machine signs with the new key")
        assert there.get("/v1/decisions/loan-1/receipt").json()["key_id"] == before


@pytest.fixture
def lost() -> Iterator[tuple[str, str, str]]:
    """An installation that took a record, and of which only a copy of its database is left. Yields the copy's URL, the
    master key and an API key."""
    with server(workers=1) as first:
        url, token = first.environment["DATABASE_URL"], first.key
        with first.client() as client:
            assert client.ingest(RECORD).status == 201
        if url.startswith("sqlite"):  # what is still in its journal would not be copied
            first.sql("PRAGMA wal_checkpoint(TRUNCATE)")
        first.kill()
        with new_database(url) as copy:
            yield copy, master_key_of(first), token


def test_recovery_drill_the_database_and_the_master_key_are_all_that_a_new_machine_needs(lost):
    url, key, token = lost
    with machine(url, MASTER_KEY=key) as restored, restored.client(token) as client:
        assert client.get("/v1/decisions/loan-1/record").body == RECORD
        receipt = client.get("/v1/decisions/loan-1/receipt").json()
        assert receipt["envelope"]["payloadType"] == PAYLOAD_TYPE
        assert client.ingest(RECORD).json() == receipt
        assert client.ingest(b'{"decision_id": "loan-2"}').status == 201
        assert client.get("/readyz").status == 200


@pytest.mark.parametrize("wrong", ["another", "none"])
def test_without_the_master_key_a_new_machine_says_so_and_makes_no_keys(lost, wrong):
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
