from django.db.models import QuerySet
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from accounts.roles import Permission
from config.api import openapi
from config.api.pagination import cursor_at, positions
from config.api.responses import answer, dump
from notices import presenters
from notices.api.common import NOTICE_ID, OneNoticeView
from notices.models import NoticeRevision
from notices.schemas import HistoryOut, HistoryQuery

_PAGE_BYTES = 4 * 2**20


class HistoryView(OneNoticeView):
    permissions = {"GET": Permission.READ_DECISIONS}

    @extend_schema(
        operation_id="get_notice_history",
        summary="A notice's revisions and steps, oldest first; a page has up to `limit` of each, fewer of long ones.",
        tags=["extension"],
        parameters=[NOTICE_ID, *openapi.query(HistoryQuery)],
        responses=openapi.answers({200: HistoryOut}, errors=[401, 403, 404]),
    )
    def get(self, request: Request, notice_id: str) -> HttpResponse:
        query = self.query(HistoryQuery)
        notice = self.notice(request, notice_id)
        number, step = positions(query, 2)
        # One more of each tells whether there is another page; of a revision its number is enough for that.
        numbers = notice.revisions.filter(number__gt=number).order_by("number").values_list("number", flat=True)
        following = list(numbers[: query.limit + 1])
        revisions = _fitting(notice.revisions.filter(number__in=following[: query.limit]).order_by("number"))
        rows = notice.steps.filter(pk__gt=step).select_related("revision").order_by("pk")
        steps = list(rows.defer("revision__content", "revision__cited")[: query.limit + 1])
        more = len(revisions) < len(following) or len(steps) > query.limit
        steps = steps[: query.limit]
        last = (revisions[-1].number if revisions else number, steps[-1].pk if steps else step)
        return answer(
            {
                "notice_id": str(notice.pk),
                "revisions": [presenters.revision(row) for row in revisions],
                "steps": [presenters.step(row) for row in steps],
                "next_cursor": cursor_at(*last) if more else None,
            }
        )


def _fitting(rows: QuerySet[NoticeRevision]) -> list[NoticeRevision]:
    """The revisions that fit on a page, at least one: a single one may hold megabytes."""
    fitting: list[NoticeRevision] = []
    size = 0
    for row in rows.iterator(chunk_size=1):
        size += len(dump(row.content))
        if fitting and size > _PAGE_BYTES:
            break
        fitting.append(row)
    return fitting
