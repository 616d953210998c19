from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from pydantic import TypeAdapter
from rest_framework.request import Request

from accounts.authentication import caller_of
from accounts.roles import Permission
from config.api import openapi
from config.api.pagination import paginate
from config.api.responses import JSON, answer
from config.api.validation import parameter
from config.api.views import ApiView
from custody import selectors as custody
from decisions import selectors
from decisions.models import Decision
from decisions.records import DecisionId
from decisions.schemas import DecisionDetail, DecisionPage, DecisionQuery, ReceiptOut

_DECISION_ID: TypeAdapter[str] = TypeAdapter(DecisionId)


class DecisionListView(ApiView):
    permissions = {"GET": Permission.READ_DECISIONS}

    @extend_schema(
        operation_id="list_decisions",
        summary="List decisions, newest first.",
        tags=["extension"],
        parameters=openapi.query(DecisionQuery),
        responses=openapi.answers({200: DecisionPage}, errors=[401, 403]),
    )
    def get(self, request: Request) -> HttpResponse:
        query = self.query(DecisionQuery)
        rows = selectors.decisions(caller_of(request).organization_id, query)
        return answer(paginate(rows, query, moment="received_at", show=selectors.shown))


class OneDecisionView(ApiView):
    """A view of the decision that the path names."""

    permissions = {"GET": Permission.READ_DECISIONS}

    def decision(self, request: Request, decision_id: str) -> Decision:
        return selectors.decision(
            caller_of(request).organization_id, parameter(_DECISION_ID, "path", "decision_id", decision_id)
        )


class DecisionView(OneDecisionView):
    @extend_schema(
        operation_id="get_decision",
        summary="One decision as the index shows it.",
        tags=["extension"],
        parameters=[openapi.DECISION_ID],
        responses=openapi.answers({200: DecisionDetail}, errors=[401, 403, 404]),
    )
    def get(self, request: Request, decision_id: str) -> HttpResponse:
        return answer(selectors.detailed(self.decision(request, decision_id)))


class RecordView(OneDecisionView):
    @extend_schema(
        operation_id="get_decision_record",
        summary="The record itself, decrypted from custody, byte for byte as it was received.",
        tags=["extension"],
        parameters=[openapi.DECISION_ID],
        responses=openapi.answers({200: {"type": "object", "additionalProperties": True}}, errors=[401, 403, 404, 503]),
    )
    def get(self, request: Request, decision_id: str) -> HttpResponse:
        found = self.decision(request, decision_id)
        return HttpResponse(custody.opened(selectors.record_of(found)).payload, content_type=JSON)


class ReceiptView(OneDecisionView):
    @extend_schema(
        operation_id="get_decision_receipt",
        summary="The signed receipt of a record, as it was answered at ingest.",
        tags=["extension"],
        parameters=[openapi.DECISION_ID],
        responses=openapi.answers({200: ReceiptOut}, errors=[401, 403, 404, 503]),
    )
    def get(self, request: Request, decision_id: str) -> HttpResponse:
        return answer(_receipt(self.decision(request, decision_id)))


def _receipt(decision: Decision) -> dict[str, Any]:
    return {"decision_id": decision.decision_id, **custody.receipt(selectors.record_of(decision)).as_json()}
