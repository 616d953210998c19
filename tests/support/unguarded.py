"""Statements that the database refuses to the service: what an administrator of the database, or damage, can do."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

from config import row_guards


@contextmanager
def unguarded() -> Iterator[None]:
    """Let statements change and remove signed rows. On PostgreSQL foreign keys are not checked meanwhile either."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET session_replication_role = replica")
            try:
                yield
            finally:
                cursor.execute("SET session_replication_role = origin")
        return
    row_guards.drop()
    try:
        yield
    finally:
        row_guards.install()
