"""Triggers that replace the mark of `config.changes` for every writer, including bulk updates and psql.

They are created after each `migrate`, not by a migration, because SQLite drops them whenever Django rebuilds a table.

On PostgreSQL they fire at the end of a transaction. A transaction then locks the mark's row only while it commits, and
waits for no other lock: two transactions that change keys and storage in different orders cannot deadlock. TRUNCATE
fires at once, because constraint triggers cannot watch it. It locks its whole table anyway.
"""

import hashlib
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Model

from config.models import ChangeMark

_PREFIX = "changes_"
_MARK = ChangeMark._meta.db_table
_watched: dict[type[Model], frozenset[str]] = {}

# A transaction replaces the mark once, however many rows it changes.
_FUNCTION = f"""
CREATE OR REPLACE FUNCTION note_change() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF current_setting('drs.change_noted', true) IS DISTINCT FROM pg_current_xact_id()::text THEN
        PERFORM set_config('drs.change_noted', pg_current_xact_id()::text, true);
        INSERT INTO {_MARK} ("only", mark) VALUES (true, gen_random_uuid()) ON CONFLICT ("only") DO UPDATE
            SET mark = excluded.mark;
    END IF;
    RETURN NULL;
END $$
"""  # noqa: S608 - the name of a table
_POSTGRESQL = """
CREATE CONSTRAINT TRIGGER {name} AFTER {event} ON {table} DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION note_change()
"""
_POSTGRESQL_TRUNCATE = """
CREATE TRIGGER {name} AFTER TRUNCATE ON {table} FOR EACH STATEMENT EXECUTE FUNCTION note_change()
"""
# No upsert: the conflict clause of the firing statement, such as INSERT OR IGNORE, overrides the trigger's.
_SQLITE = f"""
CREATE TRIGGER {{name}} AFTER {{event}} ON {{table}} BEGIN
    INSERT INTO {_MARK} ("only", mark) SELECT 1, '' WHERE NOT EXISTS (SELECT 1 FROM {_MARK});
    UPDATE {_MARK} SET mark = lower(hex(randomblob(16)));
END
"""  # noqa: S608 - the name of a table


def watch(model: type[Model], *, but: Collection[str] = ()) -> None:
    """Replace the mark whenever a row of this model is added, changed or deleted. Apps call this from their `ready()`.

    Args:
        but: columns that no reader of `config.changes` needs.
    """
    _watched[model] = frozenset(but)


def watched() -> Collection[type[Model]]:
    """Return the models whose changes replace the mark."""
    return _watched.keys()


def before_migrate(*, using: str, plan: Sequence[Any] = (), **_: Any) -> None:
    """Drop the triggers before migrations on SQLite, which cannot drop a column that a trigger names."""
    connection = connections[using]
    if plan and connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            for name in _present(connection, cursor):
                cursor.execute(f"DROP TRIGGER {name}")


def install(*, using: str, **_: Any) -> None:
    """Create missing or outdated triggers. Called after each `migrate`, even a partial one."""
    connection = connections[using]
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
        if _MARK not in tables:
            return
        if connection.vendor == "postgresql":
            cursor.execute(_FUNCTION)
        present = _present(connection, cursor)
        wanted = dict(_definitions(connection, cursor, tables))
        for name, table in present.items():
            if name not in wanted:
                on_table = f" ON {table}" if connection.vendor == "postgresql" else ""
                cursor.execute(f"DROP TRIGGER {name}{on_table}")
        for name in wanted.keys() - present.keys():
            cursor.execute(wanted[name])


def _definitions(connection: BaseDatabaseWrapper, cursor: Any, tables: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield name and statement of each trigger. The name changes with the statement."""
    is_postgresql = connection.vendor == "postgresql"
    template = _POSTGRESQL if is_postgresql else _SQLITE
    for model, unwatched in _watched.items():
        table = model._meta.db_table
        if table not in tables:
            continue
        present = {column.name for column in connection.introspection.get_table_description(cursor, table)}
        columns = [str(f.column) for f in model._meta.concrete_fields if f.name not in unwatched]
        of = ", ".join(column for column in columns if column in present)
        templates = dict.fromkeys(("INSERT", "DELETE", f"UPDATE OF {of}"), template)
        if is_postgresql:  # SQLite deletes row by row
            templates["TRUNCATE"] = _POSTGRESQL_TRUNCATE
        for event, statement in templates.items():
            digest = hashlib.sha256(f"{table} {event} {statement}".encode()).hexdigest()[:24]
            yield f"{_PREFIX}{digest}", statement.format(name=f"{_PREFIX}{digest}", event=event, table=table)


def _present(connection: BaseDatabaseWrapper, cursor: Any) -> dict[str, str]:
    """Return the table of each of our triggers, by the trigger's name."""
    if connection.vendor == "postgresql":
        sql = "SELECT tgname, tgrelid::regclass::text FROM pg_trigger WHERE tgname LIKE %s"
    else:
        sql = "SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger' AND name LIKE %s"
    cursor.execute(sql, [f"{_PREFIX}%"])
    return dict(cursor.fetchall())
