from django.http import HttpResponse
from rest_framework.request import Request

from accounts.authentication import caller_of
from accounts.roles import Permission
from config.http.json_responses import answer
from config.http.resources import Resource, operation
from custody.sealing.field_paths import PathsTooLong
from decisions.records import paths_too_long
from notices import presenters, selectors, services
from notices.api.parameters import not_one_of, pack_named
from notices.packs import Pack
from notices.record_paths import Facts
from notices.schemas import NoticePreviewIn, NoticePreviewOut


class NoticePreviews(Resource):
    """Notices about records that are not in custody."""

    @operation(
        "preview_notice",
        "Preview the notice about a record, with its problems and warnings. Nothing is stored.",
        permission=Permission.DRAFT_NOTICES,
        body=NoticePreviewIn,
        answers={200: NoticePreviewOut},
    )
    def create(self, request: Request) -> HttpResponse:
        caller = caller_of(request)
        body = self.body(NoticePreviewIn)
        pack = pack_named(body.pack or selectors.settings_of(caller.organization_id).default_pack, "pack")
        preview = services.preview(
            caller=caller,
            facts=_facts(self.raw_body, dict(body.record)),
            pack=pack,
            recipient=body.recipient,
            language=_language(pack, body.language),
        )
        return answer(presenters.preview(preview, body.format))


def _facts(raw: bytes, record: dict[str, object]) -> Facts:
    """Return the facts of a record. Raises Invalid, as ingest does, if its paths are too long."""
    try:
        return Facts(raw, record)
    except PathsTooLong as error:
        raise paths_too_long(error, "body", "record") from None


def _language(pack: Pack, wish: str | None) -> str:
    """Return the wished language. Raises Invalid if the pack lacks it, instead of using another language."""
    if wish and not pack.has_language(wish):
        raise not_one_of(["body", "language"], pack.languages)
    return wish or ""
