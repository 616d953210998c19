"""Planner statistics of SQLite, which each `migrate` writes by one rule, as if there were 200 organizations.

Measured statistics mislead it. Without any, it expects ten rows for `organization_id = ?` and sorts a million. With
those of one large organization, it scans tables where an index has the order. So nothing runs ANALYZE on the data.
"""

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from django.db import connection, transaction

ORGANIZATIONS = 200
_ROWS = 1_000_000
_PARTIAL_SHARE = 20
"""A partial index has one row in 20, such as those that wait for work."""
_FREQUENT_VALUES = 20
"""The number of states, systems or kinds that one prefix of an index has."""
_RARE_ROWS = 10
"""The rows that share a subject or a referenced row. SQLite assumes the same number."""
_ORGANIZATION_TABLE = "accounts_organization"
_INDEXED_COLUMNS = """
    SELECT m.name, i.name, i."unique", i.partial, t.name, t.type, f."table" IS NOT NULL
    FROM sqlite_master m, pragma_index_list(m.name) i, pragma_index_info(i.name) x
    LEFT JOIN pragma_table_info(m.name) t ON t.cid = x.cid
    LEFT JOIN pragma_foreign_key_list(m.name) f ON f."from" = t.name
    WHERE m.type = 'table'
    ORDER BY m.name, i.name, x.seqno
"""


class _Column(NamedTuple):
    table: str
    index_name: str
    is_unique: bool
    is_partial: bool
    name: str | None
    type: str | None
    is_reference: bool

    @property
    def is_organization(self) -> bool:
        return self.name == "organization_id"


def install(**signal: Any) -> None:
    """Write the statistics of every index if they differ. Called after each `migrate`."""
    if connection.vendor != "sqlite":
        return
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_INDEXED_COLUMNS)
        expected = sorted(_statistics([_Column(*row) for row in cursor.fetchall()]))
        if expected != _installed(cursor):
            cursor.execute("DROP TABLE IF EXISTS sqlite_stat4")  # samples that an operator's ANALYZE may have left
            cursor.execute("DROP TABLE IF EXISTS sqlite_stat1")  # so that other processes reload the schema
            cursor.execute("ANALYZE sqlite_master")  # creates the table and measures nothing
            cursor.executemany("INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (%s, %s, %s)", expected)
            cursor.execute("ANALYZE sqlite_master")  # loads the rows


def _installed(cursor: Any) -> list[tuple[str, str, str]]:
    cursor.execute("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_stat1'")
    if cursor.fetchone() is None:
        return []
    cursor.execute("SELECT tbl, idx, stat FROM sqlite_stat1 ORDER BY tbl, idx")
    return list(cursor.fetchall())


def _statistics(columns: list[_Column]) -> Iterator[tuple[str, str, str]]:
    """Yield rows of sqlite_stat1: https://www.sqlite.org/fileformat2.html#the_sqlite_stat1_table."""
    for table, of_table in groupby(columns, itemgetter(0)):
        indexes = [list(of_index) for _, of_index in groupby(of_table, itemgetter(1))]
        is_small = table == _ORGANIZATION_TABLE or any(_has_one_row_each(index) for index in indexes)
        for index in indexes:
            numbers = " ".join(map(str, _rows_a_prefix(index, ORGANIZATIONS if is_small else _ROWS)))
            # Skipping through the first column costs a search for each organization.
            yield table, index[0].index_name, f"{numbers} noskipscan"


def _has_one_row_each(index: list[_Column]) -> bool:
    """Whether an index allows one row for each organization."""
    (first, *others) = index
    return first.is_organization and first.is_unique and not first.is_partial and not others


def _rows_a_prefix(index: list[_Column], table_rows: int) -> Iterator[int]:
    """Yield the rows of an index, then for each of its prefixes the mean number of rows that share a value."""
    rows = table_rows // _PARTIAL_SHARE if index[0].is_partial else table_rows
    yield rows
    for column in index:
        is_last = column is index[-1]
        if column.is_organization:
            rows //= ORGANIZATIONS
        elif column.type == "datetime":
            rows = 1
        elif is_last or column.is_reference:
            rows = min(rows, _RARE_ROWS)
        else:
            rows //= _FREQUENT_VALUES
        rows = 1 if is_last and column.is_unique else max(rows, 1)
        yield rows
