import uuid
from typing import Any

from django.db.models import QuerySet
from django.http import Http404

from config.api.times import rfc3339
from custody import selectors as custody
from custody.models import Entry
from custody.sealing import Damaged
from decisions.models import Decision
from decisions.schemas import DecisionQuery

_FILTERS = {
    "action": "action",
    "kind": "kind",
    "system": "system_name",
    "source": "source",
    "received_from": "received_at__gte",
    "received_to": "received_at__lt",
    "decided_from": "decided_at__gte",
    "decided_to": "decided_at__lt",
}


def decisions(organization_id: uuid.UUID, query: DecisionQuery) -> QuerySet[Decision]:
    """The organization's decisions that match a query's filters."""
    asked = query.model_dump(include=set(_FILTERS), exclude_none=True)
    return (
        Decision.objects.filter(
            organization_id=organization_id, **{_FILTERS[name]: value for name, value in asked.items()}
        )
        .select_related("record")
        .with_current()
    )


def decision(organization_id: uuid.UUID, decision_id: str) -> Decision:
    """One decision of the organization with its custody row. Raises Http404 for any other id."""
    found = None
    if "\x00" not in decision_id:  # no record can have such an id, and PostgreSQL cannot be asked for it
        rows = Decision.objects.select_related("record", "reconsiders").with_current()
        found = rows.filter(organization_id=organization_id, decision_id=decision_id).first()
    if found is None:
        raise Http404("There is no decision of this id in your organization.")
    return found


def record_of(decision: Decision) -> Entry:
    """The custody row behind an index row, once the index row says what the record's id and the custody row say. What
    the custody row says is checked when the record is read.

    Raises:
        Damaged: it points to another record, or was changed.
    """
    record = decision.record
    said = (decision.organization_id, decision.kind, decision.received_at)
    if said != (record.organization_id, record.kind, record.received_at):
        raise Damaged("the index row says something else than the custody row")
    if not custody.identifies(decision.decision_id, record):
        raise Damaged("the index row names another record")
    return record


def shown(decision: Decision) -> dict[str, Any]:
    """A decision as lists and details show it; what a record does not say is null."""
    return {
        "decision_id": decision.decision_id,
        "record_id": str(decision.pk),
        "kind": decision.kind,
        "source": decision.source,
        "received_at": rfc3339(decision.received_at),
        "decided_at": rfc3339(decision.decided_at),
        "action": decision.action or None,
        "system": {"name": decision.system_name or None, "version": decision.system_version or None},
        "subject": {"reference": decision.subject_reference or None},
        "custody": decision.record.state,
        "current_action": decision.current_action or None,
        "latest_reconsideration": decision.latest_reconsideration,
        "latest_outcome": decision.latest_outcome,
    }


def history(decision: Decision) -> list[Decision]:
    """The reconsiderations of the chain that a decision or reconsideration belongs to, oldest first."""
    first = decision.first_id or decision.pk
    return list(
        Decision.objects.filter(first_id=first).select_related("record", "reconsiders").order_by("received_at", "pk")
    )


def detailed(decision: Decision) -> dict[str, Any]:
    """A decision with its chain of reconsiderations."""
    return {
        **shown(decision),
        "reconsiders": decision.reconsiders.decision_id if decision.reconsiders else None,
        "first_record_id": str(decision.first_id) if decision.first_id else None,
        "history": [
            {
                "decision_id": each.decision_id,
                "reconsiders": each.reconsiders.decision_id if each.reconsiders else None,
                "received_at": rfc3339(each.received_at),
                "outcome": each.review_outcome,
                "new_action": each.action or None,
                "reviewer": each.reviewer,
                "reviewer_authority": each.reviewer_authority,
            }
            for each in history(decision)
        ],
    }
