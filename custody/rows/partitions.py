"""The hot tables, those that grow by a row with every record, in hash partitions by record id.

Each partition is a table with indexes of its own, which stay small and can lie on another disk. What migrations made
of a table is read back from PostgreSQL's catalogue and made again, so that later migrations find what they expect.
"""

from typing import NamedTuple

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from django.db.models import Model

from config import row_guards
from config.errors import DomainError

MOST = 64
"""With each partition, planning an insert and reading a list take longer, and this command takes more locks."""

_HOT: list[type[Model]] = []

_PARTITIONED = """
    SELECT inhparent::regclass::text, count(*) FROM pg_inherits WHERE inhparent = ANY (%s::regclass[]) GROUP BY 1
"""
_CONSTRAINTS = """
    SELECT conrelid::regclass::text, quote_ident(conname), pg_get_constraintdef(oid), contype = 'f',
        ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = conrelid AND attnum = ANY (conkey))
    FROM pg_constraint
    WHERE (conrelid = ANY (%(hot)s::regclass[]) OR confrelid = ANY (%(hot)s::regclass[])) AND contype NOT IN ('c', 'n')
"""
_INDEXES = """
    SELECT indrelid::regclass::text, pg_get_indexdef(indexrelid), indisunique,
        ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = indrelid AND attnum = ANY (indkey))
    FROM pg_index WHERE indrelid = ANY (%(hot)s::regclass[])
        AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = indexrelid AND contype <> 'f')
"""
_TRIGGERS = """
    SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = ANY (%(hot)s::regclass[]) AND NOT tgisinternal
"""


class CannotPartition(DomainError):
    """The hot tables cannot be partitioned, or not so."""

    code = "cannot_partition"


class _Definitions(NamedTuple):
    """SQL that makes again what belongs to the hot tables: keys, then indexes and triggers, then foreign keys in both
    directions, which go first."""

    drop_foreign_keys: list[str]
    keys: list[str]
    others: list[str]
    foreign_keys: list[str]


def register(*models: type[Model]) -> None:
    """Add hot tables, whose primary keys are the record id or contain it; apps call this from their `ready()`."""
    _HOT.extend(models)


def partition_tables(*, parts: int) -> list[str]:
    """Give each hot table so many partitions, all tables or none.

    Returns:
        The names of the tables.

    Raises:
        CannotPartition: not on this database, not so many, or not any more.
    """
    if connection.vendor != "postgresql":
        raise CannotPartition("Only PostgreSQL has partitions: set DATABASE_URL.")
    if not 2 <= parts <= MOST:
        raise CannotPartition(f"A table takes 2 to {MOST} partitions.")
    keys = {model._meta.db_table: str(model._meta.pk.column) for model in _HOT}
    with transaction.atomic(), connection.cursor() as cursor:
        _require_new(cursor, list(keys))
        found = _definitions(cursor, keys)
        for statement in found.drop_foreign_keys:
            cursor.execute(statement)
        for table, key in keys.items():
            _replace(cursor, table, key, parts)
        for statement in (*found.keys, *found.others, *found.foreign_keys):
            cursor.execute(statement)
        row_guards.install()  # those of statements, which partitions do not inherit
    return list(keys)


def _require_new(cursor: CursorWrapper, tables: list[str]) -> None:
    """Nobody writes into the tables from here until the transaction ends."""
    if not set(tables) <= set(connection.introspection.table_names(cursor)):
        raise CannotPartition("The tables are not there yet: run `manage.py migrate` first.")
    cursor.execute(f"LOCK TABLE {', '.join(tables)}")
    cursor.execute(_PARTITIONED, [tables])
    for table, count in cursor.fetchall():
        raise CannotPartition(f"{table} has {count} partitions already.")
    for table in tables:
        cursor.execute(f"SELECT FROM {table} LIMIT 1")
        if cursor.rowcount:
            raise CannotPartition(f"{table} holds rows: only a new database can be partitioned.")


def _definitions(cursor: CursorWrapper, keys: dict[str, str]) -> _Definitions:
    found = _Definitions([], [], [], [])

    def unique(definition: str, table: str, columns: list[str]) -> str:
        """Each partition looks after its own rows alone, so the partition's key belongs to whatever is unique. That
        nothing else is the same twice then follows from the record id, which is computed from the rest."""
        return definition if keys[table] in columns else definition.replace(")", f", {keys[table]})", 1)

    cursor.execute(_CONSTRAINTS, {"hot": list(keys)})
    for table, name, definition, is_foreign, columns in cursor.fetchall():
        add = f"ALTER TABLE {table} ADD CONSTRAINT {name} "
        if is_foreign:
            found.drop_foreign_keys.append(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
            found.foreign_keys.append(add + definition)
        else:
            found.keys.append(add + unique(definition, table, columns))
    cursor.execute(_INDEXES, {"hot": list(keys)})
    for table, definition, is_unique, columns in cursor.fetchall():
        found.others.append(unique(definition, table, columns) if is_unique else definition)
    cursor.execute(_TRIGGERS, {"hot": list(keys)})
    found.others.extend(definition for (definition,) in cursor.fetchall())
    return found


def _replace(cursor: CursorWrapper, table: str, key: str, parts: int) -> None:
    """Make the table again, without keys and indexes, in partitions. Whatever else depends on it stops this."""
    cursor.execute(f"ALTER TABLE {table} RENAME TO {table}_whole")
    columns = f"LIKE {table}_whole INCLUDING ALL EXCLUDING INDEXES"
    cursor.execute(f"CREATE TABLE {table} ({columns}) PARTITION BY HASH ({key})")
    for part in range(parts):
        values = f"WITH (MODULUS {parts}, REMAINDER {part})"
        cursor.execute(f"CREATE TABLE {table}_p{part} PARTITION OF {table} FOR VALUES {values}")
    cursor.execute(f"DROP TABLE {table}_whole")
