"""Database access: prepared statements for every record, locks, outages and reconnects."""

import fcntl
import select
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import psycopg
from django.core.signals import request_started
from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Field, QuerySet
from django.db.models.sql import Query
from django.dispatch import receiver

from config.pg_arrays import Array, ArrayDumper

P = ParamSpec("P")
R = TypeVar("R")
Row = TypeVar("Row")

_thread = threading.local()


def _cursor(raw: psycopg.Connection[Any]) -> psycopg.Cursor[Any]:
    """Return this thread's cursor on its connection. It is reused because a cursor learns how to adapt each type."""
    cursor: psycopg.Cursor[Any] | None = getattr(_thread, "cursor", None)
    if cursor is None or cursor.connection is not raw:
        cursor = _thread.cursor = psycopg.Cursor(raw)
        cursor.adapters.register_dumper(Array, ArrayDumper)
    return cursor


def is_outage(error: BaseException | None) -> bool:
    """Whether the database did not answer, so that the same request may succeed later."""
    return isinstance(error, OperationalError | InterfaceError)


@receiver(request_started, dispatch_uid="config.db")
def drop_ended(**_: Any) -> None:
    """Close this thread's connection if the server has ended it, so that the request gets a new one.

    On an idle connection the only thing to read is its end, so the check costs no round trip.
    """
    raw = connection.connection
    if connection.vendor == "postgresql" and raw is not None and not connection.in_atomic_block and _has_ended(raw):
        connection.close()


def _has_ended(raw: psycopg.Connection[Any]) -> bool:
    if raw.closed:
        return True
    poll = select.poll()
    poll.register(raw.fileno(), select.POLLIN)
    return bool(poll.poll(0))


def in_transaction() -> bool:
    """Whether a transaction is open. Values read in it may be rolled back, so do not cache them."""
    return connection.in_atomic_block


def lacks_migrations() -> bool:
    """Whether migrations are missing in the database."""
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def only(rows: QuerySet[Any, Row]) -> Row | None:
    """Return the single row of a query, or None. Unlike `first()`, this adds no ORDER BY, which is slow to build."""
    return next(iter(rows), None)


def lock(*names: str) -> None:
    """Lock these names until the transaction ends.

    SQLite needs no such lock: it has one writer at a time, and transactions here begin as writers.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            for name in sorted(names):  # in one order, so that two transactions cannot deadlock
                cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [name])


@contextmanager
def index_order() -> Iterator[None]:
    """Begin a transaction in which PostgreSQL reads an index in order, up to a query's limit.

    Otherwise, without recent statistics, it underestimates a backlog and sorts all of it for each claim.
    """
    with transaction.atomic():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL enable_bitmapscan = off")
        yield


@contextmanager
def turn() -> Iterator[None]:
    """Wait for a turn to write to SQLite.

    SQLite itself waits by polling, at intervals of up to 0.1 s. Here the waiting process is woken. PostgreSQL needs no
    turns.
    """
    file = Path(connection.settings_dict["NAME"])
    if connection.vendor != "sqlite" or not file.is_absolute():
        yield
        return
    with file.with_name(f"{file.name}-turn").open("wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)  # until the file is closed or the process ends
        yield


def fresh(function: Callable[P, R]) -> Callable[P, R]:
    """Call a function again, on a new connection, if it fails because the connection is lost.

    For functions outside of requests, in threads that keep their connection.
    """

    @wraps(function)
    def call(*arguments: P.args, **named: P.kwargs) -> R:
        try:
            return function(*arguments, **named)
        except (OperationalError, InterfaceError):
            connection.close()
        try:
            return function(*arguments, **named)
        except (OperationalError, InterfaceError):
            connection.close()
            raise

    return call


def empty_log() -> None:
    """Empty SQLite's write-ahead log, which may still hold erased pages. Every erasure ends with this call.

    A concurrent reader prevents it, until the next call or until the last connection is closed. Web processes never
    close theirs.
    """
    if connection.vendor == "sqlite" and not connection.in_atomic_block:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def fetch_all(sql: str, parameters: Sequence[Any], columns: Sequence[Field]) -> Iterable[Sequence[Any]]:
    """Run one statement and return its rows.

    On PostgreSQL the server prepares the statement and binds its parameters. Django's own cursors parse and plan it
    each time, at several times the cost of the statement itself.

    Args:
        columns: the model fields that the statement returns, which convert its values.

    Raises:
        django.db.Error: as for any query of Django's.
    """
    if connection.vendor == "postgresql":
        connection.ensure_connection()
        with connection.wrap_database_errors:
            return _cursor(connection.connection).execute(sql, parameters, prepare=True).fetchall()
    compiler = Query(columns[0].model).get_compiler(connection=connection)
    converters = compiler.get_converters([field.get_col(field.model._meta.db_table) for field in columns])
    with connection.cursor() as cursor:
        rows = cursor.execute(sql, parameters).fetchall()
        return list(compiler.apply_converters(rows, converters))
