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
from decisions.schemas import BatchLine, BatchQuery, DryRunOut, IngestAnswer, IngestQuery, Queued, ReceiptOut

log = structlog.get_logger("decisions")

_SPOOL_IN_MEMORY = 8 * 2**20
_MAX_REFUSED = 1000  # lines: a longer answer helps no reader


class TooManyRefused(DomainError):
    """Too many lines were refused for this to be a file of records. A refusal costs more than the line it answers."""

    code, status = "too_many_refused", 413
    sentence = f"{_MAX_REFUSED:,} lines were refused. Fix those first."


class Ingest(Resource):
    @operation(
        "ingest_srf",
        "Accept one native SRF decision, write it to custody and the index.",
        is_contract=True,
        permission=Permission.INGEST_RECORDS,
        body={JSON: {"type": "object", "additionalProperties": True}},
        query=IngestQuery,
        answers={201: ReceiptOut, 200: IngestAnswer, 202: Queued},
        errors=[CONFLICT, 503],
    )
    def one(self, request: Request) -> HttpResponse:
        caller, raw = caller_of(request), body.read(request)
        if request.query_params and self._is_dry_run(request):
            return answer(DryRunOut.of(services.dry_run(caller=caller, raw=raw), dry_run=True))
        acceptance = services.ingest(caller=caller, raw=raw, source="api")
        if acceptance.receipt is None:
            return answer(presenters.queued(acceptance.decision_id, acceptance.record_id), 202)
        shown = presenters.receipt(acceptance.decision_id, acceptance.receipt)
        return answer(shown, 201 if acceptance.is_new else 200)

    def _is_dry_run(self, request: Request) -> bool:
        """Whether the request asks for a dry run.

        Raises:
            Invalid: another parameter was sent. It may be a misspelt `dry_run`, and the record would be stored.
        """
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
        answers = (presenters.line(line, receipts=receipts) for line in _until_too_many_refused(results))
        return FileResponse(_spooled(answers), content_type=body.NDJSON)


def _until_too_many_refused(results: Iterable[services.Line]) -> Iterator[services.Line]:
    """Yield the lines. Raises TooManyRefused at the first line after `_MAX_REFUSED` invalid or conflicting ones."""
    refused = 0
    for line in results:
        if refused == _MAX_REFUSED:
            raise TooManyRefused
        yield line
        refused += line.status in (services.INVALID, Status.CONFLICT)


def _spooled(answers: Iterator[dict[str, Any]]) -> IO[bytes]:
    """Return the whole answer as a file. Many clients read only after they have sent everything: an answer that began
    earlier could fill both directions and block for ever.

    A fault before the first line is an ordinary error. A later fault becomes the last line: the records of the lines
    before it are in custody, so their answers must not be lost.
    """
    spool = SpooledTemporaryFile(max_size=_SPOOL_IN_MEMORY)  # noqa: SIM115 - the response closes it
    answered = 0
    try:
        for answered, shown in enumerate(answers, start=1):  # noqa: B007 - the count at the time of a fault
            spool.write(dump(shown) + b"\n")
    except (DomainError, DatabaseError) as error:
        if not answered:
            spool.close()
            raise
        log.error("batch stopped", answered=answered, exc_info=error)
        because = "The service cannot store right now."
        if isinstance(error, DomainError) and error.status < 500:  # the upload is at fault
            because = error.sentence
        last = {"status": "stopped", "detail": f"{because} Send the lines without an answer again."}
        spool.write(dump(last) + b"\n")
    spool.seek(0)
    return spool
