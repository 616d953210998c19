"""Reminders by mail of what is late or soon will be: one a day to each member who can do something about it."""

from django.utils import timezone

from accounts import mail, roles
from accounts.models import Member, Organization
from accounts.roles import Permission, Role
from config import leases
from notices import selectors
from notices.models import Reminder

_MOST_NAMED = 50


def remind() -> int:
    """Have today's reminders sent where something is late or at risk. Returns how many were made."""
    today = timezone.now().date()
    able = [role for role in Role if roles.allows(role, Permission.DRAFT_NOTICES)]
    made = 0
    for organization in Organization.objects.all():
        if not selectors.attention(organization.pk).anything:
            continue
        members = Member.objects.filter(organization=organization, role__in=able, user__is_active=True)
        reminded = Reminder.objects.filter(day=today).values("member")
        fresh = [Reminder(member=member, day=today) for member in members.exclude(pk__in=reminded)]
        made += len(Reminder.objects.bulk_create(fresh, ignore_conflicts=True))
    return made


def send_reminders() -> int:
    """Mail today's reminders that wait; those of days on which no mail went out are forgotten. Returns how many."""
    return mail.deliver(Reminder.objects.filter(day=timezone.now().date()), _send)


def _send(row: Reminder) -> mail.Outcome:
    organization = row.member.organization
    found = selectors.attention(organization.pk)
    if not found.anything:
        return mail.NOT_SENT
    leases.renew(row, lasts=mail.LEASE)
    mail.send(
        "reminder",
        to=row.member.user.email,
        subject=f"Notices of {' '.join(organization.name.split())} that are due",
        context={
            "organization": organization.name,
            "groups": [
                ("Late", found.overdue.order_by("due_at")[:_MOST_NAMED]),
                ("Due soon", found.at_risk.order_by("due_at")[:_MOST_NAMED]),
            ],
            "requests": found.requests.order_by("due_at")[:_MOST_NAMED],
        },
    )
    return mail.Outcome(sent=True)
