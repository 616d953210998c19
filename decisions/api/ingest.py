from collections.abc import Iterable, Iterator
from tempfile import SpooledTemporaryFile
from typing import IO, Any

import structlog
from django.db import DatabaseError
from django.http import FileResponse, HttpResponse
from rest_framework.request import Request

from accounts.authentication import caller_of
from accounts.roles import Permission
from config.errors import DomainError, Invalid
from config.http import body
from config.http.json_responses import JSON, answer, dump
from config.http.resources import Resource, operation
from custody.schemas import CONFLICT
from custody.services import Status
from decisions import presenters, services
from decisions.schemas import BatchLine, BatchQuery, IngestAnswer, IngestQuery, Queued, ReceiptOut

log = structlog.get_logger("decisions")

_SPOOL_IN_MEMORY = 8 * 2**20
_MOST_REFUSED = 1000  # lines: what is longer than the upload tells nobody more


class TooManyRefused(DomainError):
    """What the upload is, is no file of records: a refusal costs more than the line that causes it."""

    code, status = "too_many_refused", 413
    sentence = f"{_MOST_REFUSED:,} lines were refused. Mend those first."


class Ingest(Resource):
    @operation(
        "ingest_srf",
        "Accept one native SRF decision, write it to custody and the index.",
        tag="ingest",
        permission=Permission.INGEST_RECORDS,
        body={JSON: {"type": "object", "additionalProperties": True}},
        query=IngestQuery,
        answers={201: ReceiptOut, 200: IngestAnswer, 202: Queued},
        errors=[CONFLICT, 503],
    )
    def one(self, request: Request) -> HttpResponse:
        caller, raw = caller_of(request), body.read(request)
        if request.query_params and self._is_dry_run(request):
            return answer(presenters.dry_run(services.dry_run(caller=caller, raw=raw)))
        acceptance = services.ingest(caller=caller, raw=raw, source="api")
        if acceptance.receipt is None:
            return answer(presenters.queued(acceptance.decision_id, acceptance.record_id), 202)
        shown = presenters.receipt(acceptance.decision_id, acceptance.receipt)
        return answer(shown, 201 if acceptance.is_new else 200)

    def _is_dry_run(self, request: Request) -> bool:
        """Raises Invalid for any other parameter: it may be meant for this, and the record would be stored for good."""
        for name in request.query_params:
            if name not in IngestQuery.model_fields:
                known = ", ".join(IngestQuery.model_fields)
                message = f"No parameter is called so; there is {known}. Nothing was stored"
                raise Invalid([{"type": "extra_forbidden", "loc": ["query", name], "msg": message}])
        return self.query(IngestQuery).dry_run

    @operation(
        "ingest_srf_batch",
        "Accept many decisions, one JSON object a line; the answer has one line for each.",
        permission=Permission.INGEST_RECORDS,
        query=BatchQuery,
        body={body.NDJSON: {"type": "string", "format": "binary"}},
        answers={(200, body.NDJSON): BatchLine},
        errors=[503],
    )
    def batch(self, request: Request) -> FileResponse:
        receipts = self.query(BatchQuery).receipts
        results = services.ingest_lines(caller=caller_of(request), lines=body.lines(request), source="batch")
        answers = (presenters.line(line, receipts=receipts) for line in _until_most_are_refused(results))
        return FileResponse(_spooled(answers), content_type=body.NDJSON)


def _until_most_are_refused(results: Iterable[services.Line]) -> Iterator[services.Line]:
    """The lines until too many of them were invalid or a conflict. Raises TooManyRefused at the next line."""
    refused = 0
    for line in results:
        if refused == _MOST_REFUSED:
            raise TooManyRefused
        yield line
        refused += line.status in (services.INVALID, Status.CONFLICT)


def _spooled(answers: Iterator[dict[str, Any]]) -> IO[bytes]:
    """The answer's lines, complete before the first is sent: many clients read only when they have sent everything,
    so an answer that began earlier could fill both directions and stop for ever.

    A fault before the first line is an ordinary error; a later one becomes the last line, for the lines before it
    are in custody and their answers must not be lost.
    """
    spool = SpooledTemporaryFile(max_size=_SPOOL_IN_MEMORY)  # noqa: SIM115 - the response closes it
    answered = 0
    try:
        for answered, shown in enumerate(answers, start=1):  # noqa: B007 - counts what is answered when a fault comes
            spool.write(dump(shown) + b"\n")
    except (DomainError, DatabaseError) as error:
        if not answered:
            spool.close()
            raise
        log.error("batch stopped", answered=answered, exc_info=error)
        because = "The service cannot store right now."
        if isinstance(error, DomainError) and error.status < 500:  # it is the upload's
            because = error.sentence
        last = {"status": "stopped", "detail": f"{because} Send the lines without an answer again."}
        spool.write(dump(last) + b"\n")
    spool.seek(0)
    return spool
