from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from accounts.authentication import caller_of
from accounts.roles import Permission
from config.http.cursors import paginate
from config.http.json_responses import answer
from config.http.resources import Resource, operation
from notices import selectors, services
from notices.models import ReviewRequest
from notices.schemas import ReasonIn, ReviewRequestDetail, ReviewRequestList, ReviewRequestQuery

_ID = OpenApiParameter("review_request_id", {"type": "string"}, OpenApiParameter.PATH)


class ReviewRequests(Resource):
    @operation(
        "list_review_requests",
        "List requests of affected persons for human review, newest first.",
        permission=Permission.READ_DECISIONS,
        query=ReviewRequestQuery,
        answers={200: ReviewRequestList},
    )
    def list(self, request: Request) -> HttpResponse:
        query = self.query(ReviewRequestQuery)
        rows = selectors.review_requests(caller_of(request).organization_id, query)
        return answer(paginate(rows, query, moment="received_at", show=ReviewRequestList))

    @operation(
        "get_review_request",
        "Get a request for review with the person's message.",
        permission=Permission.RECONSIDER,
        parameters=[_ID],
        answers={200: ReviewRequestDetail},
        errors=[404],
    )
    def retrieve(self, request: Request, review_request_id: int) -> HttpResponse:
        return answer(ReviewRequestDetail.of(_review_request(request, review_request_id)))

    @operation(
        "close_review_request",
        "Close a request without a reconsideration, with a reason.",
        permission=Permission.RECONSIDER,
        parameters=[_ID],
        body=ReasonIn,
        answers={200: ReviewRequestDetail},
        errors=[404, 409],
    )
    def close(self, request: Request, review_request_id: int) -> HttpResponse:
        review_request = _review_request(request, review_request_id)
        reason = self.body(ReasonIn).reason
        services.close_request(caller=caller_of(request), request=review_request, reason=reason)
        return answer(ReviewRequestDetail.of(_review_request(request, review_request_id)))


def _review_request(request: Request, review_request_id: int) -> ReviewRequest:
    """Return the request for review that the path names. Raises NotFound."""
    return selectors.review_request(caller_of(request).organization_id, review_request_id)
