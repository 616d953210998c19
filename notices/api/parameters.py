"""What requests about notices name: a notice, a pack."""

from collections.abc import Iterable

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from accounts.authentication import caller_of
from config.errors import Invalid
from custody.selectors import Disposed, DisposedConflict
from notices import selectors
from notices.models import Notice
from notices.packs import Pack, packs

NOTICE_ID = OpenApiParameter("notice_id", {"type": "string"}, OpenApiParameter.PATH)


def notice_of(request: Request, notice_id: str) -> Notice:
    """The notice that the path names.

    Raises:
        NotFound
        Disposed, DisposedConflict: it was disposed of; the latter where the request would change it.
    """
    try:
        return selectors.notice(caller_of(request).organization_id, notice_id)
    except Disposed as gone:
        raise gone if request.method == "GET" else DisposedConflict(gone.disposal) from None


def pack_named(name: str, *loc: str | int) -> Pack:
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
