from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from accounts.authentication import caller_of
from accounts.roles import Permission
from config.api import openapi
from config.api.responses import answer
from config.api.views import ApiView
from notices import presenters, selectors, services
from notices.api.common import named_pack
from notices.packs import packs
from notices.schemas import NoticeSettingsIn, NoticeSettingsOut, PackList


class SettingsView(ApiView):
    permissions = {"GET": Permission.READ_DECISIONS, "PUT": Permission.MANAGE_NOTICES}

    @extend_schema(
        operation_id="get_notice_settings",
        summary="What the organization's notices are made with.",
        tags=["extension"],
        responses=openapi.answers({200: NoticeSettingsOut}, errors=[401, 403]),
    )
    def get(self, request: Request) -> HttpResponse:
        return answer(presenters.settings(selectors.settings_of(caller_of(request).organization_id)))

    @extend_schema(
        operation_id="set_notice_settings",
        summary="Set the default pack, the names that the packs' texts need, and the rules of approval.",
        tags=["extension"],
        request=NoticeSettingsIn,
        responses=openapi.answers({200: NoticeSettingsOut}, errors=[401, 403, 413, 415]),
    )
    def put(self, request: Request) -> HttpResponse:
        body = self.body(NoticeSettingsIn)
        named_pack(body.default_pack, "default_pack")
        return answer(presenters.settings(services.change_settings(caller=caller_of(request), **body.model_dump())))


class PackListView(ApiView):
    permissions = {"GET": None}

    @extend_schema(
        operation_id="list_packs",
        summary="The framework packs that notices can be drafted under.",
        tags=["extension"],
        responses=openapi.answers({200: PackList}, errors=[401, 403]),
    )
    def get(self, request: Request) -> HttpResponse:
        return answer({"items": [presenters.pack(pack) for pack in packs().values()]})
