from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from accounts.authentication import caller_of
from accounts.roles import Permission
from config.api import openapi
from config.api.responses import answer
from notices import presenters, services
from notices.api.common import NOTICE_ID, OneNoticeView
from notices.schemas import ChangesIn, NoticeApproveIn, NoticeOut


class ApproveView(OneNoticeView):
    permissions = {"POST": Permission.APPROVE_NOTICES}

    @extend_schema(
        operation_id="approve_notice",
        summary="Approve a notice.",
        tags=["notices"],
        parameters=[NOTICE_ID],
        request=NoticeApproveIn,
        responses=openapi.answers({200: NoticeOut}, errors=[401, 403, 404, 409, 413, 415, 503]),
    )
    def post(self, request: Request, notice_id: str) -> HttpResponse:
        notice = self.notice(request, notice_id)
        body = self.body(NoticeApproveIn)
        services.approve(notice=notice, caller=caller_of(request), **body.model_dump())
        return answer(presenters.detail(self.notice(request, notice_id)))


class SubmitView(OneNoticeView):
    permissions = {"POST": Permission.DRAFT_NOTICES}

    @extend_schema(
        operation_id="submit_notice",
        summary="Ask for the review of a draft.",
        tags=["extension"],
        parameters=[NOTICE_ID],
        request=None,
        responses=openapi.answers({200: NoticeOut}, errors=[401, 403, 404, 409, 503]),
    )
    def post(self, request: Request, notice_id: str) -> HttpResponse:
        services.submit(notice=self.notice(request, notice_id), caller=caller_of(request))
        return answer(presenters.detail(self.notice(request, notice_id)))


class RequestChangesView(OneNoticeView):
    permissions = {"POST": Permission.APPROVE_NOTICES}

    @extend_schema(
        operation_id="request_notice_changes",
        summary="Send a notice back to whoever wrote it.",
        tags=["extension"],
        parameters=[NOTICE_ID],
        request=ChangesIn,
        responses=openapi.answers({200: NoticeOut}, errors=[401, 403, 404, 409, 413, 415, 503]),
    )
    def post(self, request: Request, notice_id: str) -> HttpResponse:
        notice = self.notice(request, notice_id)
        body = self.body(ChangesIn)
        services.request_changes(notice=notice, caller=caller_of(request), **body.model_dump())
        return answer(presenters.detail(self.notice(request, notice_id)))


class WithdrawView(OneNoticeView):
    permissions = {"POST": Permission.APPROVE_NOTICES}

    @extend_schema(
        operation_id="withdraw_notice",
        summary="Take a notice back.",
        tags=["extension"],
        parameters=[NOTICE_ID],
        request=None,
        responses=openapi.answers({200: NoticeOut}, errors=[401, 403, 404, 503]),
    )
    def post(self, request: Request, notice_id: str) -> HttpResponse:
        services.withdraw(notice=self.notice(request, notice_id), caller=caller_of(request))
        return answer(presenters.detail(self.notice(request, notice_id)))
