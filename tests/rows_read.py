"""Rows that a database reads for some work: a count that does not depend on the load of the computer.

PostgreSQL counts the rows that its scans of tables and indexes return, SQLite the steps of its virtual machine.
"""

from collections.abc import Callable
from typing import Any

from django.db import connection

_RETURNED = """
    SELECT SUM(pg_stat_get_xact_tuples_returned(oid)) FROM pg_class
    WHERE relkind IN ('r', 'i') AND relnamespace = 'public'::regnamespace
"""
_STEPS = 20


def rows_read(work: Callable[[], Any]) -> int:
    """Return the rows read by `work`. Call it in a transaction, such as that of a test."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL enable_seqscan = off")  # else it scans small tables
            cursor.execute("SET LOCAL join_collapse_limit = 8")  # the default of other servers
        before = _returned()
        work()
        return _returned() - before
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    connection.ensure_connection()
    connection.connection.set_progress_handler(count, _STEPS)
    try:
        work()
    finally:
        connection.connection.set_progress_handler(None, 0)
    return steps


def _returned() -> int:
    with connection.cursor() as cursor:
        cursor.execute(_RETURNED)
        return int(cursor.fetchone()[0])
