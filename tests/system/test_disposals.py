"""Disposals on a running service: killed at random moments, and restored from an older backup."""

import json
import random

import pytest

from tests.system.live import MANAGE, server, wait_until
from tests.system.restore_drill import OLD, drill
from tests.threads import HANGS_SECONDS

pytestmark = pytest.mark.slow

RECORDS = 1000


def test_a_restored_backup_restores_no_disposed_record():
    lines = []
    with server() as running:
        drill(running, lines.append)
    assert "3 records disposed of again." in lines


@pytest.mark.once
def test_a_repeatedly_killed_run_continues_to_its_end():
    with server(CUSTODY_VAULT="filesystem", workers=1) as running:
        lines = [json.dumps({"decision_id": f"loan-{number}", **OLD}) for number in range(RECORDS)]
        with running.client() as client:
            body = "\n".join(lines)
            answer = client.request("POST", "/v1/ingest/srf/batch", body, Content_Type="application/x-ndjson")
            assert answer.status == 200
            assert client.request("PUT", "/v1/retention", json.dumps({"days": 30, "note": ""})).status == 200
        ((slug,),) = running.sql("SELECT slug FROM accounts_organization")
        arguments = ["retention_run", "--organization", slug, "--yes"]
        reached = 0
        for _ in range(3):
            reached = _killed_in_the_middle(running, arguments, reached + random.randint(30, 120))
            for table in ("retention_run", "custody_disposal"):  # let the leases expire
                running.sql(f"UPDATE {table} SET lease_until = '2020-01-01 00:00:00' WHERE lease_until IS NOT NULL")
        assert reached < RECORDS
        running.manage(*arguments)
        assert _disposed(running) == RECORDS
        assert running.sql("SELECT count(*) FROM custody_disposal WHERE finished_at IS NOT NULL") == [(RECORDS,)]
        assert running.sql("SELECT count(*), sum(disposed), sum(considered) FROM retention_run") == [
            (1, RECORDS, RECORDS)
        ]
        objects = [path for path in (running.data_dir / "vault").rglob("*") if path.is_file()]
        assert [path.name for path in objects] == ["MARKER"]
        written = [
            json.loads(line)["record_id"]
            for path in (running.data_dir / "journal").rglob("*")
            if path.is_file() and path.name != "MARKER"
            for line in path.read_text().splitlines()
        ]
        assert len(set(written)) == RECORDS


def _killed_in_the_middle(running, arguments, goal):
    """Kill a run after `goal` disposals, and return the number of disposals."""
    run = running.fork(MANAGE, arguments, running.directory / "run.log")
    wait_until(lambda: _disposed(running) >= goal or run.poll() is not None, "the run is under way")
    assert run.poll() is None, (running.directory / "run.log").read_text()
    run.kill()
    run.wait(HANGS_SECONDS)
    return _disposed(running)


def _disposed(running) -> int:
    ((count,),) = running.sql("SELECT count(*) FROM custody_entry WHERE state = 'disposed'")
    return count
