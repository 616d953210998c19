from django.http import HttpResponse
from rest_framework.request import Request

from accounts.authentication import caller_of
from accounts.roles import Permission
from config.http.json_responses import answer
from config.http.resources import Resource, operation
from notices import models, selectors, services
from notices.api.parameters import pack_named
from notices.packs import packs
from notices.schemas import NoticeSettingsIn, NoticeSettingsOut, PackList


class NoticeSettings(Resource):
    @operation(
        "get_notice_settings",
        "Get the organization's notice settings.",
        permission=Permission.READ_DECISIONS,
        answers={200: NoticeSettingsOut},
    )
    def retrieve(self, request: Request) -> HttpResponse:
        return answer(_shown(selectors.settings_of(caller_of(request).organization_id)))

    @operation(
        "set_notice_settings",
        "Set the default pack, the names that the packs' texts need, and the rules of approval.",
        permission=Permission.MANAGE_NOTICES,
        body=NoticeSettingsIn,
        answers={200: NoticeSettingsOut},
    )
    def update(self, request: Request) -> HttpResponse:
        body = self.body(NoticeSettingsIn)
        if body.default_pack is not None:
            pack_named(body.default_pack, "default_pack")
        return answer(_shown(services.change_settings(caller=caller_of(request), **body.model_dump())))


class Packs(Resource):
    @operation(
        "list_packs",
        "List the packs that notices can be drafted under.",
        permission=None,
        answers={200: PackList},
    )
    def list(self, request: Request) -> HttpResponse:
        return answer(PackList(items=list(packs().values())))


def _shown(settings: models.NoticeSettings) -> NoticeSettingsOut:
    return NoticeSettingsOut.of(settings, loosenings=settings.waiting())
