from django.http import HttpResponse
from rest_framework.request import Request

from accounts.authentication import caller_of
from accounts.roles import Permission
from config.http.cursors import paginate
from config.http.json_responses import answer
from config.http.resources import Resource, operation
from connectors import selectors, services
from connectors.schemas import ListPage, QuarantineDone, QuarantineIn, QuarantineList


class Quarantine(Resource):
    @operation(
        "list_quarantined_items",
        "List the items that could not become records, newest first, with position and reason.",
        permission=Permission.MANAGE_CONNECTORS,
        query=ListPage,
        answers={200: QuarantineList},
        errors=[404],
    )
    def list(self, request: Request, source_id: str) -> HttpResponse:
        rows = selectors.connector(caller_of(request).organization_id, source_id).quarantine.all()
        return answer(paginate(rows, self.query(ListPage), moment="created_at", show=QuarantineList))

    @operation(
        "retry_quarantined_items",
        "Read the source again from the first of these items.",
        permission=Permission.MANAGE_CONNECTORS,
        body=QuarantineIn,
        answers={200: QuarantineDone},
        errors=[404, 409],
    )
    def retry(self, request: Request, source_id: str) -> HttpResponse:
        caller, body = caller_of(request), self.body(QuarantineIn)
        connector = selectors.connector(caller.organization_id, source_id)
        count = services.retry_quarantined(caller=caller, connector=connector, items=body.items)
        return answer({"source_id": source_id, "items": count})

    @operation(
        "dismiss_quarantined_items",
        "Dismiss quarantined items that should not become records.",
        permission=Permission.MANAGE_CONNECTORS,
        body=QuarantineIn,
        answers={200: QuarantineDone},
        errors=[404],
    )
    def dismiss(self, request: Request, source_id: str) -> HttpResponse:
        caller, body = caller_of(request), self.body(QuarantineIn)
        connector = selectors.connector(caller.organization_id, source_id)
        count = services.dismiss_quarantined(caller=caller, connector=connector, items=body.items)
        return answer({"source_id": source_id, "items": count})
