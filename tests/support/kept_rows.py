"""Rows that many tests begin with: the first test of a process makes them as people do, the others get copies."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any, TypeVar

import time_machine
from django.apps import apps
from django.conf import settings
from django.db import connection
from django.db.models import Model

Made = TypeVar("Made")
_Rows = dict[type[Model], dict[Any, tuple[Any, ...]]]

_kept: dict[str, tuple[Any, str]] = {}


def kept(name: str, make: Callable[[], Made]) -> Made:
    """What `make` answers, in a database that holds the rows which it adds and changes.

    Args:
        name: of these rows. Whoever asks for it begins with the same rows before them.

    SQLite numbers the copied rows as it would number another test's own, so that there they are made each time.
    """
    usual = settings.CUSTODY_VAULT == "database" and not time_machine.escape_hatch.is_travelling()
    if connection.vendor != "postgresql" or not usual:
        return make()
    if name in _kept:
        made, statements = _kept[name]
        with connection.cursor() as cursor:
            cursor.execute(statements)
        return deepcopy(made)
    before = _rows()
    made = make()
    _kept[name] = deepcopy(made), ";".join(_statements(before, _rows()))
    return made


def _rows() -> _Rows:
    """Every row, by its primary key."""
    found: _Rows = {}
    with connection.cursor() as cursor:
        for model in apps.get_models(include_auto_created=True):
            if model._meta.proxy:
                continue
            columns, keys = _columns(model)
            cursor.execute(f"SELECT {_listed(columns)} FROM {_listed([model._meta.db_table])}")
            at = [columns.index(key) for key in keys]
            found[model] = {tuple(row[place] for place in at): row for row in cursor.fetchall()}
    return found


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
    """All of a table's, and those of its primary key."""
    own = [field.column for field in model._meta.local_concrete_fields]
    return own, [field.column for field in model._meta.pk_fields]


def _listed(names: list[str]) -> str:
    return ", ".join(map(connection.ops.quote_name, names))
