"""What the resources of decisions share."""

from pydantic import TypeAdapter
from rest_framework.request import Request

from accounts.authentication import caller_of
from config.api.validation import parameter
from decisions import selectors
from decisions.models import Decision
from decisions.records import DecisionId

_DECISION_ID: TypeAdapter[str] = TypeAdapter(DecisionId)


def decision_of(request: Request, decision_id: str) -> Decision:
    """The caller's decision that the path names. Raises Invalid, DecisionNotFound."""
    return selectors.decision(
        caller_of(request).organization_id, parameter(_DECISION_ID, "path", "decision_id", decision_id)
    )
