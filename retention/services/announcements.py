"""Mail to owners about a shorter policy, a week before the daily run begins under it, and about a run that asks."""

from collections.abc import Iterable

from django.db.models import Exists, OuterRef
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts import mail, selectors
from accounts.models import Member
from accounts.roles import Permission
from config import leases
from retention import rules
from retention.models import Announcement, Policy, Run


def send_announcements() -> int:
    """Mail owners about shorter policies and waiting runs. Return how many mails went out."""
    for policy in _unannounced_policies():
        _queue(Announcement(policy=policy, member=member) for member in _owners(policy))
    for run in _unannounced_runs():
        _queue(Announcement(run=run, member=member) for member in _owners(run))
    return mail.deliver(Announcement.objects.unscoped("the clock's sweep serves every organization"), _send)


def _unannounced_policies() -> Iterable[Policy]:
    """Return the current shorter policies that no owner got a mail about yet. New owners get one, too."""
    policies = Policy.objects.unscoped("the clock's sweep serves every organization")
    later = policies.filter(organization=OuterRef("organization"), number__gt=OuterRef("number"))
    return policies.filter(shortens=True, announced_at=None).exclude(Exists(later))


def _unannounced_runs() -> Iterable[Run]:
    announcements = Announcement.objects.unscoped("of each run").filter(run=OuterRef("pk"))
    asking = Run.objects.unscoped("the clock's sweep serves every organization").filter(state=Run.State.ASKS)
    return asking.exclude(Exists(announcements))


def _owners(row: Policy | Run) -> Iterable[Member]:
    return selectors.members_who_may(row.organization_id, Permission.MANAGE_RETENTION)


def _queue(rows: Iterable[Announcement]) -> None:
    Announcement.objects.bulk_create(rows, ignore_conflicts=True)


def _send(row: Announcement) -> mail.Outcome:
    if not selectors.may(row.member, Permission.MANAGE_RETENTION):
        return mail.NOT_SENT
    return _announce_run(row, row.run) if row.run else _announce_policy(row)


def _announce_policy(row: Announcement) -> mail.Outcome:
    organization = row.member.organization
    policy = rules.newest(organization.pk)
    if policy is None or policy.pk != row.policy_id:
        return mail.NOT_SENT
    now = timezone.now()
    times = {"announced_at": now, "begins_at": now + rules.NOTICE}
    leases.renew(row, lasts=mail.LEASE)
    mail.send(
        "retention_policy",
        to=row.member.user.email,
        subject=_("%(organization)s will keep records for %(days)s days")
        % {"organization": " ".join(organization.name.split()), "days": policy.days},
        context={
            "organization": organization.name,
            "policy": policy,
            "in_force": rules.policy_in_force(organization.pk, daily=True),
            "begins_at": policy.begins_at or times["begins_at"],
        },
    )

    def record() -> None:
        unannounced = Policy.objects.for_organization(organization).filter(pk=policy.pk, announced_at=None)
        unannounced.update(**times)

    return mail.Outcome(sent=True, record=record)


def _announce_run(row: Announcement, run: Run) -> mail.Outcome:
    if run.state != Run.State.ASKS:
        return mail.NOT_SENT
    leases.renew(row, lasts=mail.LEASE)
    organization = row.member.organization.name
    mail.send(
        "retention_run",
        to=row.member.user.email,
        subject=_("%(organization)s: a disposal waits for you") % {"organization": " ".join(organization.split())},
        context={"organization": organization, "run": run},
    )
    return mail.Outcome(sent=True)
