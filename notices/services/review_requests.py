"""Requests of affected persons that a human look at the decision again."""

import hmac

from django.db import transaction
from django.utils import timezone

from accounts import audit, mail
from accounts.audit import Actor
from accounts.callers import Caller
from config import leases
from config.celery import wake
from notices import deadlines, mails, selectors
from notices.localization import wording
from notices.models import Notice, ReviewRequest
from notices.services.common import Refused, note

_NOT_HERE = "For this letter no review can be asked for here."
READER = Actor("person", "", "whoever has the letter")


class WrongCode(Exception):
    """The code is not the one in the letter."""


def request_review(*, notice: Notice, code: str, message: str = "", email: str = "") -> ReviewRequest:
    """Take a request from the public page into the operators' queue. While one is open, it is the answer to the next.

    Args:
        notice: as `selectors.published` gives it.
        code: from the letter; case, spaces and dashes do not matter.
        email: where an acknowledgement goes, if the person wants one.

    Raises:
        WrongCode
        Refused: the letter offers no review, or was taken back.
        Fault: custody cannot be read.
    """
    letter = selectors.letter(notice)
    if not letter.review_code:
        raise Refused(_NOT_HERE)
    if not hmac.compare_digest(_plain(code).encode(), _plain(letter.review_code).encode()):
        raise WrongCode
    now = timezone.now()
    facts = selectors.facts_of(notice.decision)
    pack = selectors.pack_of(notice)
    due = next(
        iter(deadlines.compute(pack, facts, received_at=notice.decision.received_at, requested_at=now, what="answer")),
        None,
    )
    with transaction.atomic():
        locked = Notice.objects.select_for_update().get(pk=notice.pk)
        if locked.state not in Notice.FINISHED:
            raise Refused(_NOT_HERE)
        found = ReviewRequest.objects.filter(notice=locked).waiting().first()
        if found:
            return found
        made = ReviewRequest.objects.create(
            organization_id=locked.organization_id,
            notice=locked,
            message=message,
            email=email,
            received_at=now,
            due_at=due.due_at if due else None,
            due_clock=due.clock if due else "",
            handled_at=None if email else now,
        )
        note("review.requested", locked, READER, request=made.pk)
        if email:
            wake("notices.tasks.deliver_letters")
    return made


def close_request(*, request: ReviewRequest, reason: str, caller: Caller) -> ReviewRequest:
    """End a request without a reconsideration, as when the person takes it back. Raises Refused."""
    if not reason.strip():
        raise Refused("Say why the request is closed without a reconsideration.")
    with transaction.atomic():
        open_one = ReviewRequest.objects.filter(pk=request.pk).waiting()
        if not open_one.update(closed_at=timezone.now(), closed_by=str(caller.actor), closed_because=reason):
            raise Refused("The request is answered or closed already.")
        note("review.closed", request.notice, caller.actor, request=request.pk)
    return ReviewRequest.objects.get(pk=request.pk)


def acknowledge_requests() -> int:
    """Mail the acknowledgements that wait. Returns how many went out."""
    return mail.deliver(ReviewRequest.objects.exclude(email=""), _acknowledge)


def _acknowledge(row: ReviewRequest) -> mail.Outcome:
    notice = row.notice
    day = wording(notice.language, selectors.locale_of(notice)).day
    leases.renew(row, lasts=mail.LEASE)
    try:
        mails.send(
            "review_request",
            to=row.email,
            language=notice.language,
            organization=notice.organization.name,
            context={
                "number": row.pk,
                "received": day(row.received_at.date()),
                "due": day(row.due_at.date()) if row.due_at else "",
                "address": selectors.public_address(notice),
            },
        )
    except mail.Undeliverable:  # the person mistyped it: whoever answers has to know
        return mail.Outcome(sent=False, record=lambda: _refused(row))
    return mail.Outcome(sent=True, record=lambda: note("review.acknowledged", notice, audit.SYSTEM, request=row.pk))


def _refused(row: ReviewRequest) -> None:
    ReviewRequest.objects.filter(pk=row.pk).update(refused_at=timezone.now())


def _plain(code: str) -> str:
    return "".join(code.split()).replace("-", "").upper()[:64]
