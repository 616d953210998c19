"""Statements that the guards of signed rows refuse, but that a database administrator, or damage, can cause."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

from config import row_guards, triggers


@contextmanager
def unguarded() -> Iterator[None]:
    """Let statements change and remove signed rows. On PostgreSQL, foreign keys are not checked either."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET session_replication_role = replica")
            try:
                yield
            finally:
                cursor.execute("SET session_replication_role = origin")
        return
    triggers.drop(row_guards.PREFIX)
    try:
        yield
    finally:
        triggers.install()
