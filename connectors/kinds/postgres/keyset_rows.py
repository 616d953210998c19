"""Rows after a place in the order of two columns, as JSON made by the server.

Rows do not become visible in the order of their times or numbers: a transaction takes those first and commits later. So
the cursor stays behind the newest rows by a lag, and the rows within the lag are read again.

The cursor:

    column, id    the values of the last row before which no other row can appear
    highest       the highest number of a numbered column, and when it was first seen
"""

import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import psycopg
from psycopg import IsolationLevel, sql

from config.http.strict_json import MAX_BYTES
from connectors.formats import Item
from connectors.kinds.base import Batch, Cursor, Source, SourceFault
from connectors.kinds.batch_bounds import BATCH_BYTES, BATCH_SECONDS
from connectors.kinds.postgres.connection import connected
from connectors.kinds.postgres.refusals import mapped

_FETCHED = 50
"""Rows at a time. Each may be as large as a record."""
_ROWS = "drs_rows"
"""The alias of the query within ours. A column of this name would hide it."""
_MAX_PLACE = 1000
"""Characters of the column and id in a cursor."""
_LAG_SECONDS, _LAG_NUMBERS = 300, 1000
_TIMES = ("timestamp with time zone", "timestamp without time zone", "date")
_NUMBERS = ("smallint", "integer", "bigint", "numeric")

# A time without a zone counts as UTC. A day has ended once the next day has begun.
_SETTLED_TIME = {
    "timestamp with time zone": "now() - make_interval(secs => %(lag)s)",
    "timestamp without time zone": "(now() AT TIME ZONE 'UTC') - make_interval(secs => %(lag)s)",
    "date": "((now() AT TIME ZONE 'UTC') - make_interval(secs => %(lag)s))::date - 1",
}


class _Types(NamedTuple):
    column: str
    id: str


def read(source: Source[Any], cursor: Cursor) -> Iterator[Batch]:
    with connected(source) as connection:
        connection.read_only, connection.isolation_level = True, IsolationLevel.REPEATABLE_READ
        server_cursor = connection.cursor(name="records")
        try:
            with source.step("listed", "The query gives rows in the order of the cursor."), mapped():
                query = _Query(source, connection, server_cursor, cursor)
                rows = query.first_rows()
            yield from _batches(source, query, rows)
        finally:
            # Commit nothing: some functions write even in a read-only transaction.
            for end in (server_cursor.close, connection.rollback):
                with suppress(psycopg.Error):  # a broken connection is already closed
                    end()


