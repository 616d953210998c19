"""Mail to owners: of a policy that shortens, a week before the daily run begins under it, and of a run that asks."""

from django.db.models import Exists, OuterRef
from django.utils import timezone

from accounts import mail, selectors
from accounts.models import Organization
from accounts.roles import Permission
from config import leases
from retention import rules
from retention.models import Announcement, Policy, Run

_NEEDED = Permission.MANAGE_RETENTION


def send_announcements() -> int:
    """Mail what owners have to know. Returns how many mails went out."""
    _note_policies()
    _note_runs()
    waiting = Announcement.objects.unscoped("the clock's sweep serves every organization")
    return mail.deliver(waiting, _send)


def _note_policies() -> None:
    """Also for owners who came later, as long as no other was told."""
    untold = Policy.objects.unscoped("the clock's sweep serves every organization")
    for policy in untold.filter(shortens=True, announced_at=None).exclude(Exists(_later_versions())):
        able = selectors.members_who_may(policy.organization_id, _NEEDED)
        rows = [Announcement(policy=policy, member=member) for member in able]
        Announcement.objects.bulk_create(rows, ignore_conflicts=True)


def _note_runs() -> None:
    told = Announcement.objects.unscoped("of these runs").filter(run=OuterRef("pk"))
    asking = Run.objects.unscoped("the clock's sweep serves every organization").filter(state=Run.State.ASKS)
    for run in asking.exclude(Exists(told)):
        able = selectors.members_who_may(run.organization_id, Permission.DISPOSE)
        rows = [Announcement(run=run, member=member) for member in able]
        Announcement.objects.bulk_create(rows, ignore_conflicts=True)


def _later_versions():  # type: ignore[no-untyped-def]
    rows = Policy.objects.unscoped("of the same organization")
    return rows.filter(organization=OuterRef("organization"), number__gt=OuterRef("number"))


def _send(row: Announcement) -> mail.Outcome:
    organization: Organization = row.member.organization
    if not selectors.may(row.member, _NEEDED):
        return mail.NOT_SENT
    if row.run_id:
        return _send_about_run(row, organization)
    policy = Policy.objects.for_organization(organization).get(pk=row.policy_id)
    if rules.newest(organization.pk) != policy:
        return mail.NOT_SENT
    leases.renew(row, lasts=mail.LEASE)
    in_force = rules.policy_in_force(organization.pk, daily=True)
    now = timezone.now()
    begins_at = policy.begins_at or now + rules.NOTICE
    mail.send(
        "retention_policy",
        to=row.member.user.email,
        subject=f"{' '.join(organization.name.split())} will keep records for {policy.days} days",
        context={"organization": organization.name, "policy": policy, "in_force": in_force, "begins_at": begins_at},
    )
    untold = Policy.objects.for_organization(organization).filter(pk=policy.pk, announced_at=None)
    return mail.Outcome(sent=True, record=lambda: untold.update(announced_at=now, begins_at=now + rules.NOTICE) and None)
