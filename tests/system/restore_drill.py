"""The restore drill: disposed records stay disposed after the restore of an older backup.

`python -m tests.system.restore_drill` runs it on a new installation and prints each step.
"""

import json
import os
import secrets
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path

from tests import databases
from tests.system.live import Server, server, wait_until
from tests.throwaway import FAST, postgresql, postgresql_program

OLD = {"decided_at": "2020-01-01T00:00:00Z", "outcome": {"action": "denied"}}


def drill(running: Server, say: Callable[[str], object] = print) -> None:
    """Dump, dispose, restore the dump, start: disposed records stay disposed, and ingest goes on."""
    name = secrets.token_hex(4)
    old = [json.dumps({"decision_id": f"old-{name}-{number}", **OLD}).encode() for number in range(3)]
    new = json.dumps({"decision_id": f"new-{name}"}).encode()
    slug = str(running.sql("SELECT slug FROM accounts_organization")[0][0])
    with running.client() as client:
        for record in [*old, new]:
            assert client.ingest(record).status == 201
        assert client.request("PUT", "/v1/retention", json.dumps({"days": 30, "note": "drill"})).status == 200
    say(f"{len(old)} records are past their retention period, another is not.")
    backup = _dump(running)
    say("The database is backed up.")
    say(running.manage("retention_run", "--organization", slug, "--yes"))
    _expect(running, old, new)
    running.kill()
    _restore(running, backup)
    say("The backup is restored. It has every record, as if nothing had been disposed of.")
    assert running.sql("SELECT count(*) FROM custody_entry WHERE state = 'disposed'") == [(0,)]
    running.start()
    with running.client() as client:
        assert client.get("/readyz").status == 503
    say("The service is not ready: the journal knows what the database does not.")
    say(running.manage("retention_replay"))
    wait_until(lambda: _is_ready(running), "the service is ready")
    say("It is ready.")
    _expect(running, old, new)
    with running.client() as client:
        assert client.ingest(json.dumps({"decision_id": f"later-{name}"}).encode()).status == 201
    say("Disposed records stay disposed, and ingest goes on.")


def _is_ready(running: Server) -> bool:
    with running.client() as client:
        return client.get("/readyz").status == 200


def _expect(running: Server, old: list[bytes], new: bytes) -> None:
    with running.client() as client:
        for record in old:
            decision_id = json.loads(record)["decision_id"]
            assert client.get(f"/v1/decisions/{decision_id}/record").status == 410
            assert client.ingest(record).status == 409
        assert client.get(f"/v1/decisions/{json.loads(new)['decision_id']}/record").body == new


def _dump(running: Server) -> Path:
    url, backup = running.environment["DATABASE_URL"], running.directory / "backup"
    if url.startswith("sqlite"):
        with (
            closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as source,
            closing(sqlite3.connect(backup)) as copy,
        ):
            source.backup(copy)
    else:
        _run(postgresql_program("pg_dump"), "--format=custom", f"--file={backup}", url)
    return backup


def _restore(running: Server, backup: Path) -> None:
    url = running.environment["DATABASE_URL"]
    if url.startswith("sqlite"):
        path = url.removeprefix("sqlite:///")
        for leftover in ("-wal", "-shm"):
            Path(path + leftover).unlink(missing_ok=True)
        shutil.copy(backup, path)
    else:
        running.sql("DROP SCHEMA public CASCADE")
        running.sql("CREATE SCHEMA public")
        _run(postgresql_program("pg_restore"), f"--dbname={url}", str(backup))


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


if __name__ == "__main__":
    with ExitStack() as stack:
        os.environ["DATABASE_URL"] = stack.enter_context(postgresql(FAST)) + "drs"
        stack.callback(databases.share())
        drill(stack.enter_context(server()))
