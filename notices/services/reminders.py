"""Reminder mails about late and nearly due notices: one a day to each member who may draft notices."""

from django.utils import timezone
from django.utils.translation import gettext as _

from accounts import mail
from accounts import selectors as accounts
from accounts.models import Organization
from accounts.roles import Permission
from config import leases
from notices import selectors
from notices.models import Reminder

_MAX_NAMED = 50


def remind() -> int:
    """Create today's reminders for organizations with something late or at risk. Return how many were created."""
    today = timezone.now().date()
    count = 0
    for organization in Organization.objects.all():
        if not selectors.attention(organization.pk).anything:
            continue
        members = accounts.members_who_may(organization.pk, Permission.DRAFT_NOTICES)
        reminded = Reminder.objects.for_organization(organization).filter(day=today).values("member")
        reminders = [Reminder(member=member, day=today) for member in members.exclude(pk__in=reminded)]
        count += len(Reminder.objects.bulk_create(reminders, ignore_conflicts=True))
    return count


def send_reminders() -> int:
    """Mail today's waiting reminders, and skip those of earlier days. Return how many went out."""
    reminders = Reminder.objects.unscoped("one worker mails the reminders of every organization")
    return mail.deliver(reminders.filter(day=timezone.now().date()), _send)


def _send(reminder: Reminder) -> mail.Outcome:
    organization = reminder.member.organization
    attention = selectors.attention(organization.pk)
    if not attention.anything:
        return mail.NOT_SENT
    leases.renew(reminder, lasts=mail.LEASE)
    mail.send(
        "reminder",
        to=reminder.member.user.email,
        subject=_("Notices of %(organization)s that are due") % {"organization": " ".join(organization.name.split())},
        context={
            "organization": organization.name,
            "groups": [
                (_("Late"), attention.overdue.order_by("due_at")[:_MAX_NAMED]),
                (_("Due soon"), attention.at_risk.order_by("due_at")[:_MAX_NAMED]),
            ],
            "requests": attention.requests.order_by("due_at")[:_MAX_NAMED],
        },
    )
    return mail.Outcome(sent=True)
