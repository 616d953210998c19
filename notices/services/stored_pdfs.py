"""Stored PDFs of letters. Rendering one with 900 reasons takes seconds of CPU.

A process renders one letter at a time. Other requests wait, so that pages and ingest get CPU time.
"""

import hashlib
import json
from importlib.metadata import version
from threading import BoundedSemaphore

from config import db
from config.code_version import code_digest
from config.errors import Fault
from notices import letters
from notices.letters import Letter, Paper
from notices.models import Notice, StoredPdf
from notices.services import derived_rows

MAX_BYTES = 8 * 2**20
"""Limit of a stored file. A larger one is rendered for each request."""
_WAIT_SECONDS = 10.0
_turn = BoundedSemaphore(1)


class PdfBusy(Fault):
    """The process is rendering another letter."""

    code = "pdf_busy"
    status = 503
    sentence = "Other letters are being made as PDF. Ask again in a few seconds, or take the letter as HTML or text."


def pdf(notice: Notice, letter: Letter, paper: Paper) -> bytes:
    """Return a notice's letter as PDF, from the stored file if it shows exactly this letter.

    Args:
        letter: of `selectors.letter`.

    Raises:
        PdfBusy, NoPdfHere, TooLongForPaper
    """
    letters.require_fits(letter.content)
    digest = _digest(letter)
    file = _stored(notice, paper, digest)
    if file:
        return file
    if not _turn.acquire(timeout=_WAIT_SECONDS):
        raise PdfBusy
    try:
        return _stored(notice, paper, digest) or _made(notice, letter, paper, digest)
    finally:
        _turn.release()


def _stored(notice: Notice, paper: Paper, digest: str) -> bytes | None:
    rows = StoredPdf.objects.for_organization(notice.organization_id)
    row = db.only(rows.filter(notice=notice.pk, paper=paper, digest=digest))
    return bytes(row.file) if row else None


def _made(notice: Notice, letter: Letter, paper: Paper, digest: str) -> bytes:
    file = letters.render_pdf(letter, paper)
    if len(file) <= MAX_BYTES:
        derived_rows.store(StoredPdf(notice=notice, paper=paper, digest=digest, file=file), key=["notice", "paper"])
    return file


def _digest(letter: Letter) -> str:
    """Return the digest of everything that a file depends on, except the machine's fonts."""
    inputs = {
        "letter": [[name, getattr(letter, name)] for name in letter.__dataclass_fields__],
        "code": code_digest(),
        "renderer": version("weasyprint"),
    }
    return hashlib.sha256(json.dumps(inputs, sort_keys=True, default=str).encode()).hexdigest()
