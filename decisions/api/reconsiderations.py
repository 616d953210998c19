from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from accounts.authentication import caller_of
from accounts.idempotency import REPLAYED, OtherRequest, key_of
from accounts.roles import Permission
from config.api import openapi
from config.api.errors import ApiError
from config.api.responses import answer
from custody.services import Status
from decisions.api.reading import OneDecisionView
from decisions.schemas import (
    ReconsiderationCheckIn,
    ReconsiderationCheckOut,
    ReconsiderationIn,
    ReconsiderationOut,
    ReconsiderationWaiting,
)
from decisions.services import reconsiderations
from decisions.services.reconsiderations import Review


class ReconsiderationView(OneDecisionView):
    permissions = {"POST": Permission.RECONSIDER}

    @extend_schema(
        operation_id="reconsider_decision",
        summary="Record a human reconsideration as its own SRF decision linked to the original.",
        tags=["reconsideration"],
        parameters=[openapi.DECISION_ID, openapi.IDEMPOTENCY_KEY],
        request=ReconsiderationIn,
        responses=openapi.answers(
            {201: ReconsiderationOut, 202: ReconsiderationWaiting}, errors=[401, 403, 404, 409, 413, 415, 503]
        ),
    )
    def post(self, request: Request, decision_id: str) -> HttpResponse:
        original, actor = self.decision(request, decision_id), caller_of(request).actor
        review = Review(**self.body(ReconsiderationIn).model_dump())
        key = key_of(request)
        # The record itself is what a repetition is compared with and answered from: no answer needs to be kept.
        name = reconsiderations.idempotent_id(decision=original, actor=actor, key=key) if key else None
        try:
            recorded = reconsiderations.reconsider(
                decision=original, review=review, source="api", actor=actor, idempotency_key=name
            )
        except reconsiderations.AlreadyRecorded as before:
            try:
                recorded = reconsiderations.recorded(record_id=before.record_id, review=review)
            except reconsiderations.OtherReview:
                raise OtherRequest from None
        receipt = recorded.taken.receipt  # none while the vault does not answer: 202, and the reconciler goes on
        return answer(
            {
                "decision_id": recorded.decision_id,
                **(receipt.as_json() if receipt else {}),
                "reconsiders": original.decision_id,
                "rationale": recorded.rationale,
                "evidence_considered": recorded.evidence_considered,
            },
            status=201 if receipt else 202,
            headers=REPLAYED if recorded.taken.status is Status.REPLAYED else None,
        )


class ReconsiderationCheckView(OneDecisionView):
    permissions = {"POST": Permission.RECONSIDER}

    @extend_schema(
        operation_id="check_reconsideration",
        summary="Whether texts are the ones a reconsideration committed to; they are not kept.",
        tags=["extension"],
        parameters=[openapi.DECISION_ID],
        request=ReconsiderationCheckIn,
        responses=openapi.answers({200: ReconsiderationCheckOut}, errors=[401, 403, 404, 409, 413, 415, 503]),
    )
    def post(self, request: Request, decision_id: str) -> HttpResponse:
        found = self.decision(request, decision_id)
        body = self.body(ReconsiderationCheckIn)
        try:
            rationale, evidence = reconsiderations.check(
                decision=found, rationale=body.rationale, evidence_considered=body.evidence_considered
            )
        except reconsiderations.NotAReconsideration:
            raise ApiError(
                409, "This record is a decision, not a reconsideration: name the reconsideration's own decision_id."
            ) from None
        return answer({"rationale": rationale, "evidence_considered": evidence})
