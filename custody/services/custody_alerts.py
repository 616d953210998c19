"""Mail to the members who can act when a key or a storage fails, or when records are damaged."""

import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any, NamedTuple, TypeVar, cast

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts import mail, selectors
from accounts.models import Organization
from accounts.roles import Permission
from config import leases
from config.celery import wake
from config.leases import Leased
from custody.inspection_models import Damage, DamageAlert
from custody.models import KeyAlert, KeyOutage, StorageAlert, StorageOutage

_BECAUSE = "the clock's sweep serves every organization"
_LASTING = timedelta(minutes=5)
"""Shorter outages of a key need no action."""
_PAUSE = timedelta(days=1)
"""Time between two mails about damage."""

_TASKS: dict[type[Leased], str] = {
    KeyAlert: "custody.tasks.send_key_alerts",
    StorageAlert: "custody.tasks.send_storage_alerts",
    DamageAlert: "custody.tasks.send_damage_alerts",
}

Alert = TypeVar("Alert", KeyAlert, StorageAlert, DamageAlert)


class _Message(NamedTuple):
    template: str
    subject: str
    context: dict[str, Any]


def note_key_outages() -> int:
    """Queue mail about lasting outages of keys. Return how many outages were new."""
    outages = KeyOutage.objects.unscoped(_BECAUSE).select_related("key")
    new = list(outages.filter(since__lte=timezone.now() - _LASTING, alerts=None))
    for outage in new:
        with transaction.atomic():
            _queue(KeyAlert, Permission.ROTATE_KEYS, outage.key.organization_id, outage=outage)
    return len(new)


def queue_storage_alerts(outage: StorageOutage, organization_id: uuid.UUID) -> None:
    """Queue mail about a new outage of an organization's storage. Call it inside a transaction."""
    _queue(StorageAlert, Permission.MANAGE_STORAGE, organization_id, outage=outage)


def queue_damage_alerts(organization_id: uuid.UUID | None) -> None:
    """Queue mail about damaged records, at most once a day. Damage of the installation itself goes to the log and
    `/readyz`, which its operator reads."""
    if organization_id is None:
        return
    alerts = DamageAlert.objects.for_organization(organization_id)
    if not alerts.filter(created_at__gt=timezone.now() - _PAUSE).exists():
        _queue(DamageAlert, Permission.MANAGE_STORAGE, organization_id, organization_id=organization_id)


def send_key_alerts() -> int:
    """Mail the waiting alerts about keys. Return how many were sent."""
    return _deliver(KeyAlert.objects.unscoped(_BECAUSE), Permission.ROTATE_KEYS, _about_key)


def send_storage_alerts() -> int:
    """Mail the waiting alerts about storage. Return how many were sent."""
    return _deliver(StorageAlert.objects.unscoped(_BECAUSE), Permission.MANAGE_STORAGE, _about_storage)


def send_damage_alerts() -> int:
    """Mail the waiting alerts about damage. Return how many were sent."""
    waiting = DamageAlert.objects.unscoped(_BECAUSE).select_related("organization")
    return _deliver(waiting, Permission.MANAGE_STORAGE, _about_damage)


def _queue(model: type[Alert], permission: Permission, owner_id: uuid.UUID, **cause: Any) -> None:
    """Create an alert for each member of the organization `owner_id` with the permission, and wake a worker."""
    members = selectors.members_who_may(owner_id, permission)
    model._base_manager.bulk_create([model(member=member, **cause) for member in members], ignore_conflicts=True)
    wake(_TASKS[model])


def _deliver(
    waiting: QuerySet[Alert], permission: Permission, message_about: Callable[[Alert], _Message | None]
) -> int:
    """Mail alerts to members who still have the permission.

    Args:
        message_about: returns None if the alert's cause is over.
    """

    def send(alert: Alert) -> mail.Outcome:
        message = message_about(alert)
        if message is None or not selectors.may(alert.member, permission):
            return mail.NOT_SENT
        leases.renew(alert, lasts=mail.LEASE)
        mail.send(message.template, to=alert.member.user.email, subject=message.subject, context=message.context)
        return mail.Outcome(sent=True)

    return mail.deliver(waiting, send)


def _about_key(alert: KeyAlert) -> _Message:
    key = alert.outage.key
    organization = key.organization.name
    context = {"key": key, "outage": alert.outage, "organization": organization}
    values = {"purpose": key.purpose, "organization": _line(organization)}
    return _Message("key_outage", _("The %(purpose)s key of %(organization)s cannot be used") % values, context)


def _about_storage(alert: StorageAlert) -> _Message | None:
    outages = StorageOutage.objects.unscoped("the alert's own").select_related("target__organization")
    outage = outages.get(pk=alert.outage_id)
    if outage.ended_at or outage.target.retired_at:
        return None
    organization = cast(Organization, outage.target.organization).name
    context = {
        "organization": organization,
        "storage": outage.target.get_provider_display(),
        "since": outage.began_at,
        "reason": outage.reason,
    }
    subject = _("The storage of %(organization)s does not take records") % {"organization": _line(organization)}
    return _Message("storage_outage", subject, context)


def _about_damage(alert: DamageAlert) -> _Message | None:
    damaged = Damage.objects.for_organization(alert.organization_id).order_by("kind", "name")
    if not (count := damaged.count()):
        return None
    organization = alert.organization.name
    context = {"organization": organization, "count": count, "damaged": list(damaged[:20])}
    subject = _("Records of %(organization)s are damaged") % {"organization": _line(organization)}
    return _Message("damage", subject, context)


def _line(name: str) -> str:
    """Return a name without line breaks, which a mail's header cannot contain."""
    return " ".join(name.split())
