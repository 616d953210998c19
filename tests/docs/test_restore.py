"""The guide to backup and restore of SQLite, followed after a crash in the middle of work."""

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.docs.documents import CHECKOUT, blocks
from tests.system.live import Server, server

BACKUP, RESTORE = (
    block.code for block in blocks(CHECKOUT / "docs/operations.md") if block.language == "sh" and "backup" in block.code
)
BACKED_UP, LOST = range(40), range(40, 160)


@pytest.fixture(scope="module", params=["database", "filesystem"])
def crashed(request: pytest.FixtureRequest) -> Iterator[Server]:
    """Back up a service, ingest more records, and kill it. The guide is followed in the directory with its `var`.

    The directory is on a disk: in memory a crash may leave no journal.
    """
    with tempfile.TemporaryDirectory(prefix="drs-restore-", dir="/var/tmp") as name:
        directory = Path(name)
        (directory / ".venv").symlink_to(CHECKOUT / ".venv")
        data = directory / "var"
        with server(
            database_url=f"sqlite:///{data}/db.sqlite3", data_dir=data, CUSTODY_VAULT=request.param
        ) as live, live.client() as client:  # fmt: skip
            for number in BACKED_UP:
                assert client.ingest(record(number)).status == 201
            follow(BACKUP, directory)
            with in_use(data / "db.sqlite3"):
                for number in LOST:
                    assert client.ingest(record(number)).status == 201
                live.kill()
            assert (data / "db.sqlite3-wal").stat().st_size > 0
            yield live


# The last process that closes a database removes its journal. A killed process does not.
READER = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1])
database.execute("SELECT 1 FROM custody_entry").fetchone()
print("open", flush=True)
sys.stdin.read()
"""


@contextmanager
def in_use(database: Path) -> Iterator[None]:
    """Keep the database open in another process, which is killed at the end."""
    with subprocess.Popen(
        [sys.executable, "-c", READER, database], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        try:
            assert process.stdout.readline() == b"open\n"
            yield
        finally:
            process.kill()


def record(number: int) -> bytes:
    return b'{"decision_id": "loan-%d", "amount": %d.50}' % (number, number)


def follow(commands: str, directory: Path) -> None:
    done = subprocess.run(["bash", "-eu", "-c", commands], cwd=directory, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def integrity(database: Path) -> str:
    try:
        with closing(sqlite3.connect(database)) as connection:
            return str(connection.execute("PRAGMA integrity_check").fetchone()[0])
    except sqlite3.DatabaseError as error:
        return str(error)


def test_a_backup_copied_over_a_crashed_database_is_corrupt_unless_its_wal_is_removed(crashed):
    database, naive = crashed.data_dir / "db.sqlite3", crashed.data_dir.parent / "naive"
    naive.mkdir()
    shutil.copy(crashed.data_dir.parent / "backup/db.sqlite3", naive / "db.sqlite3")
    assert integrity(naive / "db.sqlite3") == "ok"
    shutil.copy(f"{database}-wal", naive / "db.sqlite3-wal")
    assert integrity(naive / "db.sqlite3") != "ok"


def test_the_backup_is_restored_and_later_records_can_be_sent_again(crashed):
    follow(RESTORE, crashed.data_dir.parent)
    assert integrity(crashed.data_dir / "db.sqlite3") == "ok"
    crashed.manage("migrate")
    crashed.manage("custody_reconcile", "--adopt")
    crashed.start()
    with crashed.client() as client:
        for number in BACKED_UP:
            assert client.get(f"/v1/decisions/loan-{number}/record").body == record(number)
        in_vault = crashed.environment["CUSTODY_VAULT"] == "filesystem"
        for number in LOST:
            assert client.ingest(record(number)).status == (200 if in_vault else 201)
    exposed = [path for path in crashed.data_dir.rglob("*") if path.is_file() and os.stat(path).st_mode & 0o077]
    assert exposed == []
