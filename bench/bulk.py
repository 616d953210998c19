"""Records in bulk, over HTTP and with `manage.py ingest`, compared with pgbench running the same SQL with as many
records a transaction, and with PyPI packages that store events."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import psycopg
from django.db import connection

from bench import load, peer
from bench.report import Figure, middle, ratio
from bench.rounds import SECONDS, interleaved
from bench.server import PEER_PYTHON, Run, WebServer, metered
from bench.subject import PLACEHOLDER, Subject
from custody.models import Entry
from decisions.services.records import CHUNK

CLIENTS, UPLOADS = 4, 2
FROM_A_FILE = 10_000
OF_PGBENCH, OF_OTHERS = 0.6, 1.0
_CHAINS = ("auditchain, signed", "auditchain, hashes alone")
_MANAGE = [sys.executable, "manage.py", "ingest"]


def measure(subject: Subject, directory: Path, database: str) -> Iterator[Figure]:
    script = directory / "bulk.sql"
    script.write_text(peer.script([subject.rows] * CHUNK))
    beside = _database_of_others(database)
    with WebServer() as server:
        load.batches(server.port, subject, run="warm", clients=CLIENTS, uploads=1)
        contenders: dict[str, Callable[[int], Run | float]] = {
            "http": partial(_upload, server, subject),
            "command": partial(_command, subject, directory),
            "pgbench": partial(_pgbench, database, script, CLIENTS),
            "pgbench, 1 client": partial(_pgbench, database, script, 1),
            "auditchain, signed": partial(_other, beside, subject, "auditchain_bulk", "signed"),
            "auditchain, hashes alone": partial(_other, beside, subject, "auditchain_bulk", "plain"),
            "eventsourcing": partial(_other, beside, subject, "eventsourcing_bulk", str(CLIENTS)),
            "eventsourcing, 1 process": partial(_other, beside, subject, "eventsourcing_bulk", "1"),
        }
        results = interleaved("Bulk", contenders)
    runs = results.pop("http")
    rates = results | {"http": [run.rate for run in runs]}
    http, command = f"HTTP, {CLIENTS} clients", "manage.py ingest"
    yield middle(f"{http}: records", rates["http"], "/s")
    yield middle(f"{command}: records", rates["command"], "/s")
    for name in (name for name in results if name != "command"):
        yield middle(f"{name}: records", rates[name], "/s", reference=True)
    # The command is one process with one connection, so compare it with one client and one process.
    for shown, ours, others in (
        (http, rates["http"], ("pgbench", *_CHAINS, "eventsourcing")),
        (command, rates["command"], ("pgbench, 1 client", *_CHAINS, "eventsourcing, 1 process")),
    ):
        for other in others:
            goal = OF_PGBENCH if other.startswith("pgbench") else OF_OTHERS
            yield ratio(f"{shown}: beside {other}", ours, rates[other], at_least=goal)
    yield middle(f"{http}: CPU, web", [run.web_microseconds for run in runs], "µs")
    yield middle(f"{http}: CPU, PostgreSQL", [run.database_microseconds for run in runs], "µs")


def _upload(server: WebServer, subject: Subject, number: int) -> Run:
    send = partial(load.batches, server.port, subject, clients=CLIENTS, uploads=UPLOADS)
    return metered(server, lambda: send(run=f"bulk-{number}"))


def _command(subject: Subject, directory: Path, number: int) -> float:
    """Return records a second, without the time that the command takes for an empty file."""
    file, rows = directory / "records.ndjson", Entry.objects.count()
    file.write_bytes(b"")
    to_start = _seconds(file)
    lines = (subject.record.replace(PLACEHOLDER.encode(), f"file-{number}-{n}".encode()) for n in range(FROM_A_FILE))
    file.write_bytes(b"\n".join(lines))
    seconds = _seconds(file) - to_start
    if Entry.objects.count() - rows != FROM_A_FILE:
        raise SystemExit(f"Not all of {FROM_A_FILE} records were taken from the file.")
    return FROM_A_FILE / seconds


def _seconds(file: Path) -> float:
    started = time.perf_counter()
    subprocess.run([*_MANAGE, file], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - started


def _pgbench(database: str, script: Path, clients: int, number: int) -> float:
    return peer.run(database, script, clients=clients, seconds=SECONDS, rows=CHUNK)


def _database_of_others(database: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE others")
    return database.rpartition("/")[0] + "/others"


def _other(database: str, subject: Subject, module: str, how: str, number: int) -> float:
    """Return the records a second of another package, after counting its rows."""
    before = _rows_of_others(database)
    command = [PEER_PYTHON, "-m", f"bench.peers.{module}", database, subject.file, SECONDS, CHUNK, how]
    done = subprocess.run([*map(str, command)], stdout=subprocess.PIPE, text=True, check=True)
    records, seconds = map(float, done.stdout.split())
    if _rows_of_others(database) - before < records:
        raise SystemExit(f"{module} says that it stored {records:.0f} records, which are not there.")
    return records / seconds


def _rows_of_others(database: str) -> int:
    with psycopg.connect(database) as others:
        tables = others.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename ~ '^audit_|_events$'"
        )
        return sum(others.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for (name,) in tables.fetchall())
