"""Follow-up of delivered and returned letters: a letter about the outcome ends a request for review."""

from accounts.audit import Actor
from notices import follow_up
from notices.models import Notice
from notices.services import audit_trail


def settle(letter: Notice, actor: Actor) -> None:
    """Recompute `told_at` and `told_by` of every open review request this letter answers.

    Call it, with the letter locked, in the transaction that changes whether the letter has been delivered.
    """
    requests = follow_up.requests_answered_by(letter.decision).filter(closed_at=None)
    # Lock the requests before reading deliveries, so that two letters settled at once see each other.
    for request in requests.order_by("pk").select_for_update(of=("self",)):
        told_at, told_by = follow_up.outcome_delivery(request) or (None, None)
        if (told_at, told_by) == (request.told_at, request.told_by):
            continue
        request.told_at, request.told_by = told_at, told_by
        request.save(update_fields=["told_at", "told_by"])
        verb = "review.told" if told_at else "review.to_be_told"
        audit_trail.record(verb, request.notice, actor, request=request.pk, letter=str(letter.pk))
