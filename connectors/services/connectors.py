"""Services that create, change and delete connectors. `version` counts the changes that affect a running poll."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from accounts.authority import requires
from accounts.callers import Caller
from accounts.roles import Permission
from config import secret_references
from config.celery import wake
from connectors import sources
from connectors.errors import BadName, BadSchedule
from connectors.models import MAX_NAME, MAX_SCHEDULE, MIN_SCHEDULE, Connector
from connectors.services import rows

POLL_TASK = "connectors.tasks.poll"


@dataclass(frozen=True, slots=True)
class Changes:
    """Changes of a connector; None means unchanged. `config` replaces all settings, `secret_ref` "" clears it."""

    name: str | None = None
    config: dict[str, Any] | None = None
    secret_ref: str | None = None
    schedule_seconds: int | None = None
    enabled: bool | None = None
    reset_cursor: bool = False


@requires(Permission.MANAGE_CONNECTORS)
def create_connector(
    *,
    caller: Caller,
    kind: str,
    name: str,
    config: dict[str, Any],
    secret_ref: str = "",
    schedule_seconds: int = 300,
    enabled: bool = True,
) -> Connector:
    """Create a connector, which is polled at once unless it is disabled or its settings have problems.

    Raises:
        BadName, BadSchedule
        ReferenceRefused: secret_ref may not read what it points to.
    """
    _check(Changes(name=name, secret_ref=secret_ref, schedule_seconds=schedule_seconds))
    checked = sources.check(kind, config, secret_ref)
    with transaction.atomic():
        connector = Connector.objects.create(
            organization_id=caller.organization_id,
            kind=kind,
            name=name,
            config=checked.config,
            problems=checked.problems,
            secret_ref=secret_ref,
            schedule_seconds=schedule_seconds,
            enabled=enabled,
            next_poll_at=timezone.now() if enabled and not checked.problems else None,
            created_by=str(caller.actor),
        )
        rows.record("created", caller, connector, kind=kind, problems=len(checked.problems))
        wake(POLL_TASK)
    return connector


@requires(Permission.MANAGE_CONNECTORS)
def change_connector(*, caller: Caller, connector: Connector, changes: Changes) -> Connector:
    """Change a connector. A running poll with other settings, or of a connector that is now disabled or reset, can no
    longer write its cursor.

    Raises:
        BadName, BadSchedule, ReferenceRefused, NoConnector
    """
    _check(changes)
    with transaction.atomic():
        row = rows.locked(caller, connector)
        changed = _apply(row, changes)
        if changed:
            row.save(update_fields=[*_CHANGED_BY_SERVICES])
            rows.record("changed", caller, row, changed=changed)
            wake(POLL_TASK)
    return row


@requires(Permission.MANAGE_CONNECTORS)
def delete_connector(*, caller: Caller, connector: Connector) -> None:
    """Delete a connector with its runs, ledger and quarantine. Its records stay in custody. Raises NoConnector."""
    with transaction.atomic():
        row = rows.locked(caller, connector)
        rows.record("deleted", caller, row, kind=row.kind)
        row.delete()


@requires(Permission.MANAGE_CONNECTORS)
def request_poll(*, caller: Caller, connector: Connector) -> Connector:
    """Poll a connector now, and restart it if it was stopped.

    Raises:
        NotPolled: it is disabled, or its settings have problems.
        NoConnector
    """
    with transaction.atomic():
        row = rows.locked(caller, connector)
        rows.require_polled(row)
        rows.start(row)
        row.save(update_fields=[*rows.STARTED])
        rows.record("poll_requested", caller, row)
        wake(POLL_TASK)
    return row


_CHANGED_BY_SERVICES = (
    "name", "config", "secret_ref", "schedule_seconds", "enabled", "version", "problems", "cursor", "caught_up_at",
    *rows.STARTED,
)  # fmt: skip


def _check(changes: Changes) -> None:
    if changes.name is not None and not 1 <= len(changes.name) <= MAX_NAME:
        raise BadName
    if changes.schedule_seconds is not None and not MIN_SCHEDULE <= changes.schedule_seconds <= MAX_SCHEDULE:
        raise BadSchedule
    if changes.secret_ref:
        secret_references.require_allowed(changes.secret_ref)


def _apply(row: Connector, changes: Changes) -> list[str]:
    """Change the row. Return the names of the changed fields."""
    wanted = {
        name: value
        for name in ("name", "schedule_seconds", "enabled", "secret_ref")
        if (value := getattr(changes, name)) is not None and value != getattr(row, name)
    }
    for name, value in wanted.items():
        setattr(row, name, value)
    if changes.config is not None or "secret_ref" in wanted:
        checked = sources.check(row.kind, row.config if changes.config is None else changes.config, row.secret_ref)
        row.config, row.problems = checked.config, checked.problems
    changed = [*wanted, *(["config"] if changes.config is not None else [])]
    if changes.reset_cursor:
        _reset(row)
        changed.append("cursor")
    if {"config", "secret_ref", "enabled", "cursor"} & set(changed):
        row.version += 1
        rows.start(row)
    elif "schedule_seconds" in wanted and row.next_poll_at:
        row.next_poll_at = min(row.next_poll_at, timezone.now() + timedelta(seconds=row.schedule_seconds))
    return changed


def _reset(row: Connector) -> None:
    """Reset a connector, so that it reads its source from the beginning."""
    row.cursor, row.caught_up_at = {}, None
    row.ledger.all().delete()
    row.dismissed.all().delete()
