"""Connectors, runs and quarantined items in the shape of the API."""

from typing import Any

from config.http.timestamps import rfc3339
from connectors.models import Connector, PollRun, Quarantined


def connector(row: Connector) -> dict[str, Any]:
    return {
        "source_id": str(row.source_id),
        "kind": row.kind,
        "name": row.name,
        "config": row.config,
        "secret_ref": row.secret_ref or None,
        "schedule_seconds": row.schedule_seconds,
        "enabled": row.enabled,
        "state": row.state,
        "problems": row.problems,
        "stopped_because": row.stopped_because or None,
        "created_at": rfc3339(row.created_at),
        "created_by": row.created_by,
        "next_poll_at": rfc3339(row.next_poll_at),
        "cursor": row.cursor,
        "lag_seconds": row.lag_seconds,
        "records": records(row),
    }


def detail(row: Connector) -> dict[str, Any]:
    last = row.runs.order_by("-pk").first()
    return {
        **connector(row),
        "last_run": run(last) if last else None,
        "in_quarantine": row.quarantine.count(),
    }


def records(row: Connector | PollRun) -> dict[str, int]:
    return {"seen": row.seen, "new": row.new, "repeated": row.repeated, "quarantined": row.quarantined}


def run(row: PollRun) -> dict[str, Any]:
    return {
        "started_at": rfc3339(row.started_at),
        "finished_at": rfc3339(row.finished_at),
        "outcome": row.outcome,
        "records": records(row),
        "cause": row.cause,
        "detail": row.detail,
        "fix": row.fix,
    }


def quarantined(row: Quarantined) -> dict[str, Any]:
    return {
        "id": row.pk,
        "cause": row.cause,
        "position": row.position,
        "reason": row.reason,
        "digest": row.digest,
        "created_at": rfc3339(row.created_at),
    }
