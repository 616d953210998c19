"""Bounds of lists: counts and searches that read no more rows than they need."""

from collections.abc import Iterable
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import QuerySet
from django.db.models.expressions import RawSQL
from django.db.models.functions import Coalesce

from config import lookups  # noqa: F401  it registers `begins`

MAX_ROWS = 1000


def capped_count(rows: QuerySet[Any]) -> int:
    """Count the rows in one query, which stops at MAX_ROWS + 1. That number means "more than MAX_ROWS"."""
    return rows.order_by().values("pk")[: MAX_ROWS + 1].count()


def capped_counts(lists: Iterable[QuerySet[Any]], limit: int) -> list[int]:
    """Count the rows of several lists in one query, which stops at `limit` + 1 of each list."""
    return counts_up_to([(rows, limit) for rows in lists])


def counts_up_to(lists: Iterable[tuple[QuerySet[Any], int]]) -> list[int]:
    """Count the rows of several lists in one query, which stops at each list's own limit + 1."""
    limited = [rows.order_by().values("pk")[: limit + 1].query.sql_with_params() for rows, limit in lists]
    if not limited:
        return []
    counts = ", ".join(f"(SELECT COUNT(*) FROM ({sql}) AS counted)" for sql, _ in limited)  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {counts}", [parameter for _, parameters in limited for parameter in parameters])
        return list(cursor.fetchone())


def starting_with(rows: QuerySet[Any], columns: Iterable[str], text: str, *keys: Any) -> QuerySet[Any]:
    """Filter to rows in which one of the columns begins with a text, and keep their order.

    Of each column, at most MAX_ROWS + 1 matches count, the last by spelling. A subquery for each column reads them from
    its index. One condition with alternatives would read every row, and 2,000 keys as parameters take longer to write
    into a statement than the search.

    Args:
        rows: ordered by columns.
        keys: primary keys of further rows to include.
    """
    parts = [
        rows.filter(**{f"{column}__begins": text}).order_by(f"-{column}").values("pk")[: MAX_ROWS + 1]
        for column in columns
    ]
    if keys:
        parts.append(rows.filter(pk__in=keys).order_by().values("pk"))
    try:
        statements = [part.query.sql_with_params() for part in parts]
    except EmptyResultSet:  # the rows have a condition that nothing meets
        return rows.none()
    sql = " UNION ".join(f"SELECT * FROM ({part}) AS matching" for part, _ in statements)  # noqa: S608
    if connection.vendor == "postgresql":  # it expects few rows of an array, so it never scans the table for them
        sql = f"SELECT unnest(ARRAY({sql}))"
    matches = RawSQL(sql, [value for _, values in statements for value in values])  # noqa: S611
    first, *others = map(str, rows.query.order_by)
    # An expression keeps PostgreSQL from walking the index of the column itself until it has met enough matches.
    order = Coalesce(first.lstrip("-"), first.lstrip("-"))
    return rows.filter(pk__in=matches).order_by(order.desc() if first.startswith("-") else order.asc(), *others)
