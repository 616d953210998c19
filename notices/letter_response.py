"""A letter as the answer to a request, of the API and of the back office."""

from collections.abc import Callable
from typing import Any, NamedTuple

from django.http import HttpResponse

from config.api.responses import JSON
from notices import letters
from notices.errors import NothingToProve
from notices.letters import Letter
from notices.schemas import LetterQuery


class _Format(NamedTuple):
    content_type: str
    file_name: str
    render: Callable[[Letter, LetterQuery], Any]


_FORMATS = {
    "html": _Format("text/html; charset=utf-8", "letter.html", lambda letter, query: letters.render_html(letter)),
    "pdf": _Format("application/pdf", "letter.pdf", lambda letter, query: letters.render_pdf(letter, query.paper)),
    "text": _Format("text/plain; charset=utf-8", "letter.txt", lambda letter, query: letters.render_text(letter)),
    "proof": _Format(JSON, "notice-proof.json", lambda letter, query: letter.proof),
}


def letter_response(letter: Letter, query: LetterQuery) -> HttpResponse:
    """A letter as a file of the kind asked for.

    Raises:
        NothingToProve: it is not approved, and its proof was asked for.
        NoPdfHere, TooLongForPaper
    """
    if query.format == "proof" and not letter.proof:
        raise NothingToProve
    kind = _FORMATS[query.format]
    response = HttpResponse(kind.render(letter, query), content_type=kind.content_type)
    response["Content-Disposition"] = f'inline; filename="{kind.file_name}"'
    response["Cache-Control"] = "private, no-store"
    if query.format == "html":
        response["Content-Security-Policy"] = (
            f"default-src 'none'; style-src {letters.style_hash()}; img-src data:; base-uri 'none'; "
            "form-action 'none'; frame-ancestors 'self'"
        )
    return response
