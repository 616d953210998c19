"""Storage outages of a running service: 503 during the outage, no acknowledged record lost, no restart needed."""

import os
import resource
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from tests import throwaway
from tests.system.live import Answer, Client, Server, group, server, wait_until
from tests.threads import at_once


class Database:
    """A durable PostgreSQL that can crash and be started again."""

    def __init__(self, address: str) -> None:
        self.address = address
        with psycopg.connect(address + "postgres") as connection:
            (self.directory,) = connection.execute("SHOW data_directory").fetchone()
        self.user = Path(self.directory).stat().st_uid

    def new(self, name: str) -> str:
        """Create an empty database, and return its URL."""
        with psycopg.connect(self.address + "template1", autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.address + name

    def crash(self) -> None:
        self._control("-m", "immediate", "stop")

    def come_back(self) -> None:
        self._control("-w", "-l", f"{self.directory}/../log", "restart")  # with its last options

    def restart(self, mode: str) -> None:
        self._control("-m", mode, "-w", "-l", f"{self.directory}/../log", "restart")

    def _control(self, *arguments: str) -> None:
        command = [throwaway.postgresql_program("pg_ctl"), "-D", self.directory, *arguments]
        subprocess.run(command, check=True, user=self.user, stdin=subprocess.DEVNULL, capture_output=True)


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    with throwaway.postgresql(throwaway.DURABLE) as address:
        yield Database(address)


def record(number: int) -> bytes:
    return b'{"decision_id": "loan-%d", "amount": %d.50}' % (number, number)


def refused_for_now(answer: Answer) -> bool:
    return answer.status == 503 and int(answer.headers["Retry-After"]) > 0 and set(answer.json()) == {"detail"}


def accept(client: Client, number: int) -> dict:
    answer = client.ingest(record(number))
    assert answer.status == 201
    return answer.json()


def assert_stored(client: Client, receipts: dict[int, dict]) -> None:
    for number, receipt in receipts.items():
        assert client.get(f"/v1/decisions/loan-{number}/record").body == record(number)
        assert client.get(f"/v1/decisions/loan-{number}/receipt").json() == receipt


COOKIES = {"Cookie": f"sessionid={'a' * 32}; csrftoken={'b' * 32}"}
SIGN_IN = {**COOKIES, "X_CSRFToken": "b" * 32, "Content_Type": "application/x-www-form-urlencoded"}
PAGES = [
    ("GET", "/n/aaaaaaaaaaaa", {}),
    ("GET", "/sign-in/", COOKIES),
    ("GET", "/admin/", COOKIES),
    ("GET", "/admin/decisions/decision/", COOKIES),
    ("POST", "/sign-in/", SIGN_IN),
]


@pytest.mark.once
@pytest.mark.parametrize("vault", ["database", "filesystem"])
def test_a_crashed_database_is_a_503_until_its_restart_and_loses_no_record(database, vault):
    with server(database_url=database.new(vault), CUSTODY_VAULT=vault) as live, live.client() as client:
        receipts = {number: accept(client, number) for number in range(10)}
        database.crash()
        for path in ("/v1/decisions", "/v1/decisions/loan-1", "/v1/decisions/loan-1/record"):
            assert refused_for_now(client.get(path))
        # More requests than threads: each thread has a broken connection.
        for number in range(10, 50):
            answer = client.ingest(record(number))
            assert refused_for_now(answer), answer
        for method, path, headers in PAGES:
            answer = client.request(method, path, b"", **headers)
            assert (answer.status, answer.headers["Retry-After"]) == (503, "5"), path
            assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
            assert answer.headers["X-Frame-Options"] == "DENY"
            assert "cannot reach its database" in answer.body.decode()
        assert client.get("/readyz").json()["database"] == "failing"
        assert client.get("/healthz").status == 200
        database.come_back()
        wait_until(lambda: client.get("/readyz").status == 200, "the service is ready again")
        receipts |= {number: accept(client, number) for number in range(10, 20)}
        assert_stored(client, receipts)


AT_ONCE = 24  # three times as many as there are threads


@pytest.mark.once
@pytest.mark.parametrize("mode", ["immediate", "fast"])
def test_after_a_restart_of_the_database_no_request_uses_a_closed_connection(database, mode):
    with server(database_url=database.new(f"restarted_{mode}")) as live:

        def ask(number: int) -> list[int]:
            with live.client() as client:
                answers = [client.get("/v1/decisions?limit=200"), client.ingest(record(number))]
                answers += [client.ingest(record(number)), client.request("GET", "/n/aaaaaaaaaaaa", Authorization="")]
                return [answer.status for answer in answers]

        lasting = "SELECT count(*) > 8 FROM pg_stat_activity WHERE datname = current_database()"
        wait_until(lambda: at_once(AT_ONCE, ask) and live.sql(lasting)[0][0], "every thread keeps a connection")
        database.restart(mode)
        statuses = Counter(status for asked in at_once(AT_ONCE, ask) for status in asked)
    assert statuses == {200: 3 * AT_ONCE, 404: AT_ONCE}


@contextmanager
def files_limited_to(live: Server, size: int) -> Iterator[None]:
    """Limit the files of the server's processes to `size` bytes, as on a full disk."""
    _limit_files(live, size)
    yield
    _limit_files(live, resource.RLIM_INFINITY)


def _limit_files(live: Server, size: int) -> None:
    for pid in group(live.pid):
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


@pytest.mark.once
def test_a_full_disk_under_sqlite_is_a_503_until_there_is_room_and_loses_no_record(tmp_path):
    large = b'{"decision_id": "large", "scan": "%s"}' % (b"x" * 900_000)
    url = f"sqlite:///{tmp_path}/db.sqlite3"
    with server(database_url=url) as live, live.client() as client:
        receipts = {number: accept(client, number) for number in range(20)}
        with files_limited_to(live, (tmp_path / "db.sqlite3-wal").stat().st_size + 600_000):
            assert refused_for_now(client.ingest(large))
            assert client.get("/v1/decisions/large").status == 404
            receipts[20] = accept(client, 20)  # a record that fits is still stored
        assert client.ingest(large).status == 201
        assert_stored(client, receipts)
        assert live.sql("PRAGMA integrity_check") == [("ok",)]


def test_a_missing_vault_is_a_503_and_its_records_are_finished_later():
    with server(CUSTODY_VAULT="filesystem") as live, live.client() as client:
        receipts = {number: accept(client, number) for number in range(5)}
        vault, elsewhere = live.data_dir / "vault", live.data_dir / "elsewhere"
        vault.rename(elsewhere)
        vault.touch()  # a file in place of the directory makes every put fail
        assert all(refused_for_now(client.ingest(record(number))) for number in (5, 6))
        assert refused_for_now(client.get("/v1/decisions/loan-1/record"))
        assert client.get("/readyz").json()["vault"] == "failing"
        vault.unlink()
        elsewhere.rename(vault)
        assert client.ingest(record(5)).status == 200  # a retry finishes what was reserved
        live.sql("UPDATE custody_waitingobject SET lease_until = '2000-01-01 00:00:00'")
        assert live.manage("custody_reconcile") == "1 finished, 0 waiting for their vault"
        receipts |= {number: client.get(f"/v1/decisions/loan-{number}/receipt").json() for number in (5, 6)}
        assert_stored(client, receipts)
        assert client.get("/readyz").status == 200


def test_no_put_and_no_start_creates_a_vault_whose_disk_is_not_mounted():
    with server(CUSTODY_VAULT="filesystem") as live:
        vault, elsewhere = live.data_dir / "vault", live.data_dir / "elsewhere"
        with live.client() as client:
            receipts = {0: accept(client, 0)}
        vault.rename(elsewhere)
        live.end()
        live.start()
        with live.client() as client:
            assert client.get("/readyz").json()["vault"] == "failing"
            assert all(refused_for_now(client.ingest(record(number))) for number in range(1, 21))
            assert not vault.exists()
            elsewhere.rename(vault)
            assert [client.ingest(record(number)).status for number in range(1, 21)] == [200] * 20
            receipts |= {number: client.get(f"/v1/decisions/loan-{number}/receipt").json() for number in range(1, 21)}
            assert_stored(client, receipts)
            assert client.get("/readyz").status == 200


def test_a_log_pipe_without_a_reader_refuses_no_record(tmp_path):
    pipe = tmp_path / "log"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with server(log=pipe) as live, live.client() as client:
        os.close(reader)
        receipts = {1: accept(client, 1)}
        assert_stored(client, receipts)
        assert client.ingest(b"no JSON").status == 422
