"""Legal holds. Holds and batches of disposals share a lock, so a hold placed during a run takes effect at once."""

import uuid
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from accounts import audit
from accounts.authority import requires
from accounts.callers import Caller
from accounts.roles import Permission
from decisions.models import Decision
from decisions.selectors import decision as found_decision
from retention import rules
from retention.errors import HoldLifted
from retention.models import Hold

_NO_TEXTS = {"matter": "", "reason": "", "lifted_because": ""}


@requires(Permission.MANAGE_HOLDS)
def place_hold(
    *,
    caller: Caller,
    matter: str,
    reason: str,
    decision: Decision | None = None,
    filter: dict[str, Any] | None = None,
) -> Hold:
    """Hold either the family of a decision, or all families in which a decision matches a filter.

    Args:
        filter: JSON values by the names of `rules.FILTERS`, at least one.

    Raises:
        DecisionNotFound, Disposed: the decision no longer exists.
    """
    organization_id = caller.organization_id
    with transaction.atomic():
        rules.lock(organization_id)
        if decision:
            decision = found_decision(organization_id, decision.decision_id)
        rows = Hold.objects.for_organization(organization_id)
        hold = Hold.objects.create(
            organization_id=organization_id,
            number=(rows.aggregate(last=Max("number"))["last"] or 0) + 1,
            matter=matter,
            reason=reason,
            root=(decision.first_id or decision.pk) if decision else None,
            filter=filter,
            placed_by=str(caller.actor),
            placed_at=timezone.now(),
        )
        _record("hold.placed", hold, caller, covers=sorted(filter) if filter else ["decision"])
    return hold


@requires(Permission.MANAGE_HOLDS)
def lift_hold(*, caller: Caller, hold: Hold, because: str) -> Hold:
    """End a hold, so that the policy and other holds decide again. Raises HoldLifted."""
    with transaction.atomic():
        rules.lock(caller.organization_id)
        row = Hold.objects.for_organization(caller.organization_id).select_for_update().get(pk=hold.pk)
        if row.lifted_at:
            raise HoldLifted
        row.lifted_by, row.lifted_at, row.lifted_because = str(caller.actor), timezone.now(), because
        row.save(update_fields=["lifted_by", "lifted_at", "lifted_because"])
        _record("hold.lifted", row, caller)
    return row


def forget_lifted(organization_id: uuid.UUID, before: datetime) -> int:
    """Empty the texts of holds that were lifted before a moment: they may name persons, and serve no purpose now."""
    lifted = Hold.objects.for_organization(organization_id).filter(lifted_at__lt=before).exclude(matter="")
    of_filters = lifted.filter(filter__isnull=False).update(**_NO_TEXTS, filter={})
    return of_filters + lifted.update(**_NO_TEXTS)


def _record(verb: str, hold: Hold, caller: Caller, **detail: Any) -> None:
    """Append an audit event that names the hold by its number: matter, reason and filter may name persons."""
    audit.record(
        verb,
        actor=caller.actor,
        organization_id=hold.organization_id,
        object_kind="hold",
        object_id=hold.number,
        **detail,
    )
