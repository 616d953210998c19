"""The few statements that run for every record, prepared once a connection."""

import threading
from collections.abc import Iterable, Sequence
from typing import Any

import psycopg
from django.db import connection
from django.db.models import Field
from django.db.models.sql import Query

_thread = threading.local()


def _cursor(raw: psycopg.Connection[Any]) -> psycopg.Cursor[Any]:
    """This thread's cursor on its connection, kept because a cursor learns how to adapt each type it meets."""
    kept: psycopg.Cursor[Any] | None = getattr(_thread, "cursor", None)
    if kept is None or kept.connection is not raw:
        kept = _thread.cursor = psycopg.Cursor(raw)
    return kept


def in_transaction() -> bool:
    """Whether what is read now may yet vanish with a transaction, so that nobody should remember it."""
    return connection.in_atomic_block


def lock(*names: str) -> None:
    """Let one transaction at a time go on that locks any of these names; the lock ends with the transaction.

    SQLite has one writer at a time anyway, and transactions here begin as writers.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            for name in sorted(names):  # in one order, so that no two wait for each other
                cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [name])


def empty_log() -> None:
    """Have SQLite empty its log, which holds pages as they were before. Whoever reads at that moment keeps it from
    that, until it is asked again or the last connection is closed."""
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
