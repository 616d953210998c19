from collections.abc import Callable
from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request

from accounts.authentication import caller_of
from accounts.idempotency import idempotent
from accounts.roles import Permission
from config.api import openapi
from config.api.responses import JSON, answer
from notices import letters, presenters, selectors, services
from notices.api.common import NOTICE_ID, OneNoticeView
from notices.errors import NothingToProve
from notices.letters import Letter
from notices.models import Delivery
from notices.schemas import DeliveryIn, DeliveryList, DeliveryOut, LetterQuery, ReasonIn

HTML, PDF, TEXT = "text/html; charset=utf-8", "application/pdf", "text/plain; charset=utf-8"
_FILE = {"type": "string"}


class LetterView(OneNoticeView):
    permissions = {"GET": Permission.READ_DECISIONS}

    @extend_schema(
        operation_id="get_notice_letter",
        summary="The letter of a notice, as HTML, PDF or plain text, or the file that proves it.",
        tags=["extension"],
        parameters=[NOTICE_ID, *openapi.query(LetterQuery)],
        responses=openapi.answers(
            {
                (200, "text/html"): _FILE,
                (200, "application/pdf"): _FILE | {"format": "binary"},
                (200, "text/plain"): _FILE,
                (200, JSON): {"type": "object", "additionalProperties": True},
            },
            errors=[401, 403, 404, 409, 503],
        ),
    )
    def get(self, request: Request, notice_id: str) -> HttpResponse:
        query = self.query(LetterQuery)
        letter = selectors.letter(self.notice(request, notice_id))
        return letter_answer(letter, query)


def letter_answer(letter: Letter, query: LetterQuery) -> HttpResponse:
    """A letter as a file of the kind asked for. Raises NothingToProve."""
    if query.format == "proof" and not letter.proof:
        raise NothingToProve
    make: dict[str, Callable[[], Any]] = {
        "html": lambda: letters.render_html(letter),
        "pdf": lambda: letters.render_pdf(letter, query.paper),
        "text": lambda: letters.render_text(letter),
        "proof": lambda: letter.proof,
    }
    types = {"html": HTML, "pdf": PDF, "text": TEXT, "proof": JSON}
    name = {"html": "letter.html", "pdf": "letter.pdf", "text": "letter.txt", "proof": "notice-proof.json"}
    response = HttpResponse(make[query.format](), content_type=types[query.format])
    response["Content-Disposition"] = f'inline; filename="{name[query.format]}"'
    response["Cache-Control"] = "private, no-store"
    if query.format == "html":
        response["Content-Security-Policy"] = (
            f"default-src 'none'; style-src {letters.style_hash()}; img-src data:; base-uri 'none'; "
            "form-action 'none'; frame-ancestors 'self'"
        )
    return response


class DeliveryListView(OneNoticeView):
    permissions = {"GET": Permission.READ_DECISIONS, "POST": Permission.DRAFT_NOTICES}

    @extend_schema(
        operation_id="list_notice_deliveries",
        summary="How a notice was delivered, oldest first.",
        tags=["extension"],
        parameters=[NOTICE_ID],
        responses=openapi.answers({200: DeliveryList}, errors=[401, 403, 404]),
    )
    def get(self, request: Request, notice_id: str) -> HttpResponse:
        rows = self.notice(request, notice_id).deliveries.order_by("pk")
        return answer({"items": [presenters.delivery(row) for row in rows]})

    @extend_schema(
        operation_id="deliver_notice",
        summary="Mail the letter of an approved notice, or record that it was delivered in another way.",
        tags=["extension"],
        parameters=[NOTICE_ID, openapi.IDEMPOTENCY_KEY],
        request=DeliveryIn,
        responses=openapi.answers({201: DeliveryOut}, errors=[401, 403, 404, 409, 413, 415]),
    )
    @idempotent
    def post(self, request: Request, notice_id: str) -> HttpResponse:
        notice = self.notice(request, notice_id)
        body = self.body(DeliveryIn).model_dump()
        made = services.deliver(
            notice=notice, caller=caller_of(request), **body | {"channel": Delivery.Channel(body["channel"])}
        )
        return answer(presenters.delivery(made), status=201)


class ReturnView(OneNoticeView):
    permissions = {"POST": Permission.DRAFT_NOTICES}

    @extend_schema(
        operation_id="return_notice_delivery",
        summary="Record that a delivered letter came back.",
        tags=["extension"],
        parameters=[NOTICE_ID, OpenApiParameter("delivery_id", {"type": "string"}, OpenApiParameter.PATH)],
        request=ReasonIn,
        responses=openapi.answers({200: DeliveryOut}, errors=[401, 403, 404, 409, 413, 415]),
    )
    def post(self, request: Request, notice_id: str, delivery_id: int) -> HttpResponse:
        row = selectors.delivery(self.notice(request, notice_id), delivery_id)
        reason = self.body(ReasonIn).reason
        row = services.record_return(delivery=row, reason=reason, caller=caller_of(request))
        return answer(presenters.delivery(row))
