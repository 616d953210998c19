"""Parameters of requests about notices: a notice, a pack, a request for review."""

from collections.abc import Iterable

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from accounts.authentication import caller_of
from config import db
from config.errors import Invalid
from custody.selectors import Disposed, DisposedConflict
from decisions.models import Decision
from notices import follow_up, selectors
from notices.models import Notice, ReviewRequest
from notices.packs import Pack, packs

NOTICE_ID = OpenApiParameter("notice_id", {"type": "string"}, OpenApiParameter.PATH)


def notice_of(request: Request, notice_id: str) -> Notice:
    """Return the notice that the path names.

    Raises:
        NotFound
        Disposed, DisposedConflict: the notice was disposed of. A request that would change it gets the latter.
    """
    try:
        return selectors.notice(caller_of(request).organization_id, notice_id)
    except Disposed as gone:
        raise gone if request.method == "GET" else DisposedConflict(gone.disposal) from None


def pack_named(name: str, *loc: str | int) -> Pack:
    """Return the pack that the body names. Raises Invalid with the names of all packs."""
    if name not in packs():
        raise not_one_of(["body", *loc], packs())
    return packs()[name]


def answered_request(decision: Decision, number: str | None, *loc: str | int) -> ReviewRequest | None:
    """Return the request for review that the body names, if any. Raises Invalid if the decision does not answer it."""
    if number is None:
        return None
    if request := db.only(follow_up.requests_answered_by(decision).filter(pk=int(number))):
        return request
    msg = (
        "This record answers no request for review of this number. Draft about a reconsideration that was recorded "
        "after the request came in; its answer names the requests under to_be_told."
    )
    raise Invalid([{"type": "value_error", "loc": ["body", *loc], "msg": msg, "input": number}])


def not_one_of(loc: list[str | int], allowed: Iterable[str]) -> Invalid:
    """Return the validation error for a value that is not allowed."""
    expected = " or ".join(f"'{value}'" for value in allowed)
    return Invalid(
        [{"type": "literal_error", "loc": loc, "msg": f"Input should be {expected}", "ctx": {"expected": expected}}]
    )
