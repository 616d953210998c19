from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from accounts.authentication import caller_of
from accounts.idempotency import idempotent
from accounts.roles import Permission
from config.api import openapi
from config.api.pagination import paginate
from config.api.responses import answer
from config.api.views import ApiView
from decisions.api.common import decision_of
from notices import presenters, selectors, services
from notices.api.common import NOTICE_ID, OneNoticeView, named_pack, not_one_of
from notices.schemas import (
    ChecklistOut,
    NotApplicableIn,
    NoticeDraftIn,
    NoticeEditIn,
    NoticeList,
    NoticeOut,
    NoticeQuery,
    RecipientIn,
)


class DraftView(ApiView):
    permissions = {"POST": Permission.DRAFT_NOTICES}

    @extend_schema(
        operation_id="draft_notice",
        summary="Draft a notice for a decision.",
        tags=["notices"],
        parameters=[openapi.DECISION_ID, openapi.IDEMPOTENCY_KEY],
        request=NoticeDraftIn,
        responses=openapi.answers({201: NoticeOut}, errors=[401, 403, 404, 409, 413, 415, 503]),
    )
    @idempotent
    def post(self, request: Request, decision_id: str) -> HttpResponse:
        decision = decision_of(request, decision_id)
        body = self.body(NoticeDraftIn)
        pack = named_pack(body.pack or selectors.settings_of(decision.organization_id).default_pack, "pack")
        notice = services.draft(
            decision=decision,
            pack=pack,
            recipient=body.recipient,
            caller=caller_of(request),
        )
        return answer(presenters.detail(notice), status=201)


class NoticeListView(ApiView):
    permissions = {"GET": Permission.READ_DECISIONS}

    @extend_schema(
        operation_id="list_notices",
        summary="List notices, newest first.",
        tags=["extension"],
        parameters=openapi.query(NoticeQuery),
        responses=openapi.answers({200: NoticeList}, errors=[401, 403]),
    )
    def get(self, request: Request) -> HttpResponse:
        query = self.query(NoticeQuery)
        rows = selectors.notices(caller_of(request).organization_id, query)
        return answer(paginate(rows, query, moment="created_at", show=presenters.summary))


class NoticeView(OneNoticeView):
    permissions = {"GET": Permission.READ_DECISIONS, "PATCH": Permission.DRAFT_NOTICES}

    @extend_schema(
        operation_id="get_notice",
        summary="A notice with its content, checklist, citations and deadlines.",
        tags=["extension"],
        parameters=[NOTICE_ID],
        responses=openapi.answers({200: NoticeOut}, errors=[401, 403, 404, 503]),
    )
    def get(self, request: Request, notice_id: str) -> HttpResponse:
        return answer(presenters.detail(self.notice(request, notice_id)))

    @extend_schema(
        operation_id="edit_notice",
        summary="Edit a notice.",
        tags=["notices"],
        parameters=[NOTICE_ID],
        request=NoticeEditIn,
        responses=openapi.answers({200: NoticeOut}, errors=[401, 403, 404, 409, 413, 415, 503]),
    )
    def patch(self, request: Request, notice_id: str) -> HttpResponse:
        notice = self.notice(request, notice_id)
        changes = self.body(NoticeEditIn).content.model_dump(exclude_unset=True)
        if changes.get("language", notice.language) != notice.language:
            raise not_one_of(["body", "content", "language"], [notice.language])
        services.edit(notice=notice, changes=changes, caller=caller_of(request))
        return answer(presenters.detail(notice))


class NotApplicableView(OneNoticeView):
    permissions = {"PUT": Permission.DRAFT_NOTICES}

    @extend_schema(
        operation_id="set_notice_exemptions",
        summary="Say which elements of the checklist do not apply to a notice, and why. It makes a revision.",
        tags=["extension"],
        parameters=[NOTICE_ID],
        request=NotApplicableIn,
        responses=openapi.answers({200: NoticeOut}, errors=[401, 403, 404, 409, 413, 415, 503]),
    )
    def put(self, request: Request, notice_id: str) -> HttpResponse:
        notice = self.notice(request, notice_id)
        exempt = self.body(NotApplicableIn).elements
        known = [element.id for element in selectors.pack_of(notice).elements]
        for element in exempt:
            if element not in known:
                raise not_one_of(["body", "elements", element], known)
        services.edit(notice=notice, changes={}, not_applicable=exempt, caller=caller_of(request))
        return answer(presenters.detail(notice))


class RecipientView(OneNoticeView):
    permissions = {"PUT": Permission.DRAFT_NOTICES}

    @extend_schema(
        operation_id="set_notice_recipient",
        summary="Say to whom the letter of a notice goes.",
        tags=["extension"],
        parameters=[NOTICE_ID],
        request=RecipientIn,
        responses=openapi.answers({200: NoticeOut}, errors=[401, 403, 404, 409, 413, 415, 503]),
    )
    def put(self, request: Request, notice_id: str) -> HttpResponse:
        notice = self.notice(request, notice_id)
        recipient = self.body(RecipientIn).recipient
        services.set_recipient(notice=notice, recipient=recipient, caller=caller_of(request))
        return answer(presenters.detail(self.notice(request, notice_id)))


class ChecklistView(OneNoticeView):
    permissions = {"GET": Permission.READ_DECISIONS}

    @extend_schema(
        operation_id="get_notice_checklist",
        summary="What the law asks of a notice, what it lacks, and whether its sources resolve.",
        tags=["extension"],
        parameters=[NOTICE_ID],
        responses=openapi.answers({200: ChecklistOut}, errors=[401, 403, 404, 503]),
    )
    def get(self, request: Request, notice_id: str) -> HttpResponse:
        return answer(presenters.checked(self.notice(request, notice_id)))


class NewVersionView(OneNoticeView):
    permissions = {"POST": Permission.DRAFT_NOTICES}

    @extend_schema(
        operation_id="new_notice_version",
        summary="Make a draft that takes the place of an approved notice once it is approved itself.",
        tags=["extension"],
        parameters=[NOTICE_ID, openapi.IDEMPOTENCY_KEY],
        request=None,
        responses=openapi.answers({201: NoticeOut}, errors=[401, 403, 404, 409, 503]),
    )
    @idempotent
    def post(self, request: Request, notice_id: str) -> HttpResponse:
        notice = self.notice(request, notice_id)
        made = services.new_version(notice=notice, caller=caller_of(request))
        return answer(presenters.detail(self.notice(request, str(made.pk))), status=201)
