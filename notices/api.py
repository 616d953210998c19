from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request

from accounts.authentication import caller_of
from accounts.roles import Permission
from config.api import openapi
from config.api.answers import answer
from config.api.errors import ApiError, Invalid
from config.api.pagination import paginate
from config.api.views import ApiView
from decisions.api.reading import OneDecisionView
from notices import selectors, services
from notices.models import Notice, NoticeSettings
from notices.packs import Pack, packs
from notices.schemas import (
    NoticeApproveIn,
    NoticeDraftIn,
    NoticeEditIn,
    NoticeList,
    NoticeOut,
    NoticeQuery,
    NoticeSettingsIn,
    NoticeSettingsOut,
    PackList,
)

NOTICE_ID = OpenApiParameter("notice_id", {"type": "string"}, OpenApiParameter.PATH)


class DraftView(OneDecisionView):
    permissions = {"POST": Permission.DRAFT_NOTICES}

    @extend_schema(
        operation_id="draft_notice",
        summary="Draft a notice for a decision.",
        tags=["notices"],
        parameters=[openapi.DECISION_ID],
        request=NoticeDraftIn,
        responses=openapi.answers({201: NoticeOut}, errors=[401, 403, 404, 413, 415, 503]),
    )
    def post(self, request: Request, decision_id: str) -> HttpResponse:
        decision = self.decision(request, decision_id)
        body = self.body(NoticeDraftIn)
        pack = _pack(body.pack or services.settings_of(decision.organization_id).default_pack)
        notice = services.draft(
            decision=decision,
            pack=pack,
            language=pack.language_for(*[wish for wish in [body.recipient.get("language")] if isinstance(wish, str)]),
            recipient=body.recipient,
            caller=caller_of(request),
        )
        return answer(selectors.detail(notice), status=201)


class _OneNoticeView(ApiView):
    def notice(self, request: Request, notice_id: str) -> Notice:
        return selectors.notice(caller_of(request).organization_id, notice_id)


class NoticeView(_OneNoticeView):
    permissions = {"GET": Permission.READ_DECISIONS, "PATCH": Permission.DRAFT_NOTICES}

    @extend_schema(
        operation_id="get_notice",
        summary="A notice with its content, checklist and citations.",
        tags=["extension"],
        parameters=[NOTICE_ID],
        responses=openapi.answers({200: NoticeOut}, errors=[401, 403, 404, 503]),
    )
    def get(self, request: Request, notice_id: str) -> HttpResponse:
        return answer(selectors.detail(self.notice(request, notice_id)))

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
            raise _literal(["body", "content", "language"], [notice.language])
        try:
            services.edit(notice=notice, changes=changes, caller=caller_of(request))
        except services.NotEditable:
            raise ApiError(409, f"The notice is {notice.state} and stays as it is. Draft a new one.") from None
        return answer(selectors.detail(notice))


class ApproveView(_OneNoticeView):
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
        try:
            services.approve(
                notice=notice, pack=selectors.pack_of(notice), caller=caller_of(request), **body.model_dump()
            )
        except services.Refused as refusal:
            raise ApiError(409, str(refusal)) from None
        return answer(selectors.detail(self.notice(request, notice_id)))


class WithdrawView(_OneNoticeView):
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
        return answer(selectors.detail(self.notice(request, notice_id)))


class SettingsView(ApiView):
    permissions = {"GET": Permission.READ_DECISIONS, "PUT": Permission.MANAGE_NOTICES}

    @extend_schema(
        operation_id="get_notice_settings",
        summary="What the organization's notices are made with.",
        tags=["extension"],
        responses=openapi.answers({200: NoticeSettingsOut}, errors=[401, 403]),
    )
    def get(self, request: Request) -> HttpResponse:
        return answer(_settings(services.settings_of(caller_of(request).organization_id)))

    @extend_schema(
        operation_id="set_notice_settings",
        summary="Set the default pack and the names that the packs' texts need.",
        tags=["extension"],
        request=NoticeSettingsIn,
        responses=openapi.answers({200: NoticeSettingsOut}, errors=[401, 403, 413, 415]),
    )
    def put(self, request: Request) -> HttpResponse:
        body = self.body(NoticeSettingsIn)
        pack = _pack(body.default_pack, "default_pack")
        made = services.change_settings(default_pack=pack.id, placeholders=body.placeholders, caller=caller_of(request))
        return answer(_settings(made))


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
        return answer(paginate(rows, query, moment="created_at", show=selectors.summary))


class PackListView(ApiView):
    permissions = {"GET": None}

    @extend_schema(
        operation_id="list_packs",
        summary="The framework packs that notices can be drafted under.",
        tags=["extension"],
        responses=openapi.answers({200: PackList}, errors=[401, 403]),
    )
    def get(self, request: Request) -> HttpResponse:
        return answer({"items": [_shown(pack) for pack in packs().values()]})


def _settings(settings: NoticeSettings) -> dict[str, Any]:
    return {"default_pack": settings.default_pack, "placeholders": settings.placeholders}


def _pack(name: str, field: str = "pack") -> Pack:
    if name not in packs():
        raise _literal(["body", field], list(packs()))
    return packs()[name]


def _literal(loc: list[str], allowed: list[str]) -> Invalid:
    expected = " or ".join(f"'{each}'" for each in allowed)
    return Invalid(
        [{"type": "literal_error", "loc": loc, "msg": f"Input should be {expected}", "ctx": {"expected": expected}}]
    )


def _shown(pack: Pack) -> dict[str, Any]:
    return {
        "pack": pack.id,
        "version": pack.version,
        "digest": pack.digest,
        "framework": pack.text(pack.languages[0]).framework,
        "legal_status": pack.legal_status,
        "effective_from": pack.effective_from.isoformat(),
        "languages": list(pack.languages),
        "retention_days": pack.retention_days,
        "placeholders": list(pack.settings),
    }
