"""What follows a request for review: the reconsideration that answers it, and the notice about its outcome."""

from typing import Any

from django.db.models import Q

from decisions.models import Decision
from notices.models import Notice, ReviewRequest

_STANDING = ~Q(state=Notice.State.WITHDRAWN)


def answer_to(row: ReviewRequest) -> Decision | None:
    """The first reconsideration in the decision's chain after a request; None while there is none."""
    asked_about = row.notice.decision
    chain = Decision.objects.filter(first_id=asked_about.first_id or asked_about.pk)
    return chain.filter(received_at__gte=row.received_at).order_by("received_at").first()


def earlier_notice(decision: Decision) -> Notice | None:
    """The newest notice about what a reconsideration looked at again, or about another one of it: the same person
    gets the next letter. None for a decision of its own."""
    if decision.first_id is None:
        return None
    chain = Q(decision=decision.first_id) | Q(decision__first=decision.first_id)
    return Notice.objects.filter(chain, _STANDING).order_by("-created_at", "-pk").first()


def addressee(decision: Decision, earlier: Notice | None) -> dict[str, Any]:
    """To whom a notice goes: whoever got the earlier one, if need be at the address that they gave for the answer."""
    if earlier is None:
        return {"reference": decision.subject_reference} if decision.subject_reference else {}
    asked = earlier.review_requests.exclude(email="").order_by("-received_at").first()
    return {**({"email": asked.email} if asked else {}), **earlier.recipient}


def notice_about(decision: Decision) -> Notice | None:
    """The newest notice about a reconsideration that was not withdrawn."""
    return decision.notices.filter(_STANDING).order_by("-created_at", "-pk").first()
