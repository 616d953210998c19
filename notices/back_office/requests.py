"""Requests for review on the pages of decisions and requests: the person's words, and the letter to write."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext as _

from accounts.back_office import may_look, refusal
from accounts.roles import Permission
from config import db
from decisions.back_office import Panel, ReviewPrompt
from decisions.models import Decision
from notices import follow_up, selectors
from notices.fitting import Offer
from notices.forms import RecipientForm
from notices.models import Notice, ReviewRequest

_TOLD = ("decision_summary", "main_factors")


@dataclass(frozen=True, slots=True)
class Letter:
    """The letter that tells a person the outcome: the written notice, or the defaults for its draft."""

    request: ReviewRequest
    answer: Decision
    written: Notice | None
    recipient: list[str]
    """Lines of a draft's recipient: name, address and so on."""
    offer: Offer

    @property
    def number(self) -> str:
        return str(self.request.pk)

    @property
    def pack(self) -> str:
        """The pack to draft under: that of the letter behind the request, if it fits."""
        return self.offer.first_of(self.request.notice.pack)


def letter(request: ReviewRequest) -> Letter | None:
    """Return the letter that follows a request of `with_answer`, or None before a reconsideration answers it."""
    answer = db.only(Decision.objects.for_organization(request.organization_id).filter(pk=request.answer_id))
    if answer is None:
        return None
    recipient = RecipientForm.lines(follow_up.addressee(request.notice, request))
    written = request.told_by or follow_up.letter_for(request)
    return Letter(request, answer, written, recipient, selectors.offered_packs(answer))


def to_write(http: HttpRequest, decision: Decision) -> Panel | None:
    """Return the panel of letters that are due to people who requested a review of a decision."""
    rows = follow_up.requests_of(decision).to_be_told()
    letters = [due for row in rows if (due := letter(row))]
    if not letters:
        return None
    names = ", ".join(f"R-{due.request.pk}" for due in letters)
    title = (
        _("%(names)s is answered: write the letter") % {"names": names}
        if len(letters) == 1
        else _("%(names)s are answered: write the letters") % {"names": names}
    )
    context = {
        "letters": letters,
        "reason": refusal(http, Permission.DRAFT_NOTICES),
        "may_look": may_look(http, Permission.RECONSIDER),
    }
    return Panel(title, "notices/letters_to_write.html", context, urgent=True)


def review_prompt(http: HttpRequest, decision: Decision) -> ReviewPrompt | None:
    """Return the prompt for a reconsideration, with the requests it answers; None if no person waits for a review."""
    rows = list(follow_up.requests_of(decision).waiting())
    if not rows:
        return None
    asked = [{"request": row, "said": _said(row.notice)} for row in rows]
    title = _("What the person asks for") if len(rows) == 1 else _("What the people ask for")
    panel = Panel(title, "notices/asked_for.html", {"asked": asked})
    return ReviewPrompt({"requested_by": ", ".join(map(_asker, rows))}, panel)


def _asker(row: ReviewRequest) -> str:
    """Return the requester's name as in the letter, with the number of the request."""
    recipient: dict[str, Any] = row.notice.recipient
    names = (recipient.get("name"), recipient.get("reference"), row.notice.decision.subject_reference)
    name = next((text for text in names if isinstance(text, str) and text.strip()), _("the person concerned"))
    return f"{' '.join(name.split())} (R-{row.pk})"


def _said(notice: Notice) -> dict[str, Any]:
    """Return the letter's title, and its sentences about the decision and its reasons."""
    content = notice.approval.revision.content
    return {"title": content["title"], "sentences": [item["statement"] for name in _TOLD for item in content[name]]}
