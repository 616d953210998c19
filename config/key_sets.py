"""Key-set paging: rows after or before a row of an ordered list, at the same cost on every page.

New rows do not shift pages, as they do with OFFSET, and no row is read to be skipped.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

from django.db.models import F, Model, OrderBy, Q, QuerySet

Position = Sequence[Any]
"""The values of the keys in one row."""


class _Key(NamedTuple):
    """A column of an order. `part` is its term in the ORDER BY, without a rule for NULL."""

    name: str
    is_descending: bool
    part: Any


class KeySet:
    """Ordered rows, and the columns that order them.

    The last column must be unique. Only the first may be NULL, and rows without it come last.
    """

    def __init__(self, rows: QuerySet[Any]) -> None:
        self.rows = rows
        self.keys = [_key(part) for part in rows.query.order_by]
        self.has_empty = getattr(self._field(self.keys[0]), "null", False)

    def position(self, row: Model) -> list[Any]:
        """Return the position of a row, for JSON."""
        values = [attrgetter(key.name.replace("__", "."))(row) for key in self.keys]
        return [value if value is None or isinstance(value, int) else str(value) for value in values]

    def read(self, position: Position) -> list[Any]:
        """Return a position that was JSON. Raises ValueError or ValidationError if the keys have changed."""
        return [self._field(key).to_python(value) for key, value in zip(self.keys, position, strict=True)]

    def after(self, position: Position | None, limit: int) -> list[Any]:
        """Return the rows after a position, or the first, in two queries at most."""
        return _take(self._segments(position), limit)

    def before(self, position: Position, limit: int) -> list[Any]:
        """Return the rows before a position, in the order of the list, in two queries at most."""
        return _take(self._segments(position, backwards=True), limit)[::-1]

    def _segments(self, position: Position | None, *, backwards: bool = False) -> Iterator[QuerySet[Any]]:
        """Yield the rows with a first key, and those without, from a position on.

        Databases disagree on where NULL sorts. An index serves each of the two queries.
        """
        if not self.has_empty:
            yield _ordered(self.rows, self.keys, position, backwards)
            return
        is_empty = Q(**{f"{self.keys[0].name}__isnull": True})
        filled = partial(_ordered, self.rows.filter(~is_empty), self.keys)
        empty = partial(_ordered, self.rows.filter(is_empty), self.keys[1:])
        if position is None or position[0] is not None:
            yield filled(position, backwards)
            if not backwards:
                yield empty(None, backwards)
        else:
            yield empty(position[1:], backwards)
            if backwards:
                yield filled(None, backwards)

    def _field(self, key: _Key) -> Any:
        """Return the field of a key, or that of an annotation."""
        query = self.rows.query
        if annotation := query.annotations.get(key.name):
            return annotation.output_field
        return query.names_to_path(key.name.split("__"), query.get_meta(), fail_on_missing=True)[1]


def _ordered(rows: QuerySet[Any], keys: Sequence[_Key], position: Position | None, backwards: bool) -> QuerySet[Any]:
    """Return the rows beyond a position, nearest first."""
    rows = rows.order_by(*(key.part for key in keys))
    if position is not None:
        rows = rows.filter(_beyond(list(zip(keys, position, strict=True)), backwards))
    return rows.reverse() if backwards else rows


def _take(segments: Iterator[QuerySet[Any]], limit: int) -> list[Any]:
    rows: list[Any] = []
    for segment in segments:
        rows += segment[: limit - len(rows)]
        if len(rows) >= limit:
            break
    return rows


def _beyond(keys: Sequence[tuple[_Key, Any]], backwards: bool) -> Q:
    """Return the condition of rows beyond a position.

    The first comparison bounds the range of an index, and the others decide among rows with the same first key.
    """
    (key, value), *others = keys
    comparison = "lt" if key.is_descending != backwards else "gt"
    further = Q(**{f"{key.name}__{comparison}": value})
    if not others:
        return further
    return Q(**{f"{key.name}__{comparison}e": value}) & (further | _beyond(others, backwards))


def _key(part: Any) -> _Key:
    if isinstance(part, str):
        return _Key(part.removeprefix("-"), part.startswith("-"), part)
    part = part.copy() if isinstance(part, OrderBy) else part.asc()
    part.nulls_first = part.nulls_last = None
    return _Key(_name(part.expression), part.descending, part)


def _name(expression: Any) -> str:
    """Return the column of an expression that only hides it from the planner."""
    return expression.name if isinstance(expression, F) else _name(expression.get_source_expressions()[0])
