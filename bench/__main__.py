"""`make bench`: ingest over HTTP and in bulk, beside pgbench running the same SQL in the same database; drafting;
connectors; ingest into a bucket; the pages of the back office; disposals. `make bench PART=drafting` runs one alone.

Runs of both alternate, so that a machine that speeds up or slows down does so for both; what counts is the ratio.
"""

import os
import statistics
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import django
import psycopg
from rich.console import Console
from rich.table import Table

from bench.server import WebServer, database_cpu_seconds
from tests.throwaway import DURABLE, postgresql

if TYPE_CHECKING:
    from bench.subject import Subject

ROUNDS = 3
SECONDS = 5
CLIENTS = (1, 8, 32)
BULK_ROWS = 100
BULK_CLIENTS = 4
BULK_UPLOADS = 2


@dataclass
class Pair:
    """One run of ours and one of pgbench, right after each other: records a second, and the CPU time that ours takes
    for a record, in the web server and in the database."""

    ours: float
    limit: float
    cpu_microseconds: float
    database_microseconds: float
    p99_milliseconds: float


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="drs-bench-") as directory, postgresql(DURABLE) as base:
        with psycopg.connect(base + "postgres", autocommit=True) as connection:
            connection.execute("CREATE DATABASE drs")
        database = base + "drs"
        os.environ |= {"DATABASE_URL": database, "DATA_DIR": directory, "DJANGO_SETTINGS_MODULE": "config.settings"}
        django.setup()
        from bench import (
            back_office,
            clouds,
            connectors,
            drafting,
            retention,
        )  # they import models, which need Django set up
        from bench.subject import Subject

        subject = Subject.create(Path(directory))
        parts: dict[str, Callable[[], Table]] = {
            "ingest": lambda: ingest(subject, Path(directory), database),
            "drafting": drafting.measure,
            "connectors": connectors.measure,
            "clouds": lambda: clouds.measure(subject, Path(directory)),
            "back_office": back_office.measure,
            "retention": retention.measure,
        }
        for part in sys.argv[1:] or parts:
            Console(width=110).print(parts[part]())


def ingest(subject: "Subject", directory: Path, database: str) -> Table:
    """Records a second, single and in bulk, beside pgbench with the same SQL."""
    from bench import load, peer  # they import models, which need Django set up

    single, bulk = directory / "single.sql", directory / "bulk.sql"
    single.write_text(peer.script([subject.rows]))
    bulk.write_text(peer.script([subject.rows] * BULK_ROWS))
    table = Table("what", "ours, records/s", "pgbench, records/s", "share", "web CPU", "database CPU", "p99")
    with WebServer() as server:
        load.singles(server.port, subject, run="warm", clients=8, seconds=2)
        for clients in CLIENTS:
            post = partial(load.singles, server.port, subject, clients=clients, seconds=SECONDS)
            limit = partial(peer.run, database, single, clients=clients, seconds=SECONDS)
            pairs = [_pair(server, partial(post, run=f"{clients}-{n}"), limit, clients) for n in range(ROUNDS)]
            table.add_row(f"single records, {clients} clients", *_medians(pairs))
        upload = partial(load.batches, server.port, subject, clients=BULK_CLIENTS, uploads=BULK_UPLOADS)
        limit = partial(peer.run, database, bulk, clients=BULK_CLIENTS, seconds=SECONDS, rows=BULK_ROWS)
        pairs = [_pair(server, partial(upload, run=f"bulk-{n}"), limit, 0) for n in range(ROUNDS)]
        table.add_row(f"bulk, {BULK_CLIENTS} clients", *_medians(pairs))
    return table


def _pair(server: WebServer, ours: Callable, limit: Callable[[], float], in_flight: int) -> Pair:
    from custody.models import Entry

    peak = limit()
    rows = Entry.objects.count()
    cpu, database_cpu = server.cpu_seconds(), database_cpu_seconds()
    run = ours()
    cpu, database_cpu = server.cpu_seconds() - cpu, database_cpu_seconds() - database_cpu
    new = Entry.objects.count() - rows
    # Every answered record is stored; those in flight when the load stopped may be stored without an answer.
    if run.failed or not run.stored <= new <= run.stored + in_flight:
        raise SystemExit(f"{run.stored} records were answered as created, {run.failed} failed, {new} rows are there")
    return Pair(run.rate, peak, cpu / new * 1e6, database_cpu / new * 1e6, run.p99_milliseconds)


def _medians(pairs: list[Pair]) -> list[str]:
    middle = statistics.median
    return [
        f"{middle(p.ours for p in pairs):,.0f}",
        f"{middle(p.limit for p in pairs):,.0f}",
        f"{middle(p.ours / p.limit for p in pairs):.3f}",
        f"{middle(p.cpu_microseconds for p in pairs):,.0f} µs/record",
        f"{middle(p.database_microseconds for p in pairs):,.0f} µs/record",
        f"{middle(p.p99_milliseconds for p in pairs):.0f} ms" if pairs[0].p99_milliseconds else "",
    ]


if __name__ == "__main__":
    main()
