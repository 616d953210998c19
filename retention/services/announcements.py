"""Mail to owners: of a policy that shortens, a week before the daily run begins under it, and of a run that asks."""

from collections.abc import Iterable

from django.db.models import Exists, OuterRef
from django.utils import timezone

from accounts import mail, selectors
from accounts.models import Member
from accounts.roles import Permission
from config import leases
from retention import rules
from retention.models import Announcement, Policy, Run


def send_announcements() -> int:
    """Mail what owners have to know. Returns how many mails went out."""
    for policy in _untold_policies():
        _note(Announcement(policy=policy, member=member) for member in _owners(policy))
    for run in _untold_runs():
        _note(Announcement(run=run, member=member) for member in _owners(run))
    return mail.deliver(Announcement.objects.unscoped("the clock's sweep serves every organization"), _send)


def _untold_policies() -> Iterable[Policy]:
    """As long as nobody was told: whoever has become an owner since is told too."""
    policies = Policy.objects.unscoped("the clock's sweep serves every organization")
    later = policies.filter(organization=OuterRef("organization"), number__gt=OuterRef("number"))
    return policies.filter(shortens=True, announced_at=None).exclude(Exists(later))


def _untold_runs() -> Iterable[Run]:
    told = Announcement.objects.unscoped("of each run").filter(run=OuterRef("pk"))
    asking = Run.objects.unscoped("the clock's sweep serves every organization").filter(state=Run.State.ASKS)
    return asking.exclude(Exists(told))


def _owners(of: Policy | Run) -> Iterable[Member]:
    return selectors.members_who_may(of.organization_id, Permission.MANAGE_RETENTION)


def _note(rows: Iterable[Announcement]) -> None:
    Announcement.objects.bulk_create(rows, ignore_conflicts=True)


def _send(row: Announcement) -> mail.Outcome:
    if not selectors.may(row.member, Permission.MANAGE_RETENTION):
        return mail.NOT_SENT
    return _tell_of_run(row, row.run) if row.run else _tell_of_policy(row)


def _tell_of_policy(row: Announcement) -> mail.Outcome:
    organization = row.member.organization
    policy = rules.newest(organization.pk)
    if policy is None or policy.pk != row.policy_id:
        return mail.NOT_SENT
    now = timezone.now()
    ends = {"announced_at": now, "begins_at": now + rules.NOTICE}
    leases.renew(row, lasts=mail.LEASE)
    mail.send(
        "retention_policy",
        to=row.member.user.email,
        subject=f"{' '.join(organization.name.split())} will keep records for {policy.days} days",
        context={
            "organization": organization.name,
            "policy": policy,
            "in_force": rules.policy_in_force(organization.pk, daily=True),
            "begins_at": policy.begins_at or ends["begins_at"],
        },
    )

    def record() -> None:
        untold = Policy.objects.for_organization(organization).filter(pk=policy.pk, announced_at=None)
        untold.update(**ends)

    return mail.Outcome(sent=True, record=record)


def _tell_of_run(row: Announcement, run: Run) -> mail.Outcome:
    if run.state != Run.State.ASKS:
        return mail.NOT_SENT
    leases.renew(row, lasts=mail.LEASE)
    organization = row.member.organization.name
    mail.send(
        "retention_run",
        to=row.member.user.email,
        subject=f"{' '.join(organization.split())}: a disposal waits for you",
        context={"organization": organization, "run": run},
    )
    return mail.Outcome(sent=True)
