from django.http import HttpResponse
from rest_framework.request import Request

from accounts.authentication import caller_of
from accounts.idempotency import idempotent_about
from accounts.roles import Permission
from config.http import openapi
from config.http.cursors import paginate
from config.http.json_responses import answer
from config.http.resources import Resource, operation
from custody.schemas import CONFLICT, GONE
from decisions.api.common import decision_of
from notices import presenters, selectors, services
from notices.api.parameters import NOTICE_ID, answered_request, not_one_of, notice_of, pack_named
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


class Notices(Resource):
    """Notices and their content. Decisions about them are in `reviews`."""

    @operation(
        "draft_notice",
        "Draft a notice for a decision.",
        is_contract=True,
        permission=Permission.DRAFT_NOTICES,
        parameters=[openapi.DECISION_ID],
        body=NoticeDraftIn,
        answers={201: NoticeOut},
        errors=[404, CONFLICT, 503],
    )
    @idempotent_about(decision_of)
    def draft(self, request: Request, decision_id: str) -> HttpResponse:
        decision = decision_of(request, decision_id)
        body = self.body(NoticeDraftIn)
        pack = pack_named(body.pack or selectors.settings_of(decision.organization_id).default_pack, "pack")
        answers = answered_request(decision, body.review_request_id, "review_request_id")
        notice = services.draft(
            caller=caller_of(request), decision=decision, pack=pack, recipient=body.recipient, answers=answers
        )
        return answer(presenters.detail(notice), status=201)

    @operation(
        "list_notices",
        "List notices, newest first.",
        permission=Permission.READ_DECISIONS,
        query=NoticeQuery,
        answers={200: NoticeList},
    )
    def list(self, request: Request) -> HttpResponse:
        query = self.query(NoticeQuery)
        rows = selectors.notices(caller_of(request).organization_id, query)
        return answer(paginate(rows, query, moment="created_at", show=NoticeList))

    @operation(
        "get_notice",
        "Get a notice with its content, checklist, citations and deadlines.",
        permission=Permission.READ_DECISIONS,
        parameters=[NOTICE_ID],
        answers={200: NoticeOut},
        errors=[404, GONE, 503],
    )
    def retrieve(self, request: Request, notice_id: str) -> HttpResponse:
        return answer(presenters.detail(notice_of(request, notice_id)))

    @operation(
        "edit_notice",
        "Edit a notice.",
        is_contract=True,
        permission=Permission.DRAFT_NOTICES,
        parameters=[NOTICE_ID],
        body=NoticeEditIn,
        answers={200: NoticeOut},
        errors=[404, CONFLICT, 503],
    )
    def edit(self, request: Request, notice_id: str) -> HttpResponse:
        notice = notice_of(request, notice_id)
        changes = self.body(NoticeEditIn).content.model_dump(exclude_unset=True)
        pack = selectors.pack_of(notice)
        if not pack.has_language(changes.get("language", notice.language)):
            raise not_one_of(["body", "content", "language"], pack.languages)
        services.edit(caller=caller_of(request), notice=notice, changes=changes)
        return answer(presenters.detail(notice))

    @operation(
        "set_notice_exemptions",
        "Exempt a notice from elements of the checklist, with reasons. This makes a revision.",
        permission=Permission.DRAFT_NOTICES,
        parameters=[NOTICE_ID],
        body=NotApplicableIn,
        answers={200: NoticeOut},
        errors=[404, CONFLICT, 503],
    )
    def set_exemptions(self, request: Request, notice_id: str) -> HttpResponse:
        notice = notice_of(request, notice_id)
        exemptions = self.body(NotApplicableIn).elements
        known = [element.id for element in selectors.pack_of(notice).elements]
        for element in exemptions:
            if element not in known:
                raise not_one_of(["body", "elements", element], known)
        services.edit(caller=caller_of(request), notice=notice, changes={}, not_applicable=exemptions)
        return answer(presenters.detail(notice))

    @operation(
        "set_notice_recipient",
        "Set the recipient of a notice's letter.",
        permission=Permission.DRAFT_NOTICES,
        parameters=[NOTICE_ID],
        body=RecipientIn,
        answers={200: NoticeOut},
        errors=[404, CONFLICT, 503],
    )
    def set_recipient(self, request: Request, notice_id: str) -> HttpResponse:
        notice = notice_of(request, notice_id)
        recipient = self.body(RecipientIn).recipient
        services.set_recipient(caller=caller_of(request), notice=notice, recipient=recipient)
        return answer(presenters.detail(notice_of(request, notice_id)))

    @operation(
        "get_notice_checklist",
        "Check a notice: the law's elements, its problems and warnings, and whether its sources resolve.",
        permission=Permission.READ_DECISIONS,
        parameters=[NOTICE_ID],
        answers={200: ChecklistOut},
        errors=[404, GONE, 503],
    )
    def checklist(self, request: Request, notice_id: str) -> HttpResponse:
        return answer(presenters.checked(notice_of(request, notice_id)))

    @operation(
        "new_notice_version",
        "Draft a new version of an approved notice. Its approval withdraws the old one.",
        permission=Permission.DRAFT_NOTICES,
        parameters=[NOTICE_ID],
        answers={201: NoticeOut},
        errors=[404, CONFLICT, 503],
    )
    @idempotent_about(notice_of)
    def make_version(self, request: Request, notice_id: str) -> HttpResponse:
        successor = services.new_version(caller=caller_of(request), notice=notice_of(request, notice_id))
        return answer(presenters.detail(notice_of(request, str(successor.pk))), status=201)
