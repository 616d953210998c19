"""Mail to owners about a key that their key management service does not let us use: one mail for each outage."""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from accounts import mail, selectors
from accounts.roles import Permission
from config import leases
from config.celery import wake
from custody.models import KeyAlert, KeyOutage

_LASTING = timedelta(minutes=5)
"""Shorter outages need no action."""


def note_key_outages() -> int:
    """Queue mail about lasting outages to members who may rotate keys. Returns how many outages were new."""
    outages = KeyOutage.objects.unscoped("the clock's sweep serves every organization").select_related("key")
    new = list(outages.filter(since__lte=timezone.now() - _LASTING, alerts=None))
    for outage in new:
        able = selectors.members_who_may(outage.key.organization_id, Permission.ROTATE_KEYS)
        with transaction.atomic():
            rows = [KeyAlert(outage=outage, member=member) for member in able]
            KeyAlert.objects.bulk_create(rows, ignore_conflicts=True)
            wake("custody.tasks.send_key_alerts")
    return len(new)


def send_key_alerts() -> int:
    """Mail the waiting alerts. Returns how many were sent."""
    return mail.deliver(KeyAlert.objects.unscoped("the clock's sweep serves every organization"), _send)


def _send(row: KeyAlert) -> mail.Outcome:
    if not selectors.may(row.member, Permission.ROTATE_KEYS):
        return mail.NOT_SENT
    key = row.outage.key
    leases.renew(row, lasts=mail.LEASE)
    organization = key.organization.name
    mail.send(
        "key_outage",
        to=row.member.user.email,
        subject=f"The {key.purpose} key of {' '.join(organization.split())} cannot be used",
        context={"key": key, "outage": row.outage, "organization": organization},
    )
    return mail.Outcome(sent=True)
