from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request

from accounts.authentication import caller_of
from accounts.roles import Permission
from config.api import openapi
from config.api.pagination import paginate
from config.api.responses import answer
from config.api.views import ApiView
from notices import presenters, selectors, services
from notices.models import ReviewRequest
from notices.schemas import ReasonIn, ReviewRequestDetail, ReviewRequestList, ReviewRequestQuery

_ID = OpenApiParameter("review_request_id", {"type": "string"}, OpenApiParameter.PATH)


class ReviewRequestListView(ApiView):
    permissions = {"GET": Permission.READ_DECISIONS}

    @extend_schema(
        operation_id="list_review_requests",
        summary="Requests of affected persons for a review by a human, newest first.",
        tags=["extension"],
        parameters=openapi.query(ReviewRequestQuery),
        responses=openapi.answers({200: ReviewRequestList}, errors=[401, 403]),
    )
    def get(self, request: Request) -> HttpResponse:
        query = self.query(ReviewRequestQuery)
        rows = selectors.review_requests(caller_of(request).organization_id, query)
        return answer(paginate(rows, query, moment="received_at", show=presenters.review_request))


class _OneRequestView(ApiView):
    def review_request(self, request: Request, review_request_id: int) -> ReviewRequest:
        return selectors.review_request(caller_of(request).organization_id, review_request_id)


class ReviewRequestView(_OneRequestView):
    permissions = {"GET": Permission.RECONSIDER}

    @extend_schema(
        operation_id="get_review_request",
        summary="A request for review with what the person wrote.",
        tags=["extension"],
        parameters=[_ID],
        responses=openapi.answers({200: ReviewRequestDetail}, errors=[401, 403, 404]),
    )
    def get(self, request: Request, review_request_id: int) -> HttpResponse:
        return answer(presenters.review_request_with_words(self.review_request(request, review_request_id)))


class CloseRequestView(_OneRequestView):
    permissions = {"POST": Permission.RECONSIDER}

    @extend_schema(
        operation_id="close_review_request",
        summary="Close a request without a reconsideration, with the reason.",
        tags=["extension"],
        parameters=[_ID],
        request=ReasonIn,
        responses=openapi.answers({200: ReviewRequestDetail}, errors=[401, 403, 404, 409, 413, 415]),
    )
    def post(self, request: Request, review_request_id: int) -> HttpResponse:
        found = self.review_request(request, review_request_id)
        reason = self.body(ReasonIn).reason
        services.close_request(request=found, reason=reason, caller=caller_of(request))
        return answer(presenters.review_request_with_words(self.review_request(request, review_request_id)))
