"""Hash partitions, by record id, of the hot tables, which grow with every record.

Each partition is a table with its own indexes, which stay small and may be on another disk. The definitions that
migrations made are read from PostgreSQL's catalogue and applied again, so that later migrations work as before.
"""

from typing import NamedTuple

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from django.db.models import Model

from config import row_guards
from config.errors import DomainError

MAX_PARTITIONS = 64
"""More partitions slow down inserts and lists, and need more locks to be made."""

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
    """The hot tables cannot be partitioned, or not into this number."""

    code = "cannot_partition"


class _Definitions(NamedTuple):
    """SQL that restores the definitions of the hot tables: keys, then indexes and triggers, then foreign keys in both
    directions, which are dropped first."""

    drop_foreign_keys: list[str]
    keys: list[str]
    others: list[str]
    foreign_keys: list[str]


def register(*models: type[Model]) -> None:
    """Add hot tables whose primary keys are or contain the record id; apps call this from their `ready()`."""
    _HOT.extend(models)


def partition_tables(*, parts: int) -> list[str]:
    """Divide each hot table into this number of partitions, all tables or none.

    Returns:
        The names of the tables.

    Raises:
        CannotPartition: not PostgreSQL, not this number, or not with these tables.
    """
    if connection.vendor != "postgresql":
        raise CannotPartition("Only PostgreSQL has partitions: set DATABASE_URL.")
    if not 2 <= parts <= MAX_PARTITIONS:
        raise CannotPartition(f"A table takes 2 to {MAX_PARTITIONS} partitions.")
    keys = {model._meta.db_table: str(model._meta.pk.column) for model in _HOT}
    with transaction.atomic(), connection.cursor() as cursor:
        _require_new(cursor, list(keys))
        definitions = _definitions(cursor, keys)
        for statement in definitions.drop_foreign_keys:
            cursor.execute(statement)
        for table, key in keys.items():
            _replace(cursor, table, key, parts)
        for statement in (*definitions.keys, *definitions.others, *definitions.foreign_keys):
            cursor.execute(statement)
        row_guards.install()  # partitions do not inherit statement triggers
    return list(keys)


def _require_new(cursor: CursorWrapper, tables: list[str]) -> None:
    """Lock the tables against writes until the transaction ends, and check that they are new."""
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
    definitions = _Definitions([], [], [], [])

    def unique(definition: str, table: str, columns: list[str]) -> str:
        """Add the partition's key to a unique index, which covers only one partition. Uniqueness across partitions
        then follows from the record id, which is computed from the other columns."""
        return definition if keys[table] in columns else definition.replace(")", f", {keys[table]})", 1)

    cursor.execute(_CONSTRAINTS, {"hot": list(keys)})
    for table, name, definition, is_foreign, columns in cursor.fetchall():
        add = f"ALTER TABLE {table} ADD CONSTRAINT {name} "
        if is_foreign:
            definitions.drop_foreign_keys.append(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
            definitions.foreign_keys.append(add + definition)
        else:
            definitions.keys.append(add + unique(definition, table, columns))
    cursor.execute(_INDEXES, {"hot": list(keys)})
    for table, definition, is_unique, columns in cursor.fetchall():
        definitions.others.append(unique(definition, table, columns) if is_unique else definition)
    cursor.execute(_TRIGGERS, {"hot": list(keys)})
    definitions.others.extend(definition for (definition,) in cursor.fetchall())
    return definitions


def _replace(cursor: CursorWrapper, table: str, key: str, parts: int) -> None:
    """Create the table again, without keys and indexes, in partitions. Fails if anything else depends on it."""
    cursor.execute(f"ALTER TABLE {table} RENAME TO {table}_whole")
    columns = f"LIKE {table}_whole INCLUDING ALL EXCLUDING INDEXES"
    cursor.execute(f"CREATE TABLE {table} ({columns}) PARTITION BY HASH ({key})")
    for part in range(parts):
        values = f"WITH (MODULUS {parts}, REMAINDER {part})"
        cursor.execute(f"CREATE TABLE {table}_p{part} PARTITION OF {table} FOR VALUES {values}")
    cursor.execute(f"DROP TABLE {table}_whole")
