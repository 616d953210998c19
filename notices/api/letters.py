from django.http import HttpResponse
from rest_framework.request import Request

from accounts.roles import Permission
from config.http.json_responses import JSON
from config.http.resources import Resource, operation
from custody.schemas import GONE
from notices.api.parameters import NOTICE_ID, notice_of
from notices.letter_response import letter_response
from notices.schemas import LetterQuery

_FILE = {"type": "string"}


class Letters(Resource):
    @operation(
        "get_notice_letter",
        "Get the letter of a notice as HTML, PDF or plain text, or its proof file.",
        permission=Permission.READ_DECISIONS,
        parameters=[NOTICE_ID],
        query=LetterQuery,
        answers={
            (200, "text/html"): _FILE,
            (200, "application/pdf"): _FILE | {"format": "binary"},
            (200, "text/plain"): _FILE,
            (200, JSON): {"type": "object", "additionalProperties": True},
        },
        errors=[404, 409, GONE, 503],
    )
    def retrieve(self, request: Request, notice_id: str) -> HttpResponse:
        query = self.query(LetterQuery)
        return letter_response(notice_of(request, notice_id), query)
