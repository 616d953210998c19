"""Triggers, which each `migrate` creates where they are missing, disabled or changed.

A migration cannot create them: SQLite drops the triggers of a table that Django rebuilds, and cannot alter a table that
a trigger mentions. So `migrate` drops them first on SQLite.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from django.db import connection, transaction

_INSTALLED = {
    "sqlite": "SELECT tbl_name, name, sql FROM sqlite_master WHERE type = 'trigger'",
    "postgresql": """
        SELECT tgrelid::regclass::text, tgname, CASE WHEN lanname = 'plpgsql' AND proconfig IS NULL AND NOT EXISTS (
                SELECT 1 FROM pg_trigger part WHERE part.tgname = t.tgname AND part.tgenabled NOT IN ('O', 'A')
            ) THEN pg_get_triggerdef(t.oid, true) || prosrc END
        FROM pg_trigger t JOIN pg_proc f ON f.oid = tgfoid JOIN pg_language l ON l.oid = prolang
        WHERE NOT tgisinternal AND tgparentid = 0
    """,  # partitions have copies of their table's row triggers, which can be disabled separately
}
_COLUMNS = {
    "sqlite": "SELECT m.name, c.name, '' FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'",
    "postgresql": """
        SELECT attrelid::regclass::text, attname, coalesce(inhparent::regclass::text, '')
        FROM pg_attribute JOIN pg_class c ON c.oid = attrelid LEFT JOIN pg_inherits ON inhrelid = attrelid
        WHERE relkind IN ('r', 'p') AND attnum > 0 AND pg_table_is_visible(attrelid)
    """,
}


class Trigger(NamedTuple):
    """A trigger, in the SQL of the connected database.

    Attributes:
        event: such as "BEFORE DELETE". On PostgreSQL, AFTER means the end of the transaction, except for TRUNCATE.
        body: statements, without the last semicolon.
        condition: SQL about OLD and NEW; the statements run where it is true.
        uses: tables and columns of the SQL, as "table.column". Without them the trigger is not created, because
            `migrate` may stop at an earlier state.
    """

    table: str
    event: str
    body: str
    condition: str
    uses: Iterable[str]


_SOURCES: dict[str, Callable[[], Iterator[Trigger]]] = {}


def register(prefix: str, source: Callable[[], Iterator[Trigger]]) -> None:
    """Add triggers whose names begin with `prefix`. A table has at most one of them for each verb."""
    _SOURCES[prefix] = source


def install(**signal: Any) -> None:
    """Create missing or outdated triggers, and drop those of earlier versions. Called after each `migrate`."""
    with transaction.atomic(), connection.cursor() as cursor:
        expected, installed = _expected(cursor), _installed(cursor)
        wrong = {place for place in installed if installed[place] != "".join(expected.get(place, ()))}
        _drop(cursor, wrong)
        dropped = {name for _, name in wrong}  # on all partitions, which share the function
        for place in sorted(expected):
            if place not in installed or place[1] in dropped:
                create, function = expected[place]
                if function:
                    name = f"{place[1]}() RETURNS trigger LANGUAGE plpgsql"
                    cursor.execute(f"CREATE OR REPLACE FUNCTION {name} AS $${function}$$")
                cursor.execute(create)


def drop(prefix: str = "") -> None:
    """Drop the triggers of a prefix, or all. `install` creates them again."""
    with transaction.atomic(), connection.cursor() as cursor:
        _drop(cursor, {place for place in _installed(cursor) if place[1].startswith(prefix)})


def before_migrate(*, plan: Sequence[Any] = (), **signal: Any) -> None:
    """Drop all triggers before migrations on SQLite."""
    if plan and connection.vendor == "sqlite":
        drop()


def missing(prefix: str) -> list[str]:
    """Return the names of tables with a trigger of this prefix that is missing, disabled or defined differently."""
    with connection.cursor() as cursor:
        expected, installed = _expected(cursor), _installed(cursor)
    return sorted(
        {
            place[0]
            for place, definition in expected.items()
            if place[1].startswith(prefix) and installed.get(place) != "".join(definition)
        }
    )


def _installed(cursor: Any) -> dict[tuple[str, str], str | None]:
    """Return the definitions of our triggers in the database, by table and name. An ineffective trigger has None."""
    cursor.execute(_INSTALLED[connection.vendor])
    ours = tuple(_SOURCES)
    return {(table, name): definition for table, name, definition in cursor.fetchall() if name.startswith(ours)}


def _drop(cursor: Any, places: Iterable[tuple[str, str]]) -> None:
    for table, name in sorted(places):
        if connection.vendor == "sqlite":
            cursor.execute(f"DROP TRIGGER {name}")
        else:
            cursor.execute(f"DROP TRIGGER IF EXISTS {name} ON {table}")
            cursor.execute(f"DROP FUNCTION IF EXISTS {name}() CASCADE")


def _expected(cursor: Any) -> dict[tuple[str, str], tuple[str, str]]:
    """Return the definitions of the triggers whose tables and columns exist, by table and name."""
    cursor.execute(_COLUMNS[connection.vendor])
    rows = cursor.fetchall()
    columns = {f"{table}.{column}" for table, column, _ in rows}
    partitions = {(table, parent) for table, _, parent in rows}
    definitions = {}
    for prefix, source in _SOURCES.items():
        for trigger in source():
            verb = trigger.event.split()[1]
            if (verb == "TRUNCATE" and connection.vendor == "sqlite") or not columns.issuperset(trigger.uses):
                continue
            name = f"{prefix}{trigger.table}_{verb.lower()}"
            children = [table for table, parent in partitions if parent == trigger.table and verb == "TRUNCATE"]
            for table in (trigger.table, *children):  # partitions inherit row triggers only
                definitions[table, name] = _definition(trigger, table, name)
    return definitions


def _definition(trigger: Trigger, table: str, name: str) -> tuple[str, str]:
    """Return the statement that creates a trigger, as PostgreSQL spells it, and the body of PostgreSQL's function."""
    time, verb = trigger.event.split()[:2]
    if connection.vendor == "sqlite":
        head = f"CREATE TRIGGER {name} {trigger.event} ON {table} WHEN {trigger.condition}"
        return f"{head} BEGIN {trigger.body}; END", ""
    kind, timing = "TRIGGER", "FOR EACH ROW"
    if verb == "TRUNCATE":
        timing = "FOR EACH STATEMENT"
    elif time == "AFTER":
        kind, timing = "CONSTRAINT TRIGGER", "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW"
    create = f"CREATE {kind} {name} {trigger.event} ON {table} {timing} EXECUTE FUNCTION {name}()"
    row = "OLD" if verb == "DELETE" else "NEW"
    return create, f"BEGIN IF {trigger.condition} THEN {trigger.body}; END IF; RETURN {row}; END"
