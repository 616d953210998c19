"""The decision that the path of a request names."""

from pydantic import TypeAdapter
from rest_framework.request import Request

from accounts.authentication import caller_of
from config.http.validation import parameter
from custody.selectors import Disposed, DisposedConflict
from decisions import selectors
from decisions.models import Decision
from decisions.records import DecisionId

_DECISION_ID: TypeAdapter[str] = TypeAdapter(DecisionId)


def decision_of(request: Request, decision_id: str) -> Decision:
    """Return the caller's decision that the path names.

    Raises:
        Invalid, DecisionNotFound
        Disposed: the decision was disposed of, and the request reads it.
        DisposedConflict: the decision was disposed of, and the request would add to it.
    """
    name = parameter(_DECISION_ID, "path", "decision_id", decision_id)
    try:
        return selectors.decision(caller_of(request).organization_id, name)
    except Disposed as gone:
        raise gone if request.method == "GET" else DisposedConflict(gone.disposal) from None
