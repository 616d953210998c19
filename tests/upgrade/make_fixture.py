"""Archives of installations by the checked-out version: `python -m tests.upgrade.make_fixture` makes them.

They are made once and not replaced: a later version must read what an earlier one wrote.
"""

import os
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
from contextlib import closing
from pathlib import Path

from tests import throwaway

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent.parent
DUMP = "dump.sql"


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        data = Path(directory) / "sqlite"
        fill(data)
        with closing(sqlite3.connect(data / "db.sqlite3")) as database:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            database.execute("VACUUM")
        pack(data, "sqlite")
        data = Path(directory) / "postgresql"
        with throwaway.postgresql(throwaway.FAST) as server:
            fill(data, DATABASE_URL=server + "postgres")
            dump(server + "postgres", data / DUMP)
        pack(data, "postgresql")


def fill(data: Path, **environment: str) -> None:
    inherited = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    command = [sys.executable, "-m", "tests.upgrade.installation"]
    environment = {**inherited, "DATA_DIR": str(data), "LOG_LEVEL": "CRITICAL", **environment}
    subprocess.run(command, cwd=CHECKOUT, env=environment, check=True)


def dump(url: str, path: Path) -> None:
    """Dump a database as statements that any client can send, so that restoring needs no psql."""
    options = ["--no-owner", "--no-privileges", "--inserts", "--rows-per-insert=100"]
    program = throwaway.postgresql_program("pg_dump")
    text = subprocess.run([program, *options, url], check=True, capture_output=True, text=True).stdout
    path.write_text("".join(line for line in text.splitlines(True) if not line.startswith("\\")))  # psql's commands


def pack(data: Path, name: str) -> None:
    for passing in ("broker", "mail"):
        shutil.rmtree(data / passing, ignore_errors=True)
    left = [path for path in data.iterdir() if path.name.endswith(("-wal", "-shm"))]
    assert not left, f"the database is still in use: {left}"
    with tarfile.open(HERE / f"{name}.tar.xz", "w:xz") as archive:
        archive.add(data, ".", filter=anonymous)


def anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


if __name__ == "__main__":
    main()
