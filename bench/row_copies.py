"""Copies of an organization's decisions by SQL, for sizes that `bench.growth_rows` fills too slowly. SQLite alone."""

from typing import Any

from django.db import connection, transaction
from django.db.models import Model

from accounts.models import AuditEvent, Organization
from config.progress import progress
from custody.models import Entry
from decisions.models import Decision

_YEAR_SECONDS = 365 * 86_400


def copy_decisions(organization: Organization, times: int) -> None:
    """Add `times` copies of every decision with its custody row, at times between those of the others.

    A copy has a random record id and no sealed object, so its record cannot be opened.
    """
    rows = Decision.with_disposed.for_organization(organization).count()
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA cache_size = -1000000")  # kB: indexes on random ids do not fit into the default of 2 MB
    with progress("copies", rows * times) as advance:
        for number in range(1, times + 1):
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(
                    "CREATE TEMP TABLE copied AS SELECT record_id AS old, lower(hex(randomblob(16))) AS new"
                    " FROM decisions_decision WHERE organization_id = %s AND decision_id NOT LIKE '%%#%%'",
                    [organization.pk.hex],
                )
                cursor.execute("CREATE UNIQUE INDEX temp.copied_old ON copied (old)")
                seconds = _YEAR_SECONDS * number // (rows * (times + 1))
                received_at = {"record_id": "own.new", "received_at": _earlier("received_at", seconds)}
                _insert(cursor, Entry, received_at)
                row = {
                    **received_at,
                    "decision_id": f"t.decision_id || '#{number}'",
                    "first_id": "(SELECT new FROM copied WHERE old = t.first_id)",
                    "reconsiders_id": "(SELECT new FROM copied WHERE old = t.reconsiders_id)",
                }
                # Decisions go first: SQLite would search the table for rows that wait for each of them.
                _insert(cursor, Decision, row, "WHERE t.first_id IS NULL")
                _insert(cursor, Decision, row, "WHERE t.first_id IS NOT NULL")
                cursor.execute("DROP TABLE copied")
            advance(rows)


def add_audit_events(organization: Organization, count: int) -> None:
    """Add copies of the organization's newest audit event, with other verbs."""
    columns = [field.column for field in AuditEvent._meta.concrete_fields if not field.primary_key]
    values = ["'bench.' || (n %% 30)" if column == "verb" else f"t.{column}" for column in columns]
    newest = AuditEvent.objects.for_organization(organization).latest("pk")
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < %s)"
            f" INSERT INTO accounts_auditevent ({', '.join(columns)}) SELECT {', '.join(values)}"
            " FROM numbers, accounts_auditevent t WHERE t.id = %s",
            [count, newest.pk],
        )


def _insert(cursor: Any, model: type[Model], changed: dict[str, str], where: str = "") -> None:
    """Insert the copies of a model's rows, with other values in some columns."""
    columns = [field.column for field in model._meta.concrete_fields]
    values = [changed.get(column, f"t.{column}") for column in columns]
    cursor.execute(
        f"INSERT INTO {model._meta.db_table} ({', '.join(columns)}) SELECT {', '.join(values)}"
        f" FROM copied own JOIN {model._meta.db_table} t ON t.record_id = own.old {where}"
    )


def _earlier(column: str, seconds: int) -> str:
    """Return SQL for a time as Django writes it, some seconds before that of the column."""
    return f"strftime('%Y-%m-%d %H:%M:%f', t.{column}, '-{seconds} seconds') || '000'"
