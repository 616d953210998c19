"""Triggers that protect signed rows and the audit trail: the database refuses to delete or change them.

A guard stops all statements under the service's role, including the service's own. It cannot stop a database
administrator from dropping it, but `missing` then reports it. Guards are created after each `migrate`. On SQLite
`migrate` drops them first, because SQLite cannot alter a table that a trigger mentions.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import Model

_PREFIX = "guard_"
_REFUSAL = "{table}: signed rows and audit events are neither removed nor changed"

_INSTALLED = {
    "sqlite": r"""
        SELECT tbl_name, name, sql FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'guard\_%%' ESCAPE '\'
    """,
    "postgresql": r"""
        SELECT tgrelid::regclass::text, tgname, CASE WHEN proname = tgname AND lanname = 'plpgsql' AND proconfig IS NULL
            AND tgenabled IN ('O', 'A') AND tgqual IS NULL AND tgattr::text = '' AND NOT EXISTS (
                SELECT 1 FROM pg_trigger part WHERE part.tgname = guard.tgname AND part.tgenabled NOT IN ('O', 'A')
            ) THEN tgtype || prosrc ELSE '' END
        FROM pg_trigger guard JOIN pg_proc f ON f.oid = tgfoid JOIN pg_language l ON l.oid = prolang
        WHERE tgname LIKE 'guard\_%%' AND tgparentid = 0
    """,  # partitions have copies of their table's row triggers, which can be disabled separately
}
_COLUMNS = {
    "sqlite": "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'",
    "postgresql": """
        SELECT attrelid::regclass::text, attname FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
        WHERE relkind IN ('r', 'p') AND attnum > 0 AND pg_table_is_visible(attrelid)
    """,
}
_TRIGGER_TYPES = {"DELETE": 1 + 2 + 8, "UPDATE": 1 + 2 + 16, "TRUNCATE": 2 + 32}
"""Values of PostgreSQL's `tgtype`: 1 is "for each row", 2 is "before", the other bits are the verb."""
_PARTITIONS = "SELECT inhparent::regclass::text, inhrelid::regclass::text FROM pg_inherits"


@dataclass(frozen=True, slots=True)
class Guard:
    """A rule for one table.

    Attributes:
        model: model of the guarded rows.
        rows: SQL that is true for a row, OLD, that must not be deleted. A mapping by database if they need other SQL.
        changes: SQL that is true for a forbidden change from OLD to NEW. `{a, b}` means "column a or b changes".
        uses: further tables and columns in the SQL, as "table.column".
    """

    model: type[Model]
    rows: str | Mapping[str, str] = "true"
    changes: str = ""
    uses: Sequence[str] = ()

    def conditions(self, differs: str) -> tuple[tuple[str, str], tuple[str, str]]:
        """Return the refused conditions, by verb. `differs` is the database's NULL-safe inequality operator."""
        rows = self.rows if isinstance(self.rows, str) else self.rows[connection.vendor]
        return ("DELETE", rows), ("UPDATE", _expanded(self.changes, differs))


class _Trigger(NamedTuple):
    """A trigger of one table. `definition` is in the form that `_installed` reads back."""

    table: str
    name: str
    definition: str
    statements: Sequence[str]


_GUARDS: list[Guard] = []


def register(*guards: Guard) -> None:
    """Add guards. Apps call this from their `ready()`."""
    _GUARDS.extend(guards)


def install(**signal: Any) -> None:
    """Create missing or outdated guards, and drop those of earlier versions. Called after each `migrate`."""
    with transaction.atomic(), connection.cursor() as cursor:
        expected = {(trigger.table, trigger.name): trigger for trigger in _expected(cursor)}
        installed = _installed(cursor)
        wrong = {place for place, definition in installed.items() if _definition(expected.get(place)) != definition}
        dropped = {name for _, name in wrong}
        for name in sorted(dropped):  # on PostgreSQL with all triggers of the function, including those of partitions
            _drop(cursor, name)
        for place in sorted(expected):
            if place not in installed or place[1] in dropped:
                for statement in expected[place].statements:
                    cursor.execute(statement)


def drop(**signal: Any) -> None:
    """Drop all guards before tables are altered. `install` creates them again."""
    with transaction.atomic(), connection.cursor() as cursor:
        for _, name in sorted(_installed(cursor)):
            _drop(cursor, name)


def before_migrate(*, plan: Sequence[Any] = (), **signal: Any) -> None:
    """Drop the guards before migrations on SQLite."""
    if plan and connection.vendor == "sqlite":
        drop()


