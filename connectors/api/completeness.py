from collections.abc import Iterator

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.authentication import caller_of
from accounts.roles import Permission
from config.errors import Invalid
from config.http import body, strict_json
from config.http.json_responses import answer
from config.http.resources import Resource, operation
from config.http.strict_json import InvalidJSON
from connectors import completeness
from connectors.schemas import CompletenessOut, CompletenessQuery
from decisions.models import MAX_DECISION_ID


class CompletenessChecks(Resource):
    @operation(
        "check_completeness",
        "Compare the decision ids that a source holds, one JSON text a line, with what is in custody.",
        permission=Permission.READ_DECISIONS,
        body={body.NDJSON: {"type": "string", "format": "binary"}},
        query=CompletenessQuery,
        answers={200: CompletenessOut},
    )
    def check(self, request: Request) -> HttpResponse:
        query = self.query(CompletenessQuery)
        report = completeness.compare(
            organization_id=caller_of(request).organization_id,
            system=query.system,
            begin=query.begin,
            end=query.end,
            ids=_ids(body.lines(request)),
        )
        return answer(
            {
                "completeness": report.share,
                "expected": report.expected,
                "present": report.present,
                "missing": report.missing,
                "missing_count": report.missing_count,
                "unknown": report.unknown,
                "unknown_count": report.unknown_count,
            }
        )


def _ids(lines: Iterator[bytes]) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            decision_id = strict_json.read(line, nul=False)
        except InvalidJSON:
            decision_id = None
        if not isinstance(decision_id, str):
            raise _wrong(number, "each line is a decision_id as a JSON text")
        if len(decision_id) > MAX_DECISION_ID:
            raise _wrong(number, f"a decision_id has at most {MAX_DECISION_ID} characters")
        yield decision_id


def _wrong(line: int, message: str) -> Invalid:
    return Invalid([{"type": "value_error", "loc": ["body", line], "msg": f"Value error, {message}"}])
