"""Responses with a letter, for the API and the back office."""

from django.http import HttpResponse

from config.http.json_responses import JSON
from notices import letters, selectors
from notices.errors import NothingToProve
from notices.letters import Letter
from notices.models import Notice
from notices.schemas import LetterQuery
from notices.services import stored_pdfs

_FILES = {
    "html": ("text/html; charset=utf-8", "letter.html"),
    "pdf": ("application/pdf", "letter.pdf"),
    "text": ("text/plain; charset=utf-8", "letter.txt"),
    "proof": (JSON, "notice-proof.json"),
}
"""Content type and name of a file, by format."""


def letter_response(notice: Notice, query: LetterQuery) -> HttpResponse:
    """Return a notice's letter as a file of the requested format.

    Raises:
        NothingToProve: the format is `proof`, and the notice is not approved.
        PdfBusy, NoPdfHere, TooLongForPaper
        Fault: as in `selectors.letter`.
    """
    letter = selectors.letter(notice)
    if query.format == "proof" and not letter.proof:
        raise NothingToProve
    content_type, name = _FILES[query.format]
    response = HttpResponse(_content(notice, letter, query), content_type=content_type)
    response["Content-Disposition"] = f'inline; filename="{name}"'
    response["Cache-Control"] = "private, no-store"
    if query.format == "html":
        response["Content-Security-Policy"] = (
            f"default-src 'none'; style-src {letters.style_hash()}; img-src data:; base-uri 'none'; "
            "form-action 'none'; frame-ancestors 'self'"
        )
    return response


def _content(notice: Notice, letter: Letter, query: LetterQuery) -> str | bytes:
    match query.format:
        case "html":
            return letters.render_html(letter)
        case "pdf":
            return stored_pdfs.pdf(notice, letter, query.paper)
        case "text":
            return letters.render_text(letter)
        case "proof":
            return letter.proof
