from collections.abc import Iterator
from tempfile import SpooledTemporaryFile
from typing import IO, Any

import structlog
from django.db import DatabaseError
from django.http import FileResponse, HttpResponse
from drf_spectacular.utils import extend_schema
from pydantic import TypeAdapter
from rest_framework.request import Request

from accounts.authentication import caller_of
from accounts.roles import Permission
from config.api import body, openapi
from config.api.answers import JSON, answer, dump
from config.api.errors import ApiError
from config.api.pagination import paginate
from config.api.views import ApiView, path_value
from config.faults import Fault
from custody import selectors as custody
from custody.services import Status
from decisions import selectors, services
from decisions.models import Decision
from decisions.records import DecisionId
from decisions.schemas import BatchLine, DecisionOut, DecisionPage, DecisionQuery, ReceiptOut

log = structlog.get_logger("decisions")

_DECISION_ID: TypeAdapter[str] = TypeAdapter(DecisionId)
_SPOOL_IN_MEMORY = 8 * 2**20


class IngestView(ApiView):
    permissions = {"POST": Permission.INGEST_RECORDS}

    @extend_schema(
        operation_id="ingest_srf",
        summary="Accept one native SRF decision, write it to custody and the index.",
        tags=["ingest"],
        request=openapi.body({"type": "object", "additionalProperties": True}),
        responses=openapi.answers({201: ReceiptOut, 200: ReceiptOut}, errors=[401, 403, 409, 413, 415, 503]),
    )
    def post(self, request: Request) -> HttpResponse:
        caller = caller_of(request)
        decision_id, taken = services.ingest(
            organization_id=caller.organization_id, raw=body.read(request), source="api", actor=caller.actor
        )
        if taken.fault:
            raise taken.fault
        if taken.receipt is None:
            raise ApiError(
                409,
                "A record of this decision_id with other content is in custody, and a record is never replaced. "
                "Nothing was stored. Give a new decision its own decision_id.",
            )
        status = 201 if taken.status is Status.CREATED else 200
        return answer({"decision_id": decision_id, **taken.receipt.as_json()}, status)


class IngestBatchView(ApiView):
    permissions = {"POST": Permission.INGEST_RECORDS}

    @extend_schema(
        operation_id="ingest_srf_batch",
        summary="Accept many decisions, one JSON object a line; the answer has one line for each.",
        tags=["extension"],
        request={body.NDJSON: {"type": "string", "format": "binary"}},
        responses=openapi.answers({(200, body.NDJSON): BatchLine}, errors=[401, 403, 413, 415, 503]),
    )
    def post(self, request: Request) -> FileResponse:
        caller = caller_of(request)
        results = services.ingest_lines(
            organization_id=caller.organization_id,
            lines=body.lines(request),
            source="batch",
            actor=caller.actor,
        )
        return FileResponse(_spooled(results), content_type=body.NDJSON)


def _spooled(results: Iterator[services.Line]) -> IO[bytes]:
    """The answer's lines, complete before the first is sent: many clients read only when they have sent everything,
    so an answer that began earlier could fill both directions and stop for ever.

    A fault before the first line is an ordinary error; a later one becomes the last line, for the lines before it
    are in custody and their answers must not be lost.
    """
    spool = SpooledTemporaryFile(max_size=_SPOOL_IN_MEMORY)  # noqa: SIM115 - the response closes it
    answered = 0
    try:
        for answered, line in enumerate(results, start=1):  # noqa: B007 - counts what is answered when a fault comes
            spool.write(dump(line.as_json()) + b"\n")
    except (ApiError, DatabaseError, Fault) as error:
        if not answered:
            spool.close()
            raise
        log.error("batch stopped", answered=answered, exc_info=error)
        because = error.sentence if isinstance(error, ApiError) else "The service cannot store right now."
        last = {"status": "stopped", "detail": f"{because} Send the lines without an answer again."}
        spool.write(dump(last) + b"\n")
    spool.seek(0)
    return spool


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


class _OneDecisionView(ApiView):
    """A view of the decision that the path names."""

    permissions = {"GET": Permission.READ_DECISIONS}

    def decision(self, request: Request, decision_id: str) -> Decision:
        return selectors.decision(
            caller_of(request).organization_id, path_value(_DECISION_ID, "decision_id", decision_id)
        )


class DecisionView(_OneDecisionView):
    @extend_schema(
        operation_id="get_decision",
        summary="One decision as the index shows it.",
        tags=["extension"],
        parameters=[openapi.DECISION_ID],
        responses=openapi.answers({200: DecisionOut}, errors=[401, 403, 404]),
    )
    def get(self, request: Request, decision_id: str) -> HttpResponse:
        return answer(selectors.shown(self.decision(request, decision_id)))


class RecordView(_OneDecisionView):
    @extend_schema(
        operation_id="get_decision_record",
        summary="The record itself, decrypted from custody, byte for byte as it was received.",
        tags=["extension"],
        parameters=[openapi.DECISION_ID],
        responses=openapi.answers({200: {"type": "object", "additionalProperties": True}}, errors=[401, 403, 404, 503]),
    )
    def get(self, request: Request, decision_id: str) -> HttpResponse:
        found = self.decision(request, decision_id)
        return HttpResponse(custody.opened(found.record).payload, content_type=JSON)


class ReceiptView(_OneDecisionView):
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
    return {"decision_id": decision.decision_id, **custody.receipt(decision.record).as_json()}
