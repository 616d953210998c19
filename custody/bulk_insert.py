"""One statement that takes a record into custody: row, sealed object and index row together, or none of them.

Written by hand because it runs for every record: as three model saves in a transaction it costs five times as much.
"""

import re
import uuid
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import Field, Model

from config import db
from custody.models import Entry, SealedObject, WaitingObject


class NewRecord(NamedTuple):
    """The three unsaved rows of one record. Its sealed object lies in the database, or waits there for its vault."""

    entry: Entry
    sealed: SealedObject | WaitingObject
    index_row: Model


def insert(records: Sequence[NewRecord]) -> set[uuid.UUID]:
    """Insert those records whose ids custody does not know yet.

    Args:
        records: not empty, each id once, all of the same three models.

    Returns:
        The ids that were inserted.
    """
    if connection.vendor == "postgresql":
        statement = _statement(tuple(map(type, records[0])), len(records))
        # Two batches that share ids meet them in one order, so that neither waits for the other in a circle.
        ordered = sorted(records, key=lambda record: record.entry.record_id.bytes)
        values = [getattr(row, field.attname) for record in ordered for row in record for field in _fields(type(row))]
        return {row[0] for row in db.fetch_all(statement, values, [Entry._meta.pk])}
    with transaction.atomic():
        return {
            record.entry.record_id
            for record in records
            if _insert_row(record.entry, "ON CONFLICT DO NOTHING")
            and _insert_row(record.sealed)
            and _insert_row(record.index_row)
        }


@lru_cache(maxsize=8)
def _statement(rows: tuple[type[Model], ...], count: int) -> str:
    """The PostgreSQL statement for `count` records, whose rows are of these models: entry, sealed object, index row.
    `new` holds their values in columns e0…, o0…, i0….

    What is put together here are names of tables and columns; every value is a parameter.
    """
    models = dict(zip("eoi", rows, strict=True))
    columns = {prefix: [f"{prefix}{i}" for i in range(len(_fields(model)))] for prefix, model in models.items()}
    row = ", ".join(f"%s::{_cast(field)}" for model in models.values() for field in _fields(model))
    names = ", ".join(name for each in columns.values() for name in each)

    def insert_from_new(prefix: str, rest: str) -> str:
        return f"INSERT INTO {_into(models[prefix])} SELECT {', '.join(columns[prefix])} FROM new {rest}"  # noqa: S608

    matching = "JOIN entry ON entry.record_id = e0"
    return f"""
        WITH new ({names}) AS (VALUES {", ".join([f"({row})"] * count)}),
        entry AS ({insert_from_new("e", "ON CONFLICT DO NOTHING RETURNING record_id")}),
        sealed AS ({insert_from_new("o", matching)}),
        index AS ({insert_from_new("i", matching)})
        SELECT record_id FROM entry
    """  # noqa: S608


def _insert_row(row: Model, conflict: str = "") -> bool:
    marks = ", ".join(["%s"] * len(_fields(type(row))))
    with connection.cursor() as cursor:
        cursor.execute(f"INSERT INTO {_into(type(row))} VALUES ({marks}) {conflict}", _values(row))  # noqa: S608
        return bool(cursor.rowcount)


def _values(row: Model) -> list[Any]:
    return [field.get_db_prep_save(getattr(row, field.attname), connection) for field in _fields(type(row))]


@lru_cache
def _fields(model: type[Model]) -> Sequence[Field]:
    return model._meta.concrete_fields


def _into(model: type[Model]) -> str:
    return f"{model._meta.db_table} ({', '.join(str(field.column) for field in _fields(model))})"


def _cast(field: Field) -> str:
    """The type without its length: a cast to varchar(n) would cut a value where the column refuses it."""
    return re.sub(r"\(.*\)", "", str(field.db_type(connection)))
