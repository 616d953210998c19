"""Single records over HTTP into SQLite, the default database, compared with a loop of the same statements."""

import hashlib
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.db.models import Model

from bench import load
from bench.load import Load
from bench.report import Figure, middle, ratio
from bench.rounds import SECONDS, interleaved
from bench.server import Run, WebServer, metered
from bench.subject import PLACEHOLDER, Subject
from custody.models import object_key

CLIENTS = (1, 8, 32)
MIN_RATE = {8: 800}
MAX_P99_MILLISECONDS = {8: 50}


def measure(subject: Subject, directory: Path) -> Iterator[Figure]:
    copy = directory / "loop.sqlite3"
    connection.close()  # closing moves the write-ahead log into the database file
    shutil.copy(directory / "db.sqlite3", copy)
    with WebServer() as server:
        load.singles(server.port, subject, run="warm", clients=8, seconds=2)
        contenders: dict[object, Callable[[int], Run | float]] = {"loop": partial(_loop, copy, subject)}
        contenders |= {clients: partial(_post, server, subject, clients) for clients in CLIENTS}
        results = interleaved("SQLite", contenders)
    loops = results.pop("loop")
    yield middle("records, one loop of the same statements", loops, "/s", reference=True)
    for clients in CLIENTS:
        runs = results[clients]
        at = f"{clients} client{'s' * (clients > 1)}"
        yield middle(f"{at}: records", [run.rate for run in runs], "/s", at_least=MIN_RATE.get(clients))
        yield ratio(f"{at}: share of the loop", [run.rate for run in runs], loops)
        at_most = MAX_P99_MILLISECONDS.get(clients)
        yield middle(f"{at}: p99", [run.p99_milliseconds for run in runs], "ms", at_most=at_most)
        yield middle(f"{at}: CPU", [run.microseconds for run in runs], "µs")


def _post(server: WebServer, subject: Subject, clients: int, number: int) -> Run:
    run = f"{clients}-{number}"

    def post() -> Load:
        done = load.singles(server.port, subject, run=run, clients=clients, seconds=SECONDS)
        time.sleep(1)  # for the last requests, which the client sent but did not wait for
        return done

    return metered(server, post, clients)


def _loop(file: Path, subject: Subject, number: int) -> float:
    """Return commits a second: three rows of a record in a transaction, with the pragmas of our connections."""
    statements = [_insert(row, subject) for row in subject.rows]
    database = sqlite3.connect(file, isolation_level=None)
    database.executescript(settings.DATABASES["default"]["OPTIONS"]["init_command"])
    done, started = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - started) < SECONDS:
        new = hashlib.md5(f"{number} {done}".encode()).hexdigest()
        database.execute("BEGIN IMMEDIATE")
        for statement, values in statements:
            database.execute(statement, values | {"new": new})
        database.execute("COMMIT")
        done += 1
    database.close()
    return done / elapsed


def _insert(row: Model, subject: Subject) -> tuple[str, dict[str, object]]:
    """Return the insert statement of a row, with `:new` for each identifying value, and the other values."""
    entry = subject.rows.entry
    identities = {entry.pk.hex, object_key(entry.organization_id, entry.pk), PLACEHOLDER}
    values, marks = {}, {}
    for field in row._meta.concrete_fields:
        value = field.get_db_prep_save(getattr(row, field.attname), connection)
        values[field.column] = value
        marks[field.column] = ":new" if isinstance(value, str) and value in identities else f":{field.column}"
    table = row._meta.db_table
    return f"INSERT INTO {table} ({', '.join(marks)}) VALUES ({', '.join(marks.values())})", values
