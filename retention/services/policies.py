"""Changes of the retention policy. They dispose of nothing: runs do that, later."""

from django.db import transaction
from django.utils import timezone

from accounts import audit
from accounts.authority import requires
from accounts.callers import Caller
from accounts.roles import Permission
from config.celery import wake
from retention import rules
from retention.models import USUAL_SHARE, Policy, Run


@requires(Permission.MANAGE_RETENTION)
def set_policy(*, caller: Caller, days: int, note: str, share_percent: int | None = None) -> Policy:
    """Make a version of the policy. If it shortens the period, owners get a mail.

    Args:
        share_percent: by default, the current version's.

    Returns:
        The new version, or the current version if it is equal.
    """
    organization_id = caller.organization_id
    with transaction.atomic():
        rules.lock(organization_id)
        current, in_force = rules.newest(organization_id), rules.policy_in_force(organization_id, daily=True)
        share = share_percent or (current.share_percent if current else USUAL_SHARE)
        if current and (current.days, current.note, current.share_percent) == (days, note, share):
            return current
        now = timezone.now()
        shortens = in_force is None or days < in_force.days
        made = Policy.objects.create(
            organization_id=organization_id,
            number=current.number + 1 if current else 1,
            days=days,
            note=note,
            share_percent=share,
            created_by=str(caller.actor),
            created_at=now,
            shortens=shortens,
            begins_at=None if shortens else now,
        )
        # A run asks for the number that the former version would dispose of.
        asking = Run.objects.for_organization(organization_id).filter(state=Run.State.ASKS)
        asking.update(state=Run.State.STOPPED, finished_at=now)
        audit.record(
            "retention.set",
            actor=caller.actor,
            organization_id=organization_id,
            object_kind="retention_policy",
            object_id=made.number,
            days=days,
            share_percent=share,
            shortens=shortens,
        )
        wake("retention.tasks.send_announcements")
    return made
