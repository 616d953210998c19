"""Rows that many tests share: the first test of a process creates them through the service, the others copy them."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any, TypeVar

import time_machine
from django.apps import apps
from django.conf import settings
from django.db import connection
from django.db.models import Model

Result = TypeVar("Result")
_Rows = dict[type[Model], dict[Any, tuple[Any, ...]]]

_remembered: dict[str, tuple[Any, str]] = {}


def make_once(name: str, make: Callable[[], Result]) -> Result:
    """Return the result of `make`. After the first call of a process, copy the rows that it added or changed.

    Args:
        name: names these rows. Every call with this name must start with the same rows.

    SQLite would give another row of the test the id of a copied row, so there `make` runs each time.
    """
    usual = settings.CUSTODY_VAULT == "database" and not time_machine.escape_hatch.is_travelling()
    if connection.vendor != "postgresql" or not usual:
        return make()
    if name in _remembered:
        result, statements = _remembered[name]
        with connection.cursor() as cursor:
            cursor.execute(statements)
        return deepcopy(result)
    before = _rows()
    result = make()
    _remembered[name] = deepcopy(result), ";".join(_statements(before, _rows()))
    return result


def _rows() -> _Rows:
    """Return every row, by its primary key."""
    rows: _Rows = {}
    with connection.cursor() as cursor:
        for model in apps.get_models(include_auto_created=True):
            if model._meta.proxy:
                continue
            columns, keys = _columns(model)
            cursor.execute(f"SELECT {_listed(columns)} FROM {_listed([model._meta.db_table])}")
            at = [columns.index(key) for key in keys]
            rows[model] = {tuple(row[place] for place in at): row for row in cursor.fetchall()}
    return rows


def _statements(before: _Rows, after: _Rows) -> Iterator[str]:
    for model, rows in after.items():
        columns, keys = _columns(model)
        table, listed, values = _listed([model._meta.db_table]), _listed(columns), ", ".join(["%s"] * len(columns))
        for key, row in rows.items():
            if key not in before[model]:
                yield connection.ops.compose_sql(f"INSERT INTO {table} ({listed}) VALUES ({values})", row)
            elif row != before[model][key]:
                where = " AND ".join(f"{_listed([column])} = %s" for column in keys)
                changed = f"UPDATE {table} SET ({listed}) = ROW ({values}) WHERE {where}"
                yield connection.ops.compose_sql(changed, (*row, *key))


def _columns(model: type[Model]) -> tuple[list[str], list[str]]:
    """Return a table's columns, and the columns of its primary key."""
    own = [field.column for field in model._meta.local_concrete_fields]
    return own, [field.column for field in model._meta.pk_fields]


def _listed(names: list[str]) -> str:
    return ", ".join(map(connection.ops.quote_name, names))