class _Query:
    def __init__(
        self,
        source: Source[Any],
        connection: psycopg.Connection[Any],
        rows: psycopg.ServerCursor[Any],
        cursor: Cursor,
    ) -> None:
        self._config, self._connection, self._rows = source.config, connection, rows
        position = self._config.cursor
        self._names = {
            "query": sql.SQL(_verbatim(self._config.query)),  # typed by a person
            "rows": sql.Identifier(_ROWS),
            "column": sql.Identifier(_ROWS, _verbatim(position.column)),
            "id": sql.Identifier(_ROWS, _verbatim(position.id)),
        }
        self._types = self._column_types()
        self.place: dict[str, Any] = {key: cursor[key] for key in ("column", "id") if key in cursor}
        self.highest: dict[str, Any] = {}
        self._settled = self._settled_time() if self._types.column in _TIMES else self._settled_number(cursor)

    def first_rows(self) -> list[Any]:
        """Return rows of text, column, id, whether earlier rows can no longer appear, and age in seconds."""
        is_time = self._types.column in _TIMES
        age = "extract(epoch FROM now() - {column})::float8" if is_time else "NULL::float8"
        later = "({column}, {id}) > (%(column)s::{column_type}, %(id)s::{id_type})"
        text = f"""
            SELECT CASE WHEN octet_length(json.text) <= %(longest)s THEN json.text END,
                left({{column}}::text, %(cut)s), left({{id}}::text, %(cut)s),
                {{column}} <= %(settled)s::{{settled_type}}, {age}
            FROM (\n{{query}}\n) {{rows}} CROSS JOIN LATERAL (SELECT row_to_json({{rows}})::text OFFSET 0) json (text)
            WHERE {later if self.place else "{column} IS NOT NULL"}
            ORDER BY {{column}}, {{id}}
        """  # noqa: S608 - a customer's query for the customer's own database
        bounds = {"longest": MAX_BYTES, "cut": _MAX_PLACE + 1}
        self._rows.execute(self._sql(text), {**self.place, **bounds, "settled": self._settled})
        return self.next_rows()

    def require_short(self, setting: str, text: str | None) -> None:
        """Raise SourceFault for a value that is too long for a cursor."""
        if len(text or "") > _MAX_PLACE:
            name = getattr(self._config.cursor, setting)
            raise SourceFault(
                f"cursor.{setting} is {name}, which has values of more than {_MAX_PLACE} characters.",
                fix="Name a column of short values.",
            )

    def next_rows(self) -> list[Any]:
        with mapped():
            return self._rows.fetchmany(_FETCHED)

    def cursor(self) -> dict[str, Any]:
        return {**self.place, **({"highest": self.highest} if self.highest else {})}

    def _column_types(self) -> _Types:
        shape = self._connection.execute(
            self._sql("SELECT {column}, {id} FROM (\n{query}\n) {rows} LIMIT %(none)s::int"), {"none": 0}
        )
        names = [self._type_name(column.type_code) for column in shape.description or ()]
        types = _Types(*names)
        if types.column not in _TIMES + _NUMBERS:
            raise SourceFault(
                f"cursor.column is of the type {types.column}, which does not grow with time.",
                fix="Name a column of times or whole numbers.",
            )
        return types

    def _type_name(self, oid: int) -> str:
        row = self._connection.execute("SELECT format_type(%s::oid, NULL)", [oid]).fetchone()
        return str(row[0]) if row else ""

    def _settled_time(self) -> str:
        lag = self._config.cursor.lag
        values = {"lag": _LAG_SECONDS if lag is None else lag}
        return self._value(f"SELECT ({_SETTLED_TIME[self._types.column]})::text", values)[0] or ""

    def _settled_number(self, cursor: Cursor) -> str | None:
        """Return the highest number less the lag, or the highest number itself if it has not grown for long."""
        lag = self._config.cursor.lag
        values = {"lag": _LAG_NUMBERS if lag is None else lag, "cut": _MAX_PLACE + 1}
        highest, settled = self._value(
            "SELECT left(max({column})::text, %(cut)s), left((max({column})::numeric - %(lag)s)::text, %(cut)s) "
            "FROM (\n{query}\n) {rows}",
            values,
        )
        self.require_short("column", highest)
        if highest is None:
            return None
        known = cursor.get("highest") or {}
        is_known = known.get("number") == highest and known.get("seen", 0) <= time.time()
        self.highest = {"number": highest, "seen": known["seen"] if is_known else int(time.time())}
        return highest if time.time() - self.highest["seen"] >= _LAG_SECONDS else settled

    def _value(self, text: str, values: dict[str, Any]) -> tuple[str | None, ...]:
        row = self._connection.execute(self._sql(text), values).fetchone()
        return tuple(row or ())

    def _sql(self, text: str) -> sql.Composed:
        types = getattr(self, "_types", _Types("text", "text"))
        is_number = types.column in _NUMBERS
        return sql.SQL(text).format(  # made of constants above
            **self._names,
            column_type=sql.SQL(types.column),  # as the server spells it
            id_type=sql.SQL(types.id),
            settled_type=sql.SQL("numeric" if is_number else types.column),
        )


def _verbatim(text: str) -> str:
    """Escape percent signs, which begin the placeholders of psycopg."""
    return text.replace("%", "%%")


def _batches(source: Source[Any], query: _Query, rows: list[Any]) -> Iterator[Batch]:
    items: list[Item] = []
    size, age, began = 0, None, time.monotonic()
    while rows:
        for raw, column, key, is_settled, seconds in rows:
            try:
                query.require_short("column", column)
                query.require_short("id", key)
            except SourceFault:
                yield _batch(query, items, age)
                raise
            age = seconds
            problem = "" if raw is not None else f"It is larger than {MAX_BYTES // 2**20} MiB."
            items.append(Item((raw or "").encode(), f"row {key}", problem=problem))
            size += len(raw or "")
            if is_settled:
                query.place = {"column": column, "id": key}
            now = time.monotonic()
            is_full = len(items) >= source.batch_items or size >= BATCH_BYTES or now - began >= BATCH_SECONDS
            if is_full or now >= source.deadline:
                yield _batch(query, items, age)
                items, size, began = [], 0, now
            if now >= source.deadline:
                return
        rows = query.next_rows()
    yield _batch(query, items, age)


def _batch(query: _Query, items: list[Item], age: float | None) -> Batch:
    return Batch(items, query.cursor(), max(age, 0.0) if items and age is not None else None)
