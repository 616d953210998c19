"""Follow-up of a review: the letter about its outcome, and the requests that the letter answers."""

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
"""The fields of a recipient that identify the person."""


def requests_answered_by(decision: Decision) -> ReviewRequestQuerySet:
    """Return the requests for review that a reconsideration answers, in any state. Other decisions answer none."""
    requests = ReviewRequest.objects.for_organization(decision.organization_id)
    if decision.first_id is None:
        return requests.none()
    chain = Q(notice__decision=decision.first_id) | Q(notice__decision__first=decision.first_id)
    rows = requests.filter(chain, received_at__lte=decision.received_at)
    return rows.select_related("notice").order_by(*_SOONEST_FIRST)


def requests_of(decision: Decision) -> ReviewRequestQuerySet:
    """Return the requests for review of any decision in a decision's chain, with their answers."""
    first = decision.first_id or decision.pk
    chain = Q(notice__decision=first) | Q(notice__decision__first=first)
    requests = ReviewRequest.objects.for_organization(decision.organization_id).filter(chain)
    return requests.with_answer().select_related("notice__decision").order_by(*_SOONEST_FIRST)


def requests_told_by(notice: Notice) -> list[ReviewRequest]:
    """Return the recipient's requests whose outcome a letter tells, or has told."""
    if notice.decision.first_id is None:
        return []
    waiting = requests_answered_by(notice.decision).unfinished()
    fitting = [request for request in waiting if is_same_person(request.notice.recipient, notice.recipient)]
    return [*fitting, *notice.told_requests.select_related("notice").order_by("pk")]


def is_same_person(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether a letter to the other recipient reaches the first: the names match, and so do references that both have.

    A recipient without a name must match by reference. A recipient without both matches any other.
    """
    ones, others = ({part: _folded(recipient.get(part)) for part in _WHO} for recipient in (one, other))
    by = "name" if ones["name"] else "reference"
    shared = (part for part in _WHO if ones[part] and others[part])
    return ones[by] in ("", others[by]) and all(ones[part] == others[part] for part in shared)


def with_identity(recipient: Mapping[str, Any], request: ReviewRequest) -> dict[str, Any]:
    """Return a recipient, completed with the name and reference of the person who made a request."""
    asked = request.notice.recipient
    return {**recipient, **{part: asked[part] for part in _WHO if asked.get(part) and not _folded(recipient.get(part))}}


def _folded(value: Any) -> str:
    text = str(value or "")
    return " ".join(text.split()).casefold() if is_visible(text) else ""


def earlier_letter(decision: Decision, request: ReviewRequest | None = None) -> Notice | None:
    """Return the letter with which the person requested the review, or else the chain's newest approved letter.

    Returns None if the decision is no reconsideration, or no letter of its chain is approved. Drafts do not count,
    because their recipient may still change.
    """
    if decision.first_id is None:
        return None
    asked = request or requests_answered_by(decision).unfinished().first()
    if asked:
        return asked.notice
    chain = Q(decision=decision.first_id) | Q(decision__first=decision.first_id)
    notices = Notice.objects.for_organization(decision.organization_id).filter(chain, state__in=Notice.FINISHED)
    return notices.order_by("-created_at", "-pk").first()


def addressee(earlier: Notice, request: ReviewRequest | None = None) -> dict[str, Any]:
    """Return the recipient of the next letter: the earlier one's.

    Without an email there, add the newest address that came with a request, unless the mail server refused it.
    """
    asked = earlier.review_requests.exclude(email="").filter(refused_at=None)
    if request:
        asked = asked.filter(pk=request.pk)
    newest = asked.order_by("-received_at").first()
    return {**({"email": newest.email} if newest else {}), **earlier.recipient}


def letter_for(request: ReviewRequest) -> Notice | None:
    """Return the newest notice that answers a request and fits its requester, except withdrawn ones."""
    notices = Notice.objects.for_organization(request.organization_id).exclude(state=Notice.State.WITHDRAWN)
    rows = notices.filter(**_about_answers_to(request)).order_by("-created_at", "-pk")
    return next((row for row in rows if is_same_person(request.notice.recipient, row.recipient)), None)


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


def deadlines_of(
    notice: Notice, own: Sequence[Deadline], answers: Sequence[ReviewRequest] | None = None
) -> list[Deadline]:
    """Return the deadlines of a notice, with those of the requests that it answers, soonest first.

    Args:
        own: the deadlines of its pack.
        answers: of `requests_told_by`, if already read.
    """
    answers = requests_told_by(notice) if answers is None else answers
    asked = [deadline for request in answers for deadline in _answer_deadlines(request)]
    return sorted([*own, *asked], key=lambda deadline: deadline.due_at)


def _answer_deadlines(request: ReviewRequest) -> list[Deadline]:
    """Return the deadlines of an answer, or none if the record behind the letter cannot be read.

    The notice can be read all the same, and has its own date.
    """
    try:
        return selectors.request_deadlines(request, ("answer",))
    except Fault:
        return []


def outcome_delivery(request: ReviewRequest) -> tuple[datetime, Notice] | None:
    """Return when a letter about the outcome first reached the requester, and the letter.

    Returned letters do not count. Any reconsideration recorded after the request answers it, so a letter about any of
    them counts.
    """
    letters = Notice.objects.for_organization(request.organization_id).filter(state=Notice.State.DELIVERED)
    deliveries = Delivery.objects.for_organization(request.organization_id).filter(
        notice__in=letters.filter(**_about_answers_to(request)), delivered_at__isnull=False, returned_at=None
    )
    rows = deliveries.select_related("notice").order_by("delivered_at", "pk")
    first = next((row for row in rows if is_same_person(request.notice.recipient, row.notice.recipient)), None)
    return (first.delivered_at, first.notice) if first and first.delivered_at else None


def _about_answers_to(request: ReviewRequest) -> dict[str, Any]:
    """Return filters for notices about a reconsideration of the chain that was recorded after the request."""
    decision = request.notice.decision
    return {
        "decision__first": decision.first_id or decision.pk,
        "decision__received_at__gte": request.received_at,
    }
