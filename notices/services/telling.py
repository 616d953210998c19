"""Requests for review are over once a letter tells the person the outcome, and are not if it comes back."""

from accounts.audit import Actor
from notices import follow_up
from notices.models import Notice
from notices.services import audit_trail


def settle(letter: Notice, actor: Actor) -> None:
    """Say anew of each request that a letter answers whether the person knows the outcome. Whoever changes whether the
    letter has reached its person calls this, in the same transaction, with the letter locked.

    A request that somebody closed stays closed.
    """
    requests = follow_up.requests_answered_by(letter.decision).filter(closed_at=None)
    # Locked before looking, so that of two letters neither overlooks the other.
    for request in requests.order_by("pk").select_for_update(of=("self",)):
        told_at, told_by = follow_up.told(request) or (None, None)
        if (told_at, told_by) == (request.told_at, request.told_by):
            continue
        request.told_at, request.told_by = told_at, told_by
        request.save(update_fields=["told_at", "told_by"])
        verb = "review.told" if told_at else "review.to_be_told"
        audit_trail.record(verb, request.notice, actor, request=request.pk, letter=str(letter.pk))
