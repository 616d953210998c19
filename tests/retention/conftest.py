from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Organization
from retention.models import Policy


def policy_of(organization: Organization, days: int = 30, *, number: int = 1, **columns: Any) -> Policy:
    """A policy that has begun."""
    now = timezone.now()
    columns = {"share_percent": 100, "shortens": False, "begins_at": now, "created_at": now, **columns}
    return Policy.objects.create(organization=organization, number=number, days=days, created_by="an owner", **columns)


def old_record(decision_id: str, *, days: int = 31, **more: Any) -> dict[str, Any]:
    """A record of a decision that was made so many days ago."""
    decided_at = (timezone.now() - timedelta(days=days)).isoformat()
    return {"decision_id": decision_id, "decided_at": decided_at, **more}


@pytest.fixture
def policy(organization: Organization) -> Policy:
    return policy_of(organization)