def missing() -> list[str]:
    """Return the names of tables with a guard that is missing, disabled or defined differently."""
    with connection.cursor() as cursor:
        installed = _installed(cursor)
        expected = list(_expected(cursor))
    return sorted({row.table for row in expected if installed.get((row.table, row.name)) != row.definition})


def _installed(cursor: Any) -> dict[tuple[str, str], str]:
    """Return the definitions of the guards in the database, by table and name. A disabled guard has ""."""
    cursor.execute(_INSTALLED[connection.vendor], [])
    return {(table, name): definition for table, name, definition in cursor.fetchall()}


def _definition(trigger: _Trigger | None) -> str | None:
    return trigger.definition if trigger else None


def _drop(cursor: Any, name: str) -> None:
    statement = "DROP TRIGGER IF EXISTS {}" if connection.vendor == "sqlite" else "DROP FUNCTION IF EXISTS {}() CASCADE"
    cursor.execute(statement.format(name))


def _expected(cursor: Any) -> Iterator[_Trigger]:
    """Yield the triggers of guards whose tables and columns exist: `migrate` may stop at an earlier state."""
    cursor.execute(_COLUMNS[connection.vendor])
    columns = {f"{table}.{column}" for table, column in cursor.fetchall()}
    partitions: list[tuple[str, str]] = []
    if connection.vendor == "postgresql":
        cursor.execute(_PARTITIONS)
        partitions = cursor.fetchall()
    for guard in _GUARDS:
        table = guard.model._meta.db_table
        own = {f"{table}.{column}" for column in _columns_in(guard.changes)} | {
            f"{table}.{guard.model._meta.pk.column}"
        }
        if not own | set(guard.uses) <= columns:
            continue
        if connection.vendor == "sqlite":
            yield from _sqlite(guard, table)
        else:
            children = [child for parent, child in partitions if parent == table]
            yield from _postgresql(guard, table, children)


def _sqlite(guard: Guard, table: str) -> Iterator[_Trigger]:
    for verb, condition in guard.conditions("IS NOT"):
        if condition:
            refusal = f"SELECT RAISE(ABORT, '{_REFUSAL.format(table=table)}')"
            body = f"BEFORE {verb} ON {table} WHEN {condition} BEGIN {refusal}; END"
            name = _name(table, verb, body)
            statement = f"CREATE TRIGGER {name} {body}"
            yield _Trigger(table, name, statement, [statement])


def _postgresql(guard: Guard, table: str, children: Sequence[str]) -> Iterator[_Trigger]:
    """Yield row triggers, which partitions inherit, and statement triggers, which they do not."""
    for verb, condition in guard.conditions("IS DISTINCT FROM"):
        if condition:
            row = "OLD" if verb == "DELETE" else "NEW"
            body = f"BEGIN IF {condition} THEN {_raise(table)} END IF; RETURN {row}; END"
            name = _name(table, verb, body)
            trigger = f"CREATE TRIGGER {name} BEFORE {verb} ON {table} FOR EACH ROW EXECUTE FUNCTION {name}()"
            yield _Trigger(table, name, f"{_TRIGGER_TYPES[verb]} {body} ", [_function(name, body), trigger])
    body = f"BEGIN {_raise(table)} END"
    name = _name(table, "TRUNCATE", body)
    for place in (table, *children):
        trigger = f"CREATE TRIGGER {name} BEFORE TRUNCATE ON {place} FOR EACH STATEMENT EXECUTE FUNCTION {name}()"
        yield _Trigger(place, name, f"{_TRIGGER_TYPES['TRUNCATE']} {body} ", [_function(name, body), trigger])


def _raise(table: str) -> str:
    return f"RAISE EXCEPTION '{_REFUSAL.format(table=table)}' USING ERRCODE = 'integrity_constraint_violation';"


def _function(name: str, body: str) -> str:
    return f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ {body} $$"


def _name(table: str, verb: str, body: str) -> str:
    return f"{_PREFIX}{table}_{verb.lower()}_{hashlib.sha256(body.encode()).hexdigest()[:8]}"


def _expanded(changes: str, differs: str) -> str:
    """Return the SQL with each `{a, b}` written out."""
    for group in _groups(changes):
        compared = " OR ".join(f"OLD.{column} {differs} NEW.{column}" for column in _names(group))
        changes = changes.replace("{" + group + "}", f"({compared})")
    return changes


def _columns_in(changes: str) -> list[str]:
    return [column for group in _groups(changes) for column in _names(group)]


def _groups(changes: str) -> list[str]:
    return [part.split("}")[0] for part in changes.split("{")[1:]]


def _names(group: str) -> list[str]:
    return [name.strip() for name in group.split(",")]
