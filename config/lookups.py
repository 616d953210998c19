"""Lookups that use an index: `begins`, a case-sensitive prefix search, and `among`, for partial indexes."""

from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import CharField
from django.db.models.lookups import In, StartsWith
from django.db.models.sql.compiler import SQLCompiler

_LAST = "\U0010ffff"


@CharField.register_lookup
class Begins(StartsWith):
    """A prefix search. On PostgreSQL it is `startswith`, which uses the index of a column with collation "C"."""

    lookup_name = "begins"

    def get_rhs_op(self, connection: BaseDatabaseWrapper, rhs: str) -> str:
        return connection.operators["startswith"] % rhs

    def as_sqlite(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> tuple[str, list[Any]]:
        """Return a range condition: SQLite's LIKE ignores case, so it cannot use a case-sensitive index."""
        column, params = self.process_lhs(compiler, connection)
        end = _next(self.rhs)
        if end is None:
            return f"{column} >= %s", [*params, self.rhs]
        return f"({column} >= %s AND {column} < %s)", [*params, self.rhs, *params, end]


@CharField.register_lookup
class Among(In):
    """`in` for constants, which the SQL contains: SQLite needs them there to use an index with such a condition."""

    lookup_name = "among"

    def as_sql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> tuple[str, list[Any]]:
        column, parameters = self.process_lhs(compiler, connection)
        values = [str(value) for value in self.rhs]
        if not all(value.isidentifier() for value in values):
            raise ValueError("Use `among` for constants only: letters, digits and underscores.")
        constants = ", ".join(f"'{value}'" for value in values)
        return f"{column} IN ({constants})", list(parameters)


def _next(beginning: str) -> str | None:
    """Return the first text, in byte order, after all texts that begin so, or None if there is none."""
    prefix = beginning.rstrip(_LAST)
    if not prefix:
        return None
    following = ord(prefix[-1]) + 1
    return prefix[:-1] + chr(0xE000 if following == 0xD800 else following)  # UTF-8 has no surrogates
