"""What the views of notices share."""

from collections.abc import Iterable

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from accounts.authentication import caller_of
from config.api.views import ApiView
from config.errors import Invalid
from notices import selectors
from notices.models import Notice
from notices.packs import Pack, packs

NOTICE_ID = OpenApiParameter("notice_id", {"type": "string"}, OpenApiParameter.PATH)


class OneNoticeView(ApiView):
    """A view of the notice that the path names."""

    def notice(self, request: Request, notice_id: str) -> Notice:
        return selectors.notice(caller_of(request).organization_id, notice_id)


def named_pack(name: str, *loc: str | int) -> Pack:
    """The pack of a name in the body. Raises Invalid, which lists those that exist."""
    if name not in packs():
        raise not_one_of(["body", *loc], packs())
    return packs()[name]


def not_one_of(loc: list[str | int], allowed: Iterable[str]) -> Invalid:
    """The validation error for a value that is none of the allowed ones."""
    expected = " or ".join(f"'{each}'" for each in allowed)
    return Invalid(
        [{"type": "literal_error", "loc": loc, "msg": f"Input should be {expected}", "ctx": {"expected": expected}}]
    )
