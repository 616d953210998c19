"""Mail to owners that custody is damaged: at most one a day."""

import uuid
from datetime import timedelta

from django.utils import timezone

from accounts import mail, selectors
from accounts.roles import Permission
from config import leases
from config.celery import wake
from custody.inspection_models import Damage, DamageAlert

_BECAUSE = "the clock's sweep serves every organization"
_PAUSE = timedelta(days=1)


def alert_owners(organization_id: uuid.UUID | None) -> None:
    """Queue mail to the members who manage the organization's storage, at most once a day. Damage of the installation
    itself goes to the log and `/readyz`, which its operator reads."""
    if organization_id is None:
        return
    alerts = DamageAlert.objects.for_organization(organization_id)
    if alerts.filter(created_at__gt=timezone.now() - _PAUSE).exists():
        return
    members = selectors.members_who_may(organization_id, Permission.MANAGE_STORAGE)
    DamageAlert.objects.bulk_create(DamageAlert(organization_id=organization_id, member=member) for member in members)
    wake("custody.tasks.send_damage_alerts")


def send_damage_alerts() -> int:
    """Mail the waiting alerts. Returns how many were sent."""
    return mail.deliver(DamageAlert.objects.unscoped(_BECAUSE).select_related("organization"), _send)


def _send(row: DamageAlert) -> mail.Outcome:
    damaged = Damage.objects.for_organization(row.organization_id).order_by("kind", "name")
    if not (damaged.exists() and selectors.may(row.member, Permission.MANAGE_STORAGE)):
        return mail.NOT_SENT
    leases.renew(row, lasts=mail.LEASE)
    mail.send(
        "damage",
        to=row.member.user.email,
        subject=f"Records of {' '.join(row.organization.name.split())} are damaged",
        context={"organization": row.organization.name, "count": damaged.count(), "damaged": list(damaged[:20])},
    )
    return mail.Outcome(sent=True)
