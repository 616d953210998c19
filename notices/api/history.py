from django.db.models import QuerySet
from django.http import HttpResponse
from rest_framework.request import Request

from accounts.roles import Permission
from config.http.cursors import cursor_at, positions
from config.http.json_responses import answer, dump
from config.http.resources import Resource, operation
from custody.schemas import GONE
from notices.api.parameters import NOTICE_ID, notice_of
from notices.models import NoticeRevision
from notices.schemas import HistoryOut, HistoryQuery

_PAGE_BYTES = 4 * 2**20


class NoticeHistory(Resource):
    @operation(
        "get_notice_history",
        "A notice's revisions and steps, oldest first; a page has up to `limit` of each, fewer of long ones.",
        permission=Permission.READ_DECISIONS,
        parameters=[NOTICE_ID],
        query=HistoryQuery,
        answers={200: HistoryOut},
        errors=[404, GONE],
    )
    def list(self, request: Request, notice_id: str) -> HttpResponse:
        query = self.query(HistoryQuery)
        notice = notice_of(request, notice_id)
        number, step = positions(query, 2)
        # Read one more of each to see whether there is another page. For revisions, their numbers suffice.
        numbers = notice.revisions.filter(number__gt=number).order_by("number").values_list("number", flat=True)
        following = list(numbers[: query.limit + 1])
        revisions = _page(notice.revisions.filter(number__in=following[: query.limit]).order_by("number"))
        rows = notice.steps.filter(pk__gt=step).select_related("revision").order_by("pk")
        steps = list(rows.defer("revision__content", "revision__cited")[: query.limit + 1])
        more = len(revisions) < len(following) or len(steps) > query.limit
        steps = steps[: query.limit]
        last = (revisions[-1].number if revisions else number, steps[-1].pk if steps else step)
        cursor = cursor_at(*last) if more else None
        return answer(HistoryOut(notice_id=str(notice.pk), revisions=revisions, steps=steps, next_cursor=cursor))


def _page(rows: QuerySet[NoticeRevision]) -> list[NoticeRevision]:
    """Return the revisions that fit on a page, at least one: a revision may hold megabytes."""
    page: list[NoticeRevision] = []
    size = 0
    for row in rows.iterator(chunk_size=1):
        size += len(dump(row.content))
        if page and size > _PAGE_BYTES:
            break
        page.append(row)
    return page
