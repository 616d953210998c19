"""Legal holds. A hold and a batch of disposals take the same lock, so that a hold wins that is placed during a run."""

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
    """Hold the family of a decision, or all families in which a decision matches a filter: one of both.

    Args:
        filter: values by the names of `rules.FILTERS`, as JSON has them; at least one.

    Raises:
        DecisionNotFound, Disposed: the decision is not there any more.
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
    """Let what it covers be disposed of again, as the policy says and other holds allow. Raises HoldLifted."""
    with transaction.atomic():
        rules.lock(caller.organization_id)
        found = Hold.objects.for_organization(caller.organization_id).select_for_update().get(pk=hold.pk)
        if found.lifted_at:
            raise HoldLifted
        found.lifted_by, found.lifted_at, found.lifted_because = str(caller.actor), timezone.now(), because
        found.save(update_fields=["lifted_by", "lifted_at", "lifted_because"])
        _record("hold.lifted", found, caller)
    return found


def forget_lifted(organization_id: uuid.UUID, before: datetime) -> int:
    """Empty the texts of holds that were lifted before a moment: they can name persons, and hold nothing any more."""
    lifted = Hold.objects.for_organization(organization_id).filter(lifted_at__lt=before).exclude(matter="")
    of_filters = lifted.filter(filter__isnull=False).update(**_NO_TEXTS, filter={})
    return of_filters + lifted.update(**_NO_TEXTS)


def _record(verb: str, hold: Hold, caller: Caller, **detail: Any) -> None:
    """By its number: matter, reason and what a filter looks for can name persons."""
    audit.record(
        verb,
        actor=caller.actor,
        organization_id=hold.organization_id,
        object_kind="hold",
        object_id=hold.number,
        **detail,
    )
