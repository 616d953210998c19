"""What follows a review: the letter that tells the person its outcome, and which requests are over with it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import F, Q

from config.errors import Fault
from config.visible_text import is_visible
from decisions.models import Decision
from decisions.unnotified_requests import UnnotifiedRequest
from notices import selectors
from notices.deadlines import Deadline
from notices.models import Delivery, Notice, ReviewRequest, ReviewRequestQuerySet

_SOONEST_FIRST = (F("due_at").asc(nulls_last=True), "pk")
_WHO = ("reference", "name")
"""What of a recipient says who it is, beside where they are."""


def requests_answered_by(decision: Decision) -> ReviewRequestQuerySet:
    """The requests for review that a reconsideration answers, whatever became of them; none for another decision."""
    requests = ReviewRequest.objects.for_organization(decision.organization_id)
    if decision.first_id is None:
        return requests.none()
    chain = Q(notice__decision=decision.first_id) | Q(notice__decision__first=decision.first_id)
    rows = requests.filter(chain, received_at__lte=decision.received_at)
    return rows.select_related("notice").order_by(*_SOONEST_FIRST)


def requests_of(decision: Decision) -> ReviewRequestQuerySet:
    """The requests for review of a decision or of another one of its chain, with their answers."""
    first = decision.first_id or decision.pk
    chain = Q(notice__decision=first) | Q(notice__decision__first=first)
    requests = ReviewRequest.objects.for_organization(decision.organization_id).filter(chain)
    return requests.with_answer().select_related("notice__decision").order_by(*_SOONEST_FIRST)


def requests_told_by(notice: Notice) -> list[ReviewRequest]:
    """The requests whose outcome a letter tells, or has told: of whom it goes to, and of nobody else."""
    if notice.decision.first_id is None:
        return []
    waiting = requests_answered_by(notice.decision).unfinished()
    fitting = [each for each in waiting if is_same_person(each.notice.recipient, notice.recipient)]
    return [*fitting, *notice.told_requests.select_related("notice").order_by("pk")]


def is_same_person(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether a letter to the other tells the one: it names them, and no reference that both have says otherwise.

    Where the one has no name, their reference has to be there; who has neither is whoever has the letter.
    """
    ones, others = ({part: _folded(each.get(part)) for part in _WHO} for each in (one, other))
    by = "name" if ones["name"] else "reference"
    shared = (part for part in _WHO if ones[part] and others[part])
    return ones[by] in ("", others[by]) and all(ones[part] == others[part] for part in shared)


def named(recipient: Mapping[str, Any], request: ReviewRequest) -> dict[str, Any]:
    """A recipient with the name and the reference of who made a request, where it has none itself."""
    asked = request.notice.recipient
    return {**recipient, **{part: asked[part] for part in _WHO if asked.get(part) and not _folded(recipient.get(part))}}


def _folded(value: Any) -> str:
    said = str(value or "")
    return " ".join(said.split()).casefold() if is_visible(said) else ""


def earlier_letter(decision: Decision, request: ReviewRequest | None = None) -> Notice | None:
    """The letter with which the person asked for the review. If nobody asked, the newest about what a reconsideration
    looked at again: the same person gets the next one. None for a decision of its own, and where no letter is approved:
    a draft may be for anybody."""
    if decision.first_id is None:
        return None
    asked = request or requests_answered_by(decision).unfinished().first()
    if asked:
        return asked.notice
    chain = Q(decision=decision.first_id) | Q(decision__first=decision.first_id)
    notices = Notice.objects.for_organization(decision.organization_id).filter(chain, state__in=Notice.FINISHED)
    return notices.order_by("-created_at", "-pk").first()


def addressee(earlier: Notice, request: ReviewRequest | None = None) -> dict[str, Any]:
    """To whom the next letter goes: whoever got the earlier one, if need be at the address that they gave for the
    answer, unless no mail ever reaches it."""
    asked = earlier.review_requests.exclude(email="").filter(refused_at=None)
    if request:
        asked = asked.filter(pk=request.pk)
    found = asked.order_by("-received_at").first()
    return {**({"email": found.email} if found else {}), **earlier.recipient}


def letter_for(request: ReviewRequest) -> Notice | None:
    """The newest notice that tells what came out of a request and can be for who made it, but no withdrawn one."""
    notices = Notice.objects.for_organization(request.organization_id).exclude(state=Notice.State.WITHDRAWN)
    rows = notices.filter(**_about_answers_to(request)).order_by("-created_at", "-pk")
    return next((each for each in rows if is_same_person(request.notice.recipient, each.recipient)), None)


def unnotified_requests(decision: Decision) -> list[UnnotifiedRequest]:
    """Return the review requests whose person has yet to be notified of a reconsideration."""
    path = f"POST /v1/decisions/{decision.decision_id}/notices"
    return [
        UnnotifiedRequest(
            str(request.pk),
            request.due_at,
            f'R-{request.pk} is answered: write the letter ({path} with "review_request_id": "{request.pk}").',
        )
        for request in requests_answered_by(decision).unfinished()
    ]


def deadlines_of(notice: Notice, own: Sequence[Deadline]) -> list[Deadline]:
    """Return until when a notice has to reach the person, soonest first.

    Args:
        own: the deadlines of its pack. Those of the requests that it answers are added.
    """
    asked = [each for request in requests_told_by(notice) for each in _answer_deadlines(request)]
    return sorted([*own, *asked], key=lambda each: each.due_at)


def _answer_deadlines(request: ReviewRequest) -> list[Deadline]:
    """Empty if the record behind the letter cannot be read: the notice itself can be, and has its date."""
    try:
        return selectors.request_deadlines(request, ("answer",))
    except Fault:
        return []


def told(request: ReviewRequest) -> tuple[datetime, Notice] | None:
    """When a letter about the outcome first reached who made a request, and which; None if none did, or it came back.

    Any reconsideration that was recorded after the request answers it, so a letter about any of them tells.
    """
    letters = Notice.objects.for_organization(request.organization_id).filter(state=Notice.State.DELIVERED)
    deliveries = Delivery.objects.for_organization(request.organization_id).filter(
        notice__in=letters.filter(**_about_answers_to(request)), delivered_at__isnull=False, returned_at=None
    )
    rows = deliveries.select_related("notice").order_by("delivered_at", "pk")
    found = next((each for each in rows if is_same_person(request.notice.recipient, each.notice.recipient)), None)
    return (found.delivered_at, found.notice) if found and found.delivered_at else None


def _about_answers_to(request: ReviewRequest) -> dict[str, Any]:
    """Filters of notices: those about a reconsideration of the chain that was recorded after the request."""
    decision = request.notice.decision
    return {
        "decision__first": decision.first_id or decision.pk,
        "decision__received_at__gte": request.received_at,
    }
