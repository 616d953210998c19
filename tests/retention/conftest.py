"""An organization with decisions of known ages, and the calls that set its policy and place holds."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from accounts import callers
from accounts.models import Organization
from custody.record_types import Families
from decisions.models import Decision
from retention import rules, services
from retention.models import Hold, Policy
from tests.conftest import Api

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.fixture
def clock() -> Any:
    """Freeze time at NOW."""
    with time_machine.travel(NOW, tick=False) as traveller:
        yield traveller


def put(api: Api, **body: Any) -> Any:
    return api.client.put("/v1/retention", json.dumps(body), content_type="application/json")


def post(api: Api, path: str, **body: Any) -> Any:
    return api.post(f"/v1/retention/{path}", json.dumps(body).encode())


def decided(api: Api, decision_id: str, days_ago: int, **more: Any) -> Decision:
    """Ingest a decision of so many days ago."""
    decided_at = (NOW - timedelta(days=days_ago)).isoformat()
    answer = api.ingest({"decision_id": decision_id, "decided_at": decided_at, **more})
    assert answer.status_code == 201, answer.content
    return Decision.objects.for_organization(api.organization).get(decision_id=decision_id)


def set_days(organization: Organization, days: int, **more: Any) -> Policy:
    caller = callers.command_line(organization.pk)
    return services.set_policy(caller=caller, days=days, **{"note": "", **more})


def hold_on(decision: Decision, matter: str = "Case 7", reason: str = "A claim is pending.") -> Hold:
    caller = callers.command_line(decision.organization_id)
    return services.place_hold(caller=caller, matter=matter, reason=reason, decision=decision)


def hold_by(organization: Organization, **filter: Any) -> Hold:
    caller = callers.command_line(organization.pk)
    return services.place_hold(caller=caller, matter="Case 8", reason="An inquiry.", filter=filter)


def verdicts(*decisions: Decision, days: int = 30) -> list[rules.Verdict]:
    """Return the verdicts on the families of these first decisions at NOW, under a policy of so many days."""
    asked = Families(decisions[0].organization_id, [decision.pk for decision in decisions])
    by_root = rules.evaluate(asked, Policy(days=days), NOW)
    return [by_root[decision.pk] for decision in decisions]


def reasons(*decisions: Decision, days: int = 30) -> list[str]:
    return [verdict.reason.value for verdict in verdicts(*decisions, days=days)]


def policy_of(organization: Organization, days: int = 30, *, number: int = 1, **columns: Any) -> Policy:
    """Create a policy that has begun."""
    now = timezone.now()
    columns = {"share_percent": 100, "shortens": False, "begins_at": now, "created_at": now, **columns}
    return Policy.objects.create(organization=organization, number=number, days=days, created_by="an owner", **columns)


def old_record(decision_id: str, *, days: int = 31, **more: Any) -> dict[str, Any]:
    """Return a record of a decision that was made so many days ago."""
    decided_at = (timezone.now() - timedelta(days=days)).isoformat()
    return {"decision_id": decision_id, "decided_at": decided_at, "outcome": {"action": "denied"}, **more}


@pytest.fixture
def policy(organization: Organization) -> Policy:
    return policy_of(organization)
