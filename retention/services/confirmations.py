"""Confirmation by an owner of a daily run that would dispose of more than its share."""

from django.db import transaction
from django.utils import timezone

from accounts import audit
from accounts.authority import requires
from accounts.callers import Caller
from accounts.roles import Permission
from config import leases
from retention import rules
from retention.errors import DoesNotAsk
from retention.models import Run


@requires(Permission.DISPOSE)
def confirm_run(*, caller: Caller, run: Run, candidates: int) -> None:
    """Let a run dispose of at most as many families as it asked for. The clock resumes it.

    Args:
        candidates: the number that the owner was shown.

    Raises:
        DoesNotAsk: the run no longer asks, asks for another number, or its policy is no longer in force.
    """
    organization_id = caller.organization_id
    with transaction.atomic():
        rules.lock(organization_id)
        policy = rules.policy_in_force(organization_id, daily=True)
        asking = Run.objects.for_organization(organization_id).filter(pk=run.pk, state=Run.State.ASKS)
        as_shown = asking.filter(candidates=candidates, policy=policy.number) if policy else asking.none()
        confirmed = {"confirmed_by": str(caller.actor), "confirmed_at": timezone.now()}
        if not as_shown.update(state=Run.State.RUNNING, **confirmed, **leases.RELEASED):
            raise DoesNotAsk
        audit.record(
            "retention_run.confirmed",
            actor=caller.actor,
            organization_id=organization_id,
            object_kind="retention_run",
            object_id=run.pk,
            families=candidates,
        )
