"""Rows of PostgreSQL: each is read once it is visible, in any order of commits, and nothing is written."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any
from unittest.mock import ANY

import psycopg
import pytest

from connectors.kinds import SourceFault
from connectors.kinds.postgres import KIND, keyset_rows
from tests.support.certificates import Authority
from tests.support.databases import Database, tls_database
from tests.support.reader import Reader
from tests.threads import HANGS_SECONDS

pytestmark = [pytest.mark.once, pytest.mark.slow]

QUERY = "SELECT * FROM decisions"


@pytest.fixture(scope="module")
def server(authority: Authority) -> Iterator[Database]:
    with tls_database(authority, "localhost", "db.example.org") as database:
        yield database


@pytest.fixture
def database(server: Database, trusted: Authority) -> Database:
    server.run(
        "DROP TABLE IF EXISTS decisions",
        "CREATE TABLE decisions (id bigserial PRIMARY KEY, decision_id text, written timestamptz, note jsonb)",
        "CREATE INDEX ON decisions (written, id)",
    )
    return server


def insert(database: Database, first: int, last: int, ago: str = "1 day") -> None:
    database.run(
        "INSERT INTO decisions (decision_id, written) "
        f"SELECT 'd-' || n, now() - interval '{ago}' + n * interval '1 microsecond' "
        f"FROM generate_series({first}, {last}) n"
    )


def reader_of(database: Database, column: str = "written", query: str = QUERY, **config: Any) -> Reader:
    return Reader(KIND, database.config(query, column, **config), database.password)


def read_ids(reader: Reader, **limits: Any) -> list[str]:
    return [json.loads(raw)["decision_id"] for raw in reader.poll(**limits)]


def ids(first: int, last: int) -> list[str]:
    return [f"d-{number}" for number in range(first, last + 1)]


def test_rows_are_read_once_in_the_order_of_the_cursor(database: Database) -> None:
    insert(database, 1, 1200)
    reader = reader_of(database)
    assert read_ids(reader) == ids(1, 1200)
    assert read_ids(reader) == []
    insert(database, 1201, 1203)
    assert read_ids(reader) == ids(1201, 1203)
    names = ["secret", "address", "connection", "signed in", "listed"]
    assert [step.name for step in reader.steps] == names[1:]


def test_a_row_is_the_servers_own_json(database: Database) -> None:
    database.run(
        "INSERT INTO decisions VALUES (1, 'd-1', now() - interval '1 day', "
        """'{"n": 12345678901234567890.10, "s": "ü\\u00e9"}')"""
    )
    (raw,) = reader_of(database, query="SELECT id, decision_id, note, written FROM decisions").poll()
    assert raw.startswith(b'{"id":1,"decision_id":"d-1","note":{"n": 12345678901234567890.10, "s": "\xc3\xbc\xc3\xa9"}')


def test_a_poll_that_is_cut_off_goes_on_where_it_was(database: Database) -> None:
    insert(database, 1, 1200)
    reader = reader_of(database)
    read = read_ids(reader, max_batches=1) + read_ids(reader, max_batches=1) + read_ids(reader)
    assert read == ids(1, 1200)


def test_rows_of_the_same_time_are_told_apart_by_their_id(database: Database) -> None:
    database.run(
        "INSERT INTO decisions (decision_id, written) "
        "SELECT 'd-' || n, timestamptz '2026-01-01 00:00Z' FROM generate_series(1, 700) n"
    )
    reader = reader_of(database)
    assert read_ids(reader, max_batches=1) + read_ids(reader) == ids(1, 700)


def test_a_row_that_commits_late_is_read_though_later_ones_were(database: Database) -> None:
    reader = reader_of(database)
    with psycopg.connect(database.url) as slow:
        slow.execute("INSERT INTO decisions (decision_id, written) VALUES ('d-1', now())")
        insert(database, 2, 3, ago="0 seconds")
        assert read_ids(reader) == ids(2, 3)
        slow.commit()
    assert set(read_ids(reader)) == set(ids(1, 3))


def test_a_number_that_commits_late_is_read_though_higher_ones_were(database: Database) -> None:
    reader = reader_of(database, column="id")
    insert(database, 1, 2000)
    with psycopg.connect(database.url) as slow:
        slow.execute("INSERT INTO decisions (decision_id) VALUES ('late')")
        insert(database, 2002, 2500)
        assert len(read_ids(reader)) == 2499
        slow.commit()
    again = read_ids(reader)
    assert "late" in again
    assert len(again) <= 1000


def test_numbers_that_have_not_grown_for_long_are_not_read_again(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    insert(database, 1, 100)
    reader = reader_of(database, column="id")
    assert read_ids(reader) == ids(1, 100)
    assert read_ids(reader) == ids(1, 100)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 301)
    assert read_ids(reader) == ids(1, 100)
    assert read_ids(reader) == []
    insert(database, 101, 102)
    assert read_ids(reader) == ids(101, 102)


def test_a_time_yet_to_come_hides_nothing(database: Database) -> None:
    insert(database, 1, 1, ago="-10 years")
    reader = reader_of(database)
    assert read_ids(reader) == ids(1, 1)
    insert(database, 2, 2, ago="1 hour")
    assert "d-2" in read_ids(reader)


@pytest.mark.parametrize("type", ["timestamp", "date"])
def test_times_without_a_zone_and_days_work_too(database: Database, type: str) -> None:
    insert(database, 1, 2, ago="3 days")
    insert(database, 3, 3, ago="0 seconds")
    reader = reader_of(database, query=f"SELECT id, decision_id, written::{type} AS written FROM decisions")
    assert read_ids(reader) == ids(1, 3)
    assert read_ids(reader) == ids(3, 3)


def test_a_row_without_a_time_is_not_read(database: Database) -> None:
    database.run("INSERT INTO decisions (decision_id) VALUES ('d-1')")
    assert read_ids(reader_of(database)) == []


def test_it_tells_how_old_the_newest_row_is(database: Database) -> None:
    insert(database, 1, 2, ago="1 hour")
    (batch,) = reader_of(database).batches()
    assert batch.behind_seconds == pytest.approx(3600, abs=HANGS_SECONDS)


def test_a_row_that_is_too_large_is_a_bad_item(database: Database) -> None:
    database.run(
        "INSERT INTO decisions VALUES (1, 'd-1', now() - interval '1 day', to_jsonb(repeat('x', 3000000)))",
        "INSERT INTO decisions VALUES (2, 'd-2', now() - interval '1 day', NULL)",
    )
    large, small = reader_of(database).items()
    assert (large.raw, large.position) == (b"", "row 1")
    assert "1 MiB" in large.problem
    assert json.loads(small.raw)["decision_id"] == "d-2"


def test_a_query_may_have_percent_signs_comments_and_awkward_names(database: Database) -> None:
    insert(database, 1, 3)
    query = 'SELECT *, id AS "Odd ""Name%", 1 AS q, 2 AS drs FROM decisions WHERE decision_id LIKE \'d-%\' -- all'
    assert read_ids(reader_of(database, query=query, id='Odd "Name%')) == ids(1, 3)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT id, written FROM decisions) q; DROP TABLE decisions; SELECT * FROM (SELECT 1",
        "SELECT 1 AS id, now() AS written) q LIMIT 0; COMMIT; DROP TABLE decisions; SELECT * FROM (SELECT 1",
        "SELECT setval('decisions_id_seq', 9) AS id, now() - interval '1 day' AS written",
        "WITH gone AS (DELETE FROM decisions RETURNING *) SELECT * FROM gone",
        "SELECT 1 AS id, now() AS written, set_config('transaction_read_only', 'off', false)",
    ],
)
def test_nothing_is_ever_written(database: Database, query: str) -> None:
    insert(database, 1, 3)
    reader = reader_of(database, query=query)
    assert reader.fault().cause == "config"
    assert reader.failed.name == "listed"
    assert read_ids(reader_of(database)) == ids(1, 3)


def test_a_write_in_spite_of_the_read_only_transaction_is_rolled_back(database: Database) -> None:
    reader_of(database, query="SELECT 1 AS id, now() AS written, lo_create(12345)").poll()
    with psycopg.connect(database.url) as connection:
        assert connection.execute("SELECT count(*) FROM pg_largeobject_metadata").fetchone() == (0,)


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ({"host": "/var/run/postgresql"}, "host: "),
        ({"host": "a,b"}, "host: "),
        ({"host": "a b"}, "host: "),
        ({"query": "DELETE FROM decisions"}, "query: Write one SELECT"),
        ({"query": "selection"}, "query: Write one SELECT"),
        ({"query": "SELECT 1; "}, "query: Leave out the semicolon"),
    ],
)
def test_settings_that_cannot_work_are_problems(database: Database, config: dict[str, Any], problem: str) -> None:
    settings = KIND.Config.model_validate({**database.config(QUERY, "written"), **config})
    assert [sentence[: len(problem)] for sentence in KIND.check(settings)] == [problem]
    assert KIND.check(reader_of(database).config) == []


@pytest.mark.parametrize(
    ("config", "step", "fix"),
    [
        ({"user": "absent"}, "signed in", "password"),
        ({"database": "nothing"}, "signed in", "Check database"),
        ({"host": "127.0.0.1"}, "address", "ALLOWED_PRIVATE_HOSTS"),
        ({"host": "no-such-host.invalid"}, "address", "spelling"),
        ({"port": 1}, "connection", "firewall"),
        ({"query": "SELECT * FROM absent"}, "listed", "cursor.column"),
        ({"query": "SELECT id FROM decisions"}, "listed", "cursor.column"),
        ({"query": "SELECT * FRM decisions"}, "listed", "Run it as"),
        ({"query": "SELECT 1 AS id, 'x' AS written"}, "listed", "times or whole numbers"),
        ({"user": "reader"}, "listed", "SELECT"),
    ],
)
def test_each_fault_names_its_step_and_its_fix(database: Database, config: dict[str, Any], step: str, fix: str) -> None:
    database.run("DROP ROLE IF EXISTS reader", f"CREATE ROLE reader LOGIN PASSWORD '{database.password}'")
    reader = Reader(KIND, {**database.config(QUERY, "written"), **config}, database.password)
    fault = reader.fault()
    assert (reader.failed.name, fix in reader.failed.fix) == (step, True), (fault.sentence, fault.fix)


def test_a_wrong_or_absent_password_names_its_step_and_is_not_repeated(database: Database) -> None:
    for secret, step in (("wr0ng-pass", "signed in"), ("", "secret")):
        reader = Reader(KIND, database.config(QUERY, "written"), secret)
        fault = reader.fault()
        assert (reader.failed.name, fault.cause) == (step, "config")
        assert "secret_ref" in reader.failed.fix
        assert "wr0ng" not in str(fault) + fault.sentence + fault.fix


def test_a_certificate_of_another_name_or_authority_is_refused(
    database: Database, settings: Any, resolver: dict[str, list[list[str]]]
) -> None:
    settings.ALLOWED_PRIVATE_HOSTS = ["localhost", "other.example.org", "db.example.org"]
    resolver["other.example.org"] = resolver["db.example.org"] = [["127.0.0.1"]]
    insert(database, 1, 1)
    assert read_ids(reader_of(database, host="db.example.org")) == ids(1, 1)
    for host, authority_file in (("other.example.org", settings.TRUSTED_CA_FILE), ("localhost", "")):
        settings.TRUSTED_CA_FILE = authority_file
        reader = reader_of(database, host=host)
        assert reader.fault().cause == "config"
        assert (reader.failed.name, "certificate" in reader.failed.fix) == ("connection", True)


def test_tls_can_be_off_only_where_the_host_is_allowed(
    database: Database, settings: Any, resolver: dict[str, list[list[str]]]
) -> None:
    insert(database, 1, 1)
    assert read_ids(reader_of(database, tls="off")) == ids(1, 1)
    resolver["db.example.net"] = [["93.184.216.34"]]
    reader = reader_of(database, host="db.example.net", tls="off")
    reader.fault()
    assert (reader.failed.name, "TLS" in reader.failed.fix) == ("address", True)


def test_the_name_is_looked_up_once(database: Database, resolver: dict[str, list[list[str]]], settings: Any) -> None:
    settings.ALLOWED_PRIVATE_HOSTS = ["127.0.0.1"]
    resolver["db.example.org"] = [["127.0.0.1"], ["10.0.0.1"]]
    insert(database, 1, 1)
    assert read_ids(reader_of(database, host="db.example.org")) == ids(1, 1)


def test_a_query_that_takes_too_long_is_ended_by_the_server(database: Database) -> None:
    query = f"SELECT 1 AS id, now() AS written, pg_sleep({HANGS_SECONDS})"
    reader = reader_of(database, query=query)
    assert "too long" in reader.fault(seconds=3).sentence


def test_a_server_that_says_nothing_does_not_hold_a_poll(trusted: Authority) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        accepted: list[socket.socket] = []
        thread = threading.Thread(target=lambda: accepted.append(silent.accept()[0]))
        thread.start()
        reader = Reader(KIND, {**Database(f"postgres://x:y@localhost:{port}/z").config(QUERY, "written")}, "x")
        began = time.monotonic()
        assert reader.fault(seconds=1).cause == "transient"
        assert time.monotonic() - began < HANGS_SECONDS
        thread.join()
        accepted[0].close()


def test_a_connection_that_breaks_is_transient(database: Database) -> None:
    insert(database, 1, 1200)
    reading = KIND.read(reader_of(database).source(), {})
    next(reading)
    database.run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'decision-record%'"
    )
    with pytest.raises(SourceFault) as raised:
        list(reading)
    assert raised.value.cause == "transient"


def test_nothing_of_the_process_is_used_to_sign_in(
    database: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    passwords = tmp_path / "pgpass"
    passwords.write_text(f"*:*:*:*:{database.password}\n")
    passwords.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(passwords))
    monkeypatch.setenv("PGPASSWORD", database.password)
    monkeypatch.setenv("PGHOSTADDR", "127.0.0.9")
    monkeypatch.setenv("PGOPTIONS", "-c default_transaction_read_only=off")
    reader = Reader(KIND, database.config(QUERY, "written"), "wrong")
    assert "does not accept" in reader.fault().sentence
    monkeypatch.delenv("PGHOSTADDR")  # the test itself would look there
    insert(database, 1, 1)
    assert read_ids(reader_of(database)) == ids(1, 1)


@pytest.mark.parametrize(
    ("setting", "row"),
    [
        ("id", "SELECT 9 AS number, repeat('x', 5000000) AS key"),
        ("column", "SELECT repeat('9', 100000)::numeric AS number, 'k' AS key"),
    ],
)
def test_a_cursor_value_that_is_too_long_is_a_fault_that_names_its_column(
    database: Database, monkeypatch: pytest.MonkeyPatch, setting: str, row: str
) -> None:
    fetched: list[int] = []
    real = keyset_rows._Query.next_rows

    def next_rows(query: Any) -> list[Any]:
        page = real(query)
        fetched.extend(len(text or "") for _, *texts, _, _ in page for text in texts)
        return page

    monkeypatch.setattr(keyset_rows._Query, "next_rows", next_rows)
    query = f"SELECT 1::numeric AS number, 'a' AS key UNION ALL ({row})"
    reader = Reader(KIND, database.config(query, "number", id="key", lag=0), database.password)
    fault = reader.fault()
    assert fault.cause == "config"
    assert f"cursor.{setting} is {({'id': 'key', 'column': 'number'})[setting]}," in fault.sentence
    assert reader.cursor == ({"column": "1", "id": "a"} | {"highest": ANY} if setting == "id" else {})
    assert max(fetched, default=0) < 10_000
