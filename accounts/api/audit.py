from collections.abc import Iterator

from django.db.models import QuerySet
from django.http import HttpResponse, StreamingHttpResponse
from rest_framework.request import Request

from accounts.authentication import caller_of
from accounts.models import AuditEvent
from accounts.roles import Permission
from accounts.schemas import AuditEventOut, AuditList
from config.http import body
from config.http.cursors import Page, paginate
from config.http.json_responses import answer, dump
from config.http.resources import Resource, operation
from config.http.schemas import QueryString, Text
from config.http.timestamps import Moment

_FILTERS = {
    "verb": "verb",
    "actor": "actor_id",
    "object": "object_id",
    "at_from": "at__gte",
    "at_to": "at__lt",
}


class AuditFilters(QueryString):
    """Filters of the audit trail; times are RFC 3339, `at_from` inclusive and `at_to` exclusive."""

    verb: Text | None = None
    actor: Text | None = None
    object: Text | None = None
    at_from: Moment | None = None
    at_to: Moment | None = None


class AuditQuery(AuditFilters, Page):
    """Filters and page."""


class AuditTrail(Resource):
    @operation(
        "list_audit_events",
        "The audit trail, newest first.",
        permission=Permission.READ_AUDIT,
        query=AuditQuery,
        answers={200: AuditList},
    )
    def list(self, request: Request) -> HttpResponse:
        query = self.query(AuditQuery)
        return answer(paginate(_events(request, query), query, moment="at", show=AuditList))

    @operation(
        "export_audit_events",
        "The whole audit trail as NDJSON, oldest first.",
        permission=Permission.READ_AUDIT,
        query=AuditFilters,
        answers={(200, body.NDJSON): AuditEventOut},
    )
    def export(self, request: Request) -> StreamingHttpResponse:
        events = _events(request, self.query(AuditFilters)).order_by("at", "pk")
        response = StreamingHttpResponse(_lines(events), content_type=body.NDJSON)
        response["Content-Disposition"] = 'attachment; filename="audit.ndjson"'
        return response


def _events(request: Request, query: AuditFilters) -> QuerySet[AuditEvent]:
    asked = query.model_dump(include=set(_FILTERS), exclude_none=True)
    events = AuditEvent.objects.for_organization(caller_of(request).organization_id)
    return events.filter(**{_FILTERS[name]: value for name, value in asked.items()})


def _lines(events: QuerySet[AuditEvent]) -> Iterator[bytes]:
    for event in events.iterator():
        yield dump(AuditEventOut.of(event)) + b"\n"
