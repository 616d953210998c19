from django.http import HttpResponse
from rest_framework.request import Request

from accounts.authentication import caller_of
from accounts.roles import Permission
from config.http.json_responses import answer
from config.http.resources import Resource, operation
from custody.schemas import CONFLICT
from notices import presenters, services
from notices.api.parameters import NOTICE_ID, notice_of
from notices.schemas import ChangesIn, NoticeApproveIn, NoticeOut


class Reviews(Resource):
    """Decisions about notices."""

    @operation(
        "submit_notice",
        "Submit a draft for review.",
        permission=Permission.DRAFT_NOTICES,
        parameters=[NOTICE_ID],
        answers={200: NoticeOut},
        errors=[404, CONFLICT, 503],
    )
    def submit(self, request: Request, notice_id: str) -> HttpResponse:
        services.submit(caller=caller_of(request), notice=notice_of(request, notice_id))
        return _notice(request, notice_id)

    @operation(
        "approve_notice",
        "Approve a notice.",
        is_contract=True,
        permission=Permission.APPROVE_NOTICES,
        parameters=[NOTICE_ID],
        body=NoticeApproveIn,
        answers={200: NoticeOut},
        errors=[404, CONFLICT, 503],
    )
    def approve(self, request: Request, notice_id: str) -> HttpResponse:
        notice = notice_of(request, notice_id)
        body = self.body(NoticeApproveIn)
        services.approve(caller=caller_of(request), notice=notice, **body.model_dump())
        return _notice(request, notice_id)

    @operation(
        "request_notice_changes",
        "Request changes: return a notice in review to its writer.",
        permission=Permission.APPROVE_NOTICES,
        parameters=[NOTICE_ID],
        body=ChangesIn,
        answers={200: NoticeOut},
        errors=[404, CONFLICT, 503],
    )
    def request_changes(self, request: Request, notice_id: str) -> HttpResponse:
        notice = notice_of(request, notice_id)
        body = self.body(ChangesIn)
        services.request_changes(caller=caller_of(request), notice=notice, **body.model_dump())
        return _notice(request, notice_id)

    @operation(
        "withdraw_notice",
        "Withdraw a notice.",
        permission=Permission.APPROVE_NOTICES,
        parameters=[NOTICE_ID],
        answers={200: NoticeOut},
        errors=[404, CONFLICT, 503],
    )
    def withdraw(self, request: Request, notice_id: str) -> HttpResponse:
        services.withdraw(caller=caller_of(request), notice=notice_of(request, notice_id))
        return _notice(request, notice_id)


def _notice(request: Request, notice_id: str) -> HttpResponse:
    """Return the notice in its current state."""
    return answer(presenters.detail(notice_of(request, notice_id)))
