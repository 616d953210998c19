from django.http import HttpResponse
from rest_framework.request import Request

from accounts.authentication import caller_of
from accounts.idempotency import REPLAYED, OtherRequest, key_of
from accounts.roles import Permission
from config.http import openapi
from config.http.json_responses import answer
from config.http.resources import Resource, operation
from custody.schemas import CONFLICT
from decisions import presenters, review_records, selectors, services
from decisions.api.common import decision_of
from decisions.review_records import Review
from decisions.schemas import (
    ReconsiderationCheckIn,
    ReconsiderationCheckOut,
    ReconsiderationIn,
    ReconsiderationOut,
    ReconsiderationWaiting,
)
from decisions.unnotified_requests import unnotified_requests


class Reconsiderations(Resource):
    @operation(
        "reconsider_decision",
        "Record a human reconsideration as its own SRF decision linked to the original.",
        is_contract=True,
        permission=Permission.RECONSIDER,
        parameters=[openapi.DECISION_ID, openapi.IDEMPOTENCY_KEY],
        body=ReconsiderationIn,
        answers={201: ReconsiderationOut, 202: ReconsiderationWaiting},
        errors=[404, CONFLICT, 503],
    )
    def create(self, request: Request, decision_id: str) -> HttpResponse:
        caller, original = caller_of(request), decision_of(request, decision_id)
        review = Review(**self.body(ReconsiderationIn).model_dump())
        key = key_of(request)
        # A repetition is compared with the record and answered from it, so no answer is stored.
        name = review_records.idempotency_id(original, caller.actor, key) if key else None
        headers = None
        try:
            record = services.reconsider(
                caller=caller, decision=original, review=review, source="api", idempotency_key=name
            )
        except services.AlreadyRecorded as earlier:
            earlier_record = selectors.review_record(caller.organization_id, earlier.record_id, review)
            if earlier_record is None:
                raise OtherRequest from None
            record, headers = earlier_record, REPLAYED
        # Without an answer from the vault there is no receipt: answer 202, and the reconciler continues.
        status = 201 if record.receipt else 202
        requests = unnotified_requests(caller.organization_id, record.record_id)
        return answer(presenters.review_record(record, original, requests), status=status, headers=headers)

    @operation(
        "check_reconsideration",
        "Check texts against the commitments of a reconsideration; they are not stored.",
        permission=Permission.RECONSIDER,
        parameters=[openapi.DECISION_ID],
        body=ReconsiderationCheckIn,
        answers={200: ReconsiderationCheckOut},
        errors=[404, CONFLICT, 503],
    )
    def check(self, request: Request, decision_id: str) -> HttpResponse:
        decision = decision_of(request, decision_id)
        body = self.body(ReconsiderationCheckIn)
        rationale, evidence = selectors.check_texts(
            decision, rationale=body.rationale, evidence_considered=body.evidence_considered
        )
        return answer({"rationale": rationale, "evidence_considered": evidence})
