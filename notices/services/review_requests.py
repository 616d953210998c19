"""Requests of affected persons for human review of a decision."""

import hmac

from django.db import transaction
from django.utils import timezone

from accounts import audit, mail
from accounts.audit import Actor
from accounts.authority import requires
from accounts.callers import Caller
from accounts.roles import Permission
from config import leases
from config.celery import wake
from config.visible_text import is_visible
from notices import deadlines, mails, selectors
from notices.errors import MissingReason, NoReviewOffered, WrongCode, WrongState
from notices.localization import catalog
from notices.models import Notice, ReviewRequest
from notices.services import audit_trail

READER = Actor("person", "", "recipient (letter code)")


def request_review(*, notice: Notice, code: str, message: str = "", email: str = "") -> ReviewRequest:
    """Add a request from the public page to the operators' queue, or return the unfinished request of the same letter.

    Args:
        notice: of `selectors.published`.
        code: from the letter; case, spaces and dashes do not matter.
        email: for an acknowledgement; optional.

    Raises:
        WrongCode, NoReviewOffered
        Fault: custody cannot be read.
    """
    _require_code(notice, code)
    now = timezone.now()
    facts = selectors.facts_for(notice)
    pack = selectors.pack_of(notice)
    received_at = notice.decision.received_at
    answers = deadlines.compute(pack, facts, received_at=received_at, requested_at=now, what="answer")
    due = answers[0] if answers else None
    with transaction.atomic():
        locked = Notice.objects.for_organization(notice.organization_id).locked(notice.pk)
        if locked.state not in Notice.FINISHED:
            raise NoReviewOffered
        waiting = locked.review_requests.unfinished().first()
        if waiting:
            return waiting
        request = ReviewRequest.objects.create(
            organization_id=locked.organization_id,
            notice=locked,
            message=message,
            email=email,
            received_at=now,
            due_at=due.due_at if due else None,
            due_clock=due.clock if due else "",
            handled_at=None if email else now,
        )
        audit_trail.record("review.requested", locked, READER, request=request.pk)
        if email:
            wake("notices.tasks.acknowledge_requests")
    return request


def newest_request(*, notice: Notice, code: str) -> ReviewRequest | None:
    """Return the newest request made with a letter, of `with_answer`, if the code is right.

    Raises:
        WrongCode, NoReviewOffered
        Fault: custody cannot be read.
    """
    _require_code(notice, code)
    return notice.review_requests.with_answer().order_by("-received_at", "-pk").first()


def _require_code(notice: Notice, code: str) -> None:
    """Require the code in the letter. Raises WrongCode, NoReviewOffered, Fault."""
    letter = selectors.letter(notice)
    if not letter.review_code:
        raise NoReviewOffered
    if not hmac.compare_digest(_plain(code).encode(), _plain(letter.review_code).encode()):
        raise WrongCode


@requires(Permission.RECONSIDER)
def close_request(*, caller: Caller, request: ReviewRequest, reason: str) -> ReviewRequest:
    """Close a request without a letter about its outcome, for example because the person no longer wants a review.

    Raises:
        MissingReason
        WrongState: a letter told the person the outcome, or the request is closed.
    """
    if not is_visible(reason):
        raise MissingReason("Say why the request is closed.")
    with transaction.atomic():
        requests = ReviewRequest.objects.for_organization(caller.organization_id).filter(pk=request.pk)
        closing = {"closed_at": timezone.now(), "closed_by": str(caller.actor), "closed_because": reason}
        if not requests.unfinished().update(**closing):
            raise WrongState("The person knows the outcome already, or the request is closed.")
        audit_trail.record("review.closed", request.notice, caller.actor, request=request.pk)
    return requests.get()


def acknowledge_requests() -> int:
    """Mail the waiting acknowledgements. Return how many went out."""
    requests = ReviewRequest.objects.unscoped("one worker mails the acknowledgements of every organization")
    return mail.deliver(requests.exclude(email=""), _acknowledge)


def _acknowledge(request: ReviewRequest) -> mail.Outcome:
    notice = request.notice
    day = catalog(notice.language, selectors.locale_of(notice)).format_date
    leases.renew(request, lasts=mail.LEASE)
    try:
        mails.send(
            "review_request",
            to=request.email,
            language=notice.language,
            organization=notice.organization.name,
            context={
                "number": request.pk,
                "received": day(request.received_at.date()),
                "due": day(request.due_at.date()) if request.due_at else "",
                "address": selectors.public_address(notice),
            },
        )
    except mail.Undeliverable:  # the person mistyped it: the page of the request says so
        return mail.Outcome(sent=False, record=lambda: _record_refusal(request))
    return mail.Outcome(sent=True, record=lambda: _record_mailing(request))


def _record_mailing(request: ReviewRequest) -> None:
    audit_trail.record("review.acknowledged", request.notice, audit.SYSTEM, request=request.pk)


def _record_refusal(request: ReviewRequest) -> None:
    request.notice.review_requests.filter(pk=request.pk).update(refused_at=timezone.now())


def _plain(code: str) -> str:
    return "".join(code.split()).replace("-", "").upper()[:64]
