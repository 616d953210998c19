"""Answers of the API that combine a notice with its check."""

from dataclasses import asdict
from typing import Any

from config.errors import DomainError, Fault
from config.http.timestamps import rfc3339
from notices import check_results, follow_up, selectors
from notices.check_results import CheckResult
from notices.deadlines import Deadline
from notices.letters import render_html, render_text
from notices.models import Notice, NoticeRevision
from notices.packs import Pack
from notices.previews import Preview
from notices.readability import Readabilities, Readability, readability_of
from notices.schemas import LetterFormat, NoticeSummary
from notices.services import stored_checks
from notices.untold import Untold

_LETTERS = {"html": render_html, "text": render_text}
_WORDS_NOT_NAMED = "Words not named: the approval did not say which revision had been read."


def detail(notice: Notice) -> dict[str, Any]:
    """Return a notice with its content, checklist, citations and deadlines.

    If the record cannot be read, `fault` says so, and the parts that need it are empty. So a notice about a destroyed
    record can still be read and withdrawn.
    """
    revision = selectors.current_revision(notice)
    sealed = getattr(notice, "sealed", None)
    delivered_at = selectors.delivered_at(notice)
    return {
        **NoticeSummary.of(notice).model_dump(),
        "recipient": notice.recipient,
        "revision": revision.number,
        "content": revision.content,
        **_against_the_record(notice, revision),
        "approval": _approval(notice),
        "delivered_at": rfc3339(delivered_at),
        "custody_record_id": str(sealed.pk) if sealed else None,
        "letter_digest": _letter_digest(notice) if sealed else None,
        "public_address": selectors.public_address(notice) if sealed else None,
        "answers": [str(request.pk) for request in follow_up.requests_told_by(notice)],
    }


def _letter_digest(notice: Notice) -> str | None:
    """Return the sealed digest of the letter; None while it cannot be read."""
    try:
        return str(selectors.sealed_content(notice)["letter_digest"])
    except Fault:
        return None


_LISTS = ("elements", "citations", "warnings", "untold", "proposals", "deadlines")
"""The lists of a check, empty of a record that cannot be read."""


def _against_the_record(notice: Notice, revision: NoticeRevision) -> dict[str, Any]:
    try:
        result = stored_checks.check(notice, revision)
    except DomainError as error:
        nothing: dict[str, Any] = {name: [] for name in _LISTS}
        own = readability_of(revision.content, selectors.pack_of(notice), notice.language)
        unread = {"deadline": None, "problems": [error.sentence], "fault": error.sentence}
        return {**nothing, **unread, "readability": _readability(own)}
    return _checks(selectors.pack_of(notice), result, follow_up.deadlines_of(notice, result.deadlines))


def _checks(pack: Pack, result: CheckResult, due: list[Deadline]) -> dict[str, Any]:
    """Return the check of a notice under a pack as answers show it."""
    shown = [deadline(row) for row in due]
    return {
        "elements": [item.as_json() for item in result.elements],
        "citations": [citation.as_json() for citation in result.citations],
        "problems": result.problems,
        "warnings": [warning.as_json() for warning in result.warnings],
        "untold": [_untold(pack, field) for field in result.untold],
        "proposals": [asdict(proposal) for proposal in result.proposals],
        "deadline": shown[0] if shown else None,
        "deadlines": shown,
        "fault": None,
        "readability": _readability(result.readability),
    }


def _untold(pack: Pack, field: Untold) -> dict[str, Any]:
    return {**field.as_json(), "blocks": field.blocks and not pack.advisory}


def checked(notice: Notice) -> dict[str, Any]:
    """Return a notice's checklist alone, with its problems and warnings."""
    revision = selectors.current_revision(notice)
    checks = _against_the_record(notice, revision)
    del checks["readability"]
    return {"notice_id": str(notice.pk), "revision": revision.number, **checks}


def preview(previewed: Preview, letter_format: LetterFormat) -> dict[str, Any]:
    """Return a preview with its check and its letter."""
    case = previewed.case
    result = check_results.check(case, previewed)
    return {
        "decision_id": case.facts.get("decision_id"),
        "pack": case.pack.id,
        "pack_version": case.pack.version,
        "language": previewed.language,
        "content": previewed.content,
        **_checks(case.pack, result, result.deadlines),
        "format": letter_format,
        "letter": _LETTERS[letter_format](previewed.letter),
    }


def deadline(due: Deadline) -> dict[str, Any]:
    return {**asdict(due), "triggered_at": rfc3339(due.triggered_at), "due_at": rfc3339(due.due_at)}


def _readability(measured: Readabilities) -> dict[str, Any]:
    return {**readability(measured.whole), "without_prescribed": readability(measured.without_prescribed)}


def readability(measured: Readability) -> dict[str, Any]:
    """Return the measures of a notice's prose, with means to one decimal."""
    return {
        "words": measured.words,
        "sentences": measured.sentences,
        "words_per_sentence": measured.words_per_sentence,
        "longest": measured.longest,
        "flesch": None if measured.flesch is None else round(measured.flesch, 1),
    }


def _approval(notice: Notice) -> dict[str, Any] | None:
    approval = getattr(notice, "approval", None)
    if approval is None:
        return None
    return {
        "approver": approval.approver,
        "authority": approval.authority,
        "basis": approval.full_basis,
        "grant_id": str(approval.grant_id) if approval.grant_id else None,
        "verified": approval.grant_id is not None,
        "words_named": approval.words_named,
        "remark": _WORDS_NOT_NAMED if approval.words_named is False else "",
        "acknowledged": approval.acknowledged,
        "open_warnings": approval.open_warnings,
        "approved_at": rfc3339(approval.created_at),
        "revision": approval.revision.number,
    }
