"""What follows a request for review that a reconsideration has answered: the notice about its outcome."""

from typing import Any

from django.db.models import Q

from decisions.models import Decision
from notices.models import Notice


def earlier_notice(decision: Decision) -> Notice | None:
    """The newest letter about what a reconsideration looked at again, or about another one of it: the same person gets
    the next one. None for a decision of its own, and where no letter is approved: a draft may be for anybody."""
    if decision.first_id is None:
        return None
    chain = Q(decision=decision.first_id) | Q(decision__first=decision.first_id)
    notices = Notice.objects.for_organization(decision.organization_id).filter(chain, state__in=Notice.FINISHED)
    return notices.order_by("-created_at", "-pk").first()


def addressee(decision: Decision, earlier: Notice | None) -> dict[str, Any]:
    """To whom a notice goes: whoever got the earlier one, if need be at the address that they gave for the answer."""
    if earlier is None:
        return {"reference": decision.subject_reference} if decision.subject_reference else {}
    request = earlier.review_requests.exclude(email="").order_by("-received_at").first()
    return {**({"email": request.email} if request else {}), **earlier.recipient}


def notice_about(decision: Decision) -> Notice | None:
    """The newest notice about a reconsideration that was not withdrawn."""
    return decision.notices.exclude(state=Notice.State.WITHDRAWN).order_by("-created_at", "-pk").first()
