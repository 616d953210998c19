from collections.abc import Iterable, Iterator
from tempfile import SpooledTemporaryFile
from typing import IO

import structlog
from django.db import DatabaseError
from django.http import FileResponse, HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from accounts.authentication import caller_of
from accounts.roles import Permission
from config.api import body, openapi
from config.api.errors import ApiError
from config.api.responses import JSON, answer, dump
from config.api.views import ApiView
from config.errors import Fault
from custody.services import Status
from decisions import services
from decisions.schemas import BatchLine, ReceiptOut

log = structlog.get_logger("decisions")

_SPOOL_IN_MEMORY = 8 * 2**20
_MOST_REFUSED = 1000  # lines: what is longer than the upload tells nobody more


class IngestView(ApiView):
    permissions = {"POST": Permission.INGEST_RECORDS}

    @extend_schema(
        operation_id="ingest_srf",
        summary="Accept one native SRF decision, write it to custody and the index.",
        tags=["ingest"],
        request={JSON: {"type": "object", "additionalProperties": True}},
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
        return FileResponse(_spooled(_until_most_is_refused(results)), content_type=body.NDJSON)


def _until_most_is_refused(results: Iterable[services.Line]) -> Iterator[services.Line]:
    """The lines until too many of them were invalid or a conflict: a refusal costs more than the line that causes it.

    Raises:
        ApiError: 413, at the next line.
    """
    refused = 0
    for line in results:
        if refused == _MOST_REFUSED:
            raise ApiError(413, f"{_MOST_REFUSED:,} lines were refused. Mend those first.")
        yield line
        refused += line.status in (services.INVALID, Status.CONFLICT)


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
