"""The few statements that run for every record, prepared once a connection."""

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
    """This thread's cursor on its connection, kept because a cursor learns how to adapt each type it meets."""
    kept: psycopg.Cursor[Any] | None = getattr(_thread, "cursor", None)
    if kept is None or kept.connection is not raw:
        kept = _thread.cursor = psycopg.Cursor(raw)
        kept.adapters.register_dumper(Array, ArrayDumper)
    return kept


def is_outage(error: BaseException | None) -> bool:
    """Whether the database did not answer, so that the same request may succeed later."""
    return isinstance(error, OperationalError | InterfaceError)


@receiver(request_started, dispatch_uid="config.db")
def drop_ended(**_: Any) -> None:
    """Close this thread's connection if the server has ended it, as by a restart: the request then begins with a new
    one. An idle connection has nothing to read but its end, so that asking costs no round trip."""
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
    """Whether what is read now may yet vanish with a transaction, so that nobody should remember it."""
    return connection.in_atomic_block


def lacks_migrations() -> bool:
    """Whether the database is of an older version than the code, or empty."""
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def only(rows: QuerySet[Any, Row]) -> Row | None:
    """The row of a query that finds one at most, as by a key. `first()` would have what is found sorted, and to say so
    takes Django longer than the rest of such a query."""
    return next(iter(rows), None)


def lock(*names: str) -> None:
    """Let one transaction at a time go on that locks any of these names; the lock ends with the transaction.

    SQLite has one writer at a time anyway, and transactions here begin as writers.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            for name in sorted(names):  # in one order, so that no two wait for each other
                cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [name])


@contextmanager
def index_order() -> Iterator[None]:
    """Begin a transaction in which PostgreSQL reads an index in its order up to a query's limit.

    Without recent statistics it takes the rows of a backlog for few, and sorts all of them for each claim.
    """
    with transaction.atomic():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL enable_bitmapscan = off")
        yield


@contextmanager
def turn() -> Iterator[None]:
    """Wait for a turn to write, together with other processes that ask for one. SQLite's own waiting is to sleep and
    try again, for up to a tenth of a second; whoever waits here is woken. PostgreSQL needs no turns."""
    file = Path(connection.settings_dict["NAME"])
    if connection.vendor != "sqlite" or not file.is_absolute():
        yield
        return
    with file.with_name(f"{file.name}-turn").open("wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)  # until it is closed, or its process ends
        yield


def fresh(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function that runs outside of requests, in a thread that keeps its connection, survive the loss of it: it
    is called again with a new one."""

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
    """Have SQLite empty its log, which holds pages as they were before. Whoever reads at that moment keeps it from
    that, until it is asked again or the last connection is closed. Web processes keep theirs as long as they run, so
    whatever erases for good asks for it at its end."""
    if connection.vendor == "sqlite" and not connection.in_atomic_block:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def fetch_all(sql: str, parameters: Sequence[Any], columns: Sequence[Field]) -> Iterable[Sequence[Any]]:
    """Run one statement and return its rows.

    On PostgreSQL the statement is prepared on the server and its parameters are bound there, which Django's own
    cursors do not do: they parse and plan anew each time, at several times the cost of the statement itself.

    Args:
        columns: the model fields that the statement returns, whose Python values the rows then hold.

    Raises:
        django.db.Error: as any query of Django's.
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
