"""Triggers that replace the mark of `config.changes` for every writer, including bulk updates and psql.

On PostgreSQL they fire at the end of a transaction. A transaction then locks the mark's row only while it commits, and
waits for no other lock: two transactions that change keys and storage in different orders cannot deadlock. TRUNCATE
fires at once, because constraint triggers cannot watch it. It locks its whole table anyway.
"""

from collections.abc import Collection, Iterator

from django.db import connection
from django.db.models import Model

from config.models import ChangeMark
from config.triggers import Trigger

PREFIX = "changes_"
_MARK = ChangeMark._meta.db_table
_watched: dict[type[Model], frozenset[str]] = {}

# SQLite: no upsert, because the conflict clause of the firing statement, such as INSERT OR IGNORE, overrides the
# trigger's. PostgreSQL: a transaction replaces the mark once, however many rows it changes. A connection that restores
# a dump has no search path, so the schema is named.
_REPLACE = {
    "sqlite": f"""
        INSERT INTO {_MARK} ("only", mark) SELECT 1, '' WHERE NOT EXISTS (SELECT 1 FROM {_MARK});
        UPDATE {_MARK} SET mark = lower(hex(randomblob(16)))""",  # noqa: S608 - the name of a table
    "postgresql": f"""
        PERFORM set_config('drs.change_noted', pg_current_xact_id()::text, true);
        EXECUTE format('INSERT INTO %I.{_MARK} ("only", mark) VALUES (true, gen_random_uuid())
            ON CONFLICT ("only") DO UPDATE SET mark = excluded.mark', TG_TABLE_SCHEMA)""",  # noqa: S608
}
_CONDITION = {
    "sqlite": "true",
    "postgresql": "current_setting('drs.change_noted', true) IS DISTINCT FROM pg_current_xact_id()::text",
}


def watch(model: type[Model], *, but: Collection[str] = ()) -> None:
    """Replace the mark whenever a row of this model is added, changed or deleted. Apps call this from their `ready()`.

    Args:
        but: columns that no reader of `config.changes` needs.
    """
    _watched[model] = frozenset(but)


def watched() -> Collection[type[Model]]:
    """Return the models whose changes replace the mark."""
    return _watched.keys()


def triggers() -> Iterator[Trigger]:
    """Yield the triggers of the watched models."""
    body, condition = _REPLACE[connection.vendor], _CONDITION[connection.vendor]
    for model, unwatched in _watched.items():
        table = model._meta.db_table
        columns = [str(field.column) for field in model._meta.concrete_fields if field.name not in unwatched]
        uses = {f"{_MARK}.mark", *(f"{table}.{column}" for column in columns)}
        for event in ("INSERT", "DELETE", f"UPDATE OF {', '.join(columns)}", "TRUNCATE"):  # SQLite deletes row by row
            yield Trigger(table, f"AFTER {event}", body, condition, uses)
