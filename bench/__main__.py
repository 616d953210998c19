"""`make bench`: ingest over HTTP and in bulk, beside pgbench running the same SQL in the same database.

Runs of both alternate, so that a machine that speeds up or slows down does so for both; what counts is the ratio.
"""

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.throwaway import DURABLE, free_port, postgresql, wait_for_port

ROUNDS = 3
SECONDS = 5
CLIENTS = (1, 8, 32)
BULK_ROWS = 100
BULK_CLIENTS = 4
BULK_UPLOADS = 2


def record() -> bytes:
    """A decision record of 4 KB with 104 fields, as a credit system sends it; DECISION_ID stands for its id."""
    events = {
        f"event_{e}": {f"field_{j}": round(0.123 * j + e, 3) if j % 2 else f"a text value {j} " * 4 for j in range(9)}
        for e in range(11)
    }
    document = {
        "decision_id": "DECISION_ID",
        "decided_at": "2026-11-01T10:00:00Z",
        "subject": {"reference": "applicant 12"},
        "system": {"name": "scorer", "version": "3"},
        "events": events,
        "outcome": {"action": "denied"},
    }
    return json.dumps(document).encode()


@contextmanager
def server(environment: dict[str, str]) -> Iterator[tuple[int, int]]:
    """The web server as `manage.py serve` starts it. Yields its port and process group."""
    port = free_port()
    command = [sys.executable, "-m", "granian", "--interface", "wsgi", "config.wsgi:application", "--port", str(port)]
    command += ["--workers", "2", "--blocking-threads", "8", "--log-level", "error"]
    process = subprocess.Popen(command, env=environment, start_new_session=True, stderr=subprocess.DEVNULL)
    try:
        wait_for_port(port)
        yield port, process.pid
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()


def cpu_seconds(group: int) -> float:
    """CPU time that a process group has used so far."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:  # the process ended meanwhile
            continue
        if int(fields[2]) == group:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="drs-bench-") as directory, postgresql(DURABLE) as base:
        database = base + "drs"
        os.environ |= {"DATABASE_URL": database, "DATA_DIR": directory, "DJANGO_SETTINGS_MODULE": "config.settings"}
        _create(base)
        results = _measure(Path(directory), database)
    for row in results:
        print(
            row["what"].ljust(34), *(f"{name} {value:,.3g}" for name, value in row.items() if name != "what"), sep="  "
        )


def _create(base: str) -> None:
    import psycopg

    with psycopg.connect(base + "postgres", autocommit=True) as connection:
        connection.execute("CREATE DATABASE drs")
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)


def _measure(directory: Path, database: str) -> list[dict[str, Any]]:
    from accounts import audit, services
    from accounts.roles import Role
    from bench import load, peer
    from custody.keys import keyring
    from custody.models import Entry
    from custody.services import _new_record, _seal_all
    from decisions.services import _submission

    organization = services.create_organization(name="Bench", owner_email="bench@bench.example", actor=audit.SYSTEM)
    _, token = services.create_api_key(
        organization_id=organization.id, name="bench", role=Role.EDITOR, actor=audit.SYSTEM
    )
    body = record()
    file = directory / "record.json"
    file.write_bytes(body)
    submission = _submission(body, "api")
    (sealed,) = _seal_all(keyring(organization.id), [submission])
    one = _new_record(sealed, submission)
    (single_sql, bulk_sql) = (directory / "single.sql", directory / "bulk.sql")
    single_sql.write_text(peer.script([one]))
    bulk_sql.write_text(peer.script([one] * BULK_ROWS))
    stored, results = 0, []
    with server(dict(os.environ)) as (port, group):
        load.singles(port, token, file, run="warm", clients=8, seconds=2)
        stored = Entry.objects.count()
        for clients in CLIENTS:
            pairs, latencies, cpu, done = [], [], 0.0, 0
            for n in range(ROUNDS):
                limit = peer.run(database, single_sql, clients=clients, seconds=SECONDS)
                before, rows = cpu_seconds(group), Entry.objects.count()
                ours = load.singles(port, token, file, run=f"{clients}-{n}", clients=clients, seconds=SECONDS)
                cpu, done = cpu + cpu_seconds(group) - before, done + ours.stored
                _check(Entry.objects.count() - rows, ours, clients)
                pairs.append((ours.rate, limit))
                latencies.append(ours.p99_milliseconds)
            results.append(
                _row(f"single records, {clients} clients", pairs, cpu / done * 1e6) | {"p99 ms": max(latencies)}
            )
        pairs, cpu, done = [], 0.0, 0
        for n in range(ROUNDS):
            limit = peer.run(database, bulk_sql, clients=BULK_CLIENTS, seconds=SECONDS) * BULK_ROWS
            before, rows = cpu_seconds(group), Entry.objects.count()
            ours = load.batches(port, token, body, run=f"bulk-{n}", clients=BULK_CLIENTS, rounds=BULK_UPLOADS)
            cpu, done = cpu + cpu_seconds(group) - before, done + ours.stored
            _check(Entry.objects.count() - rows, ours, 0)
            pairs.append((ours.rate, limit))
        results.append(_row(f"bulk, {BULK_CLIENTS} clients", pairs, cpu / done * 1e6))
    return results


def _check(rows: int, ours: Any, in_flight: int) -> None:
    """Every answered record is stored; the requests in flight when the load stopped may be stored unanswered."""
    if ours.failed or not ours.stored <= rows <= ours.stored + in_flight:
        raise SystemExit(f"{ours.stored} records were answered as created, {ours.failed} failed, {rows} rows are there")


def _row(what: str, pairs: list[tuple[float, float]], cpu: float) -> dict[str, Any]:
    """Medians: records a second of ours and of pgbench, the ratio within each pair, server CPU µs a record."""
    return {
        "what": what,
        "ours/s": statistics.median(ours for ours, _ in pairs),
        "pgbench/s": statistics.median(limit for _, limit in pairs),
        "ratio": statistics.median(ours / limit for ours, limit in pairs),
        "CPU µs": cpu,
    }


if __name__ == "__main__":
    started = time.monotonic()
    main()
    print(f"in {time.monotonic() - started:.0f} s")
