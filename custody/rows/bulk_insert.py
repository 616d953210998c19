"""Bulk statement that inserts records: for each, its row, sealed object and index row together, or none.

It is written in SQL because it runs for every record: as three model saves it costs five times as much.
"""

import json
import re
import uuid
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import Field, Model

from config import db
from config.pg_arrays import pack
from custody.models import Entry, SealedObject, WaitingObject


class NewRecord(NamedTuple):
    """The three unsaved rows of one record. Its sealed object stays in the database, or waits there for its vault."""

    entry: Entry
    sealed: SealedObject | WaitingObject
    index_row: Model


def insert(records: Sequence[NewRecord]) -> list[bool]:
    """Insert the records whose ids are new to custody, one statement for those that stay in the database and one for
    those that wait for their vault. Of several records with one id only the first counts.

    Args:
        records: all with the same model of index rows.

    Returns:
        Whether each record was inserted.
    """
    first: dict[uuid.UUID, NewRecord] = {}
    for record in records:
        first.setdefault(record.entry.record_id, record)
    inserted: set[uuid.UUID] = set()
    for kind in (SealedObject, WaitingObject):
        if of_kind := [record for record in first.values() if isinstance(record.sealed, kind)]:
            inserted |= _insert(of_kind)
    return [first[record.entry.record_id] is record and record.entry.record_id in inserted for record in records]


def _insert(records: Sequence[NewRecord]) -> set[uuid.UUID]:
    if connection.vendor == "postgresql":
        # In one order, so that two batches with the same ids cannot deadlock.
        statement, values = prepared(sorted(records, key=lambda record: record.entry.record_id.bytes))
        return {row[0] for row in db.fetch_all(statement, values, [Entry._meta.pk])}
    with transaction.atomic(), connection.cursor() as cursor:  # SQLite has one writer, which this is from the start
        known = _known_to_sqlite(cursor, [record.entry.record_id.hex for record in records])
        new = [record for record in records if record.entry.record_id.hex not in known]
        for model, rows in zip(map(type, records[0]), zip(*new, strict=True), strict=False):  # `new` may be empty
            cursor.executemany(_row_statement(model), [_values(row) for row in rows])
    return {record.entry.record_id for record in new}


def prepared(records: Sequence[NewRecord]) -> tuple[str, Sequence[Any]]:
    """Return the PostgreSQL statement that inserts records, and its parameters.

    It is the same for any number of records, so that each connection prepares it once: each parameter is an array of
    one column's values. A single record is inserted without arrays, because packing and unpacking them would cost it a
    third more.
    """
    models = tuple(map(type, records[0]))
    rows = [[getattr(row, field.attname) for row in record for field in _fields(type(row))] for record in records]
    if len(rows) == 1:
        return _statement(models, "%s::{}"), rows[0]
    columns = zip(_types(models), zip(*rows, strict=True), strict=True)
    return _statement(models, "unnest(%s::{}[])"), [pack(name, values) for name, values in columns]


@lru_cache
def _statement(models: tuple[type[Model], ...], parameter: str) -> str:
    """Return a statement that inserts rows of these models: entries, sealed objects, index rows. `new` holds their
    values in columns e0…, o0…, i0….

    Only names of tables, columns and types are put into the text; every value is a parameter.
    """
    columns = [
        [f"{prefix}{i}" for i in range(len(_fields(model)))] for prefix, model in zip("eoi", models, strict=True)
    ]
    entry, sealed, index = (
        f"INSERT INTO {_into(model)} SELECT {', '.join(names)} FROM new"  # noqa: S608
        for model, names in zip(models, columns, strict=True)
    )
    return f"""
        WITH new ({", ".join(chain(*columns))}) AS (SELECT {", ".join(map(parameter.format, _types(models)))}),
        entry AS ({entry} ON CONFLICT DO NOTHING RETURNING record_id),
        sealed AS ({sealed} WHERE e0 IN (SELECT record_id FROM entry)),
        index AS ({index} WHERE e0 IN (SELECT record_id FROM entry))
        SELECT record_id FROM entry
    """  # noqa: S608


def _known_to_sqlite(cursor: Any, ids: list[str]) -> set[str]:
    cursor.execute(
        "SELECT record_id FROM custody_entry WHERE record_id IN (SELECT value FROM json_each(%s))", [json.dumps(ids)]
    )
    return {row[0] for row in cursor.fetchall()}


@lru_cache
def _row_statement(model: type[Model]) -> str:
    return f"INSERT INTO {_into(model)} VALUES ({', '.join(['%s'] * len(_fields(model)))})"  # noqa: S608


def _values(row: Model) -> list[Any]:
    return [field.get_db_prep_save(getattr(row, field.attname), connection) for field in _fields(type(row))]


@lru_cache
def _fields(model: type[Model]) -> Sequence[Field]:
    return model._meta.concrete_fields


def _into(model: type[Model]) -> str:
    return f"{model._meta.db_table} ({', '.join(str(field.column) for field in _fields(model))})"


@lru_cache
def _types(models: tuple[type[Model], ...]) -> Sequence[str]:
    """Return all columns' types without lengths: a cast to varchar(n) would cut a value that the column refuses."""
    return [re.sub(r"\([^()]*\)", "", str(field.db_type(connection))) for model in models for field in _fields(model)]
