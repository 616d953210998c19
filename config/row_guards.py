"""Triggers that protect signed rows and the audit trail: the database refuses to delete or change them.

A guard stops all statements under the service's role, including the service's own. It cannot stop a database
administrator from dropping it, but `triggers.missing` then reports it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.db import connection
from django.db.models import Model

from config.triggers import Trigger

PREFIX = "guard_"
_REFUSE = {
    "sqlite": "SELECT RAISE(ABORT, '{}')",
    "postgresql": "RAISE EXCEPTION '{}' USING ERRCODE = 'integrity_constraint_violation'",
}
_DIFFERS = {"sqlite": "IS NOT", "postgresql": "IS DISTINCT FROM"}
"""NULL-safe inequality operators."""


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


_GUARDS: list[Guard] = []


def register(*guards: Guard) -> None:
    """Add guards. Apps call this from their `ready()`."""
    _GUARDS.extend(guards)


def triggers() -> Iterator[Trigger]:
    """Yield the triggers of all guards."""
    for guard in _GUARDS:
        table = guard.model._meta.db_table
        refusal = f"{table}: signed rows and audit events are neither removed nor changed"
        columns = {str(guard.model._meta.pk.column), *_columns_in(guard.changes)}
        uses = {*guard.uses, *(f"{table}.{column}" for column in columns)}
        rows = guard.rows if isinstance(guard.rows, str) else guard.rows[connection.vendor]
        conditions = {"DELETE": rows, "UPDATE": _expanded(guard.changes), "TRUNCATE": "true"}
        for verb, condition in conditions.items():
            if condition:
                yield Trigger(table, f"BEFORE {verb}", _REFUSE[connection.vendor].format(refusal), condition, uses)


def _expanded(changes: str) -> str:
    """Return the SQL with each `{a, b}` written out."""
    for group in _groups(changes):
        differs = _DIFFERS[connection.vendor]
        compared = " OR ".join(f"OLD.{column} {differs} NEW.{column}" for column in _names(group))
        changes = changes.replace("{" + group + "}", f"({compared})")
    return changes


def _columns_in(changes: str) -> list[str]:
    return [column for group in _groups(changes) for column in _names(group)]


def _groups(changes: str) -> list[str]:
    return [part.split("}")[0] for part in changes.split("{")[1:]]


def _names(group: str) -> list[str]:
    return [name.strip() for name in group.split(",")]
