from django.http import HttpResponse
from rest_framework.request import Request

from accounts.authentication import caller_of
from accounts.roles import Permission
from config.errors import RETRY_AFTER_SECONDS
from config.http import openapi
from config.http.cursors import paginate
from config.http.json_responses import JSON, answer
from config.http.resources import Resource, operation
from custody import selectors as custody
from custody.schemas import GONE
from custody.selectors import Disposed, NotSigned
from decisions import presenters, selectors
from decisions.api.common import decision_of
from decisions.schemas import DecisionDetail, DecisionPage, DecisionQuery, Queued, ReceiptOut, ReceiptQuery


class Decisions(Resource):
    @operation(
        "list_decisions",
        "List decisions, newest first.",
        permission=Permission.READ_DECISIONS,
        query=DecisionQuery,
        answers={200: DecisionPage},
    )
    def list(self, request: Request) -> HttpResponse:
        query = self.query(DecisionQuery)
        rows = selectors.decisions(caller_of(request).organization_id, query)
        return answer(paginate(rows, query, moment="received_at", show=DecisionPage))

    @operation(
        "get_decision",
        "One decision as the index shows it.",
        permission=Permission.READ_DECISIONS,
        parameters=[openapi.DECISION_ID],
        answers={200: DecisionDetail},
        errors=[404, GONE],
    )
    def retrieve(self, request: Request, decision_id: str) -> HttpResponse:
        decision = decision_of(request, decision_id)
        history = selectors.history(decision)
        decision.take_current(history)
        reconsidered = decision.reconsiders.decision_id if decision.reconsiders else None
        return answer(DecisionDetail.of(decision, reconsiders=reconsidered, history=history))

    @operation(
        "get_decision_record",
        "The record itself, decrypted from custody, byte for byte as it was received.",
        permission=Permission.READ_DECISIONS,
        parameters=[openapi.DECISION_ID],
        answers={200: {"type": "object", "additionalProperties": True}},
        errors=[404, GONE, 503],
    )
    def record(self, request: Request, decision_id: str) -> HttpResponse:
        record = selectors.record_of(decision_of(request, decision_id))
        return HttpResponse(custody.opened(record).payload, content_type=JSON)

    @operation(
        "get_decision_receipt",
        "The signed receipt of a record, as it was answered at ingest.",
        permission=Permission.READ_DECISIONS,
        parameters=[openapi.DECISION_ID],
        query=ReceiptQuery,
        answers={200: ReceiptOut, 202: Queued},
        errors=[404, 503],
    )
    def receipt(self, request: Request, decision_id: str) -> HttpResponse:
        query = self.query(ReceiptQuery)
        try:
            decision = decision_of(request, decision_id)
        except Disposed as gone:
            return answer(presenters.receipt(decision_id, custody.receipt(gone.disposal.record)))
        try:
            receipt = custody.awaited_receipt(selectors.record_of(decision), seconds=query.wait)
        except NotSigned:
            shown = presenters.queued(decision.decision_id, decision.pk)
            return answer(shown, 202, headers={"Retry-After": str(RETRY_AFTER_SECONDS)})
        return answer(presenters.receipt(decision.decision_id, receipt))
