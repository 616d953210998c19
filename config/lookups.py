"""`begins`: texts that begin with another exactly as it is spelled, which an index of the column finds."""

from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import CharField
from django.db.models.lookups import StartsWith
from django.db.models.sql.compiler import SQLCompiler

_LAST = "\U0010ffff"


@CharField.register_lookup
class Begins(StartsWith):
    """On PostgreSQL `startswith`, which a column of the collation "C" serves by its index."""

    lookup_name = "begins"

    def get_rhs_op(self, connection: BaseDatabaseWrapper, rhs: str) -> str:
        return connection.operators["startswith"] % rhs

    def as_sqlite(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> tuple[str, list[Any]]:
        """A range: SQLite's LIKE takes capitals for small letters, and finds nothing by an index that does not."""
        column, params = self.process_lhs(compiler, connection)
        end = _next(self.rhs)
        if end is None:
            return f"{column} >= %s", [*params, self.rhs]
        return f"({column} >= %s AND {column} < %s)", [*params, self.rhs, *params, end]


def _next(beginning: str) -> str | None:
    """The first text, as bytes sort, after all that begin so; None if there is none."""
    kept = beginning.rstrip(_LAST)
    if not kept:
        return None
    following = ord(kept[-1]) + 1
    return kept[:-1] + chr(0xE000 if following == 0xD800 else following)  # UTF-8 has no surrogates between
