"""A letter as PDF: archivable (PDF/A-3a), accessible to screen readers (PDF/UA-1), with the proof attached."""

import io
import unicodedata
from collections.abc import Iterable, Mapping
from datetime import datetime, time
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from config.errors import DomainError, Fault
from notices.letters import pdf_ua
from notices.letters.html import document, style
from notices.letters.letter import Letter
from notices.letters.printable import REPLACEMENT

Paper = Literal["a4", "letter"]

_STYLE = Path(__file__).parent / "paper.css"
_PROOF = "notice-proof.json"
MAX_STATEMENTS = 1000
MAX_LINES = 5000
_LINE, _WORD = 80, 500  # characters
_SCRIPT, _CONTROL = 10, 40  # times the cost of a plain Latin character


class NoPdfHere(Fault):
    """WeasyPrint does not find its text libraries."""

    code = "no_pdf_here"
    sentence = (
        "Letters cannot be made as PDF here, for the library Pango is missing. An administrator must install it, on "
        "Debian as libpango-1.0-0, libpangoft2-1.0-0, libharfbuzz-subset0 and fonts-dejavu-core, fonts-noto-cjk and "
        "fonts-symbola. HTML and text work."
    )


class TooLongForPaper(DomainError):
    """The letter is too long for a PDF. Rendering takes 1 ms a line, and 6 ms and 150 kB of memory a statement, so a
    few long letters at once would block or kill the process."""

    code = "too_long_for_paper"
    sentence = (
        "A letter of more than 1,000 statements or 5,000 lines is not made as PDF, nor one with a word of many "
        "thousand characters. Take it as HTML or text, or draft a shorter one."
    )


def require_fits(content: Mapping[str, Any]) -> None:
    """Raise TooLongForPaper if a content has too many statements or lines for a PDF."""
    if sum(len(value) for value in content.values() if isinstance(value, list)) > MAX_STATEMENTS:
        raise TooLongForPaper(because="more statements than a PDF is made of")
    if _lines(content) > MAX_LINES:
        raise TooLongForPaper(because="more lines than a PDF is made of")


def _lines(value: Any) -> float:
    """Estimate how many lines of plain Latin text take as long to render.

    A word that fills several lines costs more: each of its lines is rendered with the whole remainder of the word.
    """
    if isinstance(value, str):
        words = ((_weight(word) + 1) / _LINE * max(1, len(word) / _WORD) for word in value.split())
        return 1 + value.count("\n") + sum(words)
    if isinstance(value, Mapping):
        value = value.values()
    return sum(map(_lines, value)) if isinstance(value, Iterable) else 0


def _weight(word: str) -> int:
    """Estimate how many plain Latin characters take as long as a word.

    Another script may need another font, and each mark or direction control begins a new run of text.
    """
    if word.isascii():
        return len(word)
    return sum(
        1 if character < "\u0250" else _CONTROL if unicodedata.category(character) in ("Mn", "Me", "Cf") else _SCRIPT
        for character in word
    )


def render_pdf(letter: Letter, paper: Paper) -> bytes:
    """Return the letter as a tagged PDF: the same bytes for the same letter and the same fonts.

    A character without a glyph in the installed fonts is printed as U+FFFD: PDF/A requires a glyph for every character.

    Raises:
        NoPdfHere: Pango is missing.
        TooLongForPaper
    """
    require_fits(letter.content)
    page = document(letter, f"{style()}{_STYLE.read_text('utf-8')}@page {{ size: {paper} }}")
    written, undrawn = _write(page, letter)
    if undrawn:
        written, _ = _write(page.translate(dict.fromkeys(undrawn, REPLACEMENT)), letter)
    return written


def _write(page: str, letter: Letter) -> tuple[bytes, set[int]]:
    """Return a page as PDF, and the characters without a glyph in any font."""
    weasyprint = _weasyprint()
    undrawn: set[int] = set()

    def finish(document: Any, file: Any) -> None:
        undrawn.update(*(font.missing for font in document.fonts.values()))
        pdf_ua.finish(file)

    # No protocol is allowed: a URL in an edited text must not be fetched.
    source = weasyprint.HTML(string=page, url_fetcher=weasyprint.urls.URLFetcher(allowed_protocols=()))
    written: bytes = source.write_pdf(
        pdf_variant="pdf/a-3a",
        pdf_identifier=letter.notice_id.encode(),
        attachments=[_proof(weasyprint, letter)] if letter.proof else [],
        finisher=finish,
    )
    return written, undrawn


def _proof(weasyprint: ModuleType, letter: Letter) -> Any:
    midnight = datetime.combine(letter.dated, time())
    return weasyprint.Attachment(
        file_obj=io.BytesIO(letter.proof),
        name=_PROOF,
        description="Proofs of the cited fields",
        created=midnight,
        modified=midnight,
        relationship="Supplement",
    )


def _weasyprint() -> ModuleType:
    """Import WeasyPrint at the first PDF: it takes a second, and HTML and text do not need Pango."""
    try:
        import weasyprint
    except OSError as error:
        raise NoPdfHere(because="WeasyPrint finds no Pango") from error
    return weasyprint
