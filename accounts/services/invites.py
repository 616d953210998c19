"""Invitations: how a person becomes a member."""

import secrets
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from accounts import audit, mail, token_hashing
from accounts.callers import Caller
from accounts.models import Invite, Member, Organization
from accounts.roles import Role
from accounts.services.organizations import add_member
from accounts.services.refusals import Refused
from config import leases
from config.celery import wake

PURPOSE = "accounts.Invite"
LIFETIME = timedelta(days=7)


class RoleOutOfReach(Refused):
    """Only an owner makes owners, and only an owner replaces or withdraws such an offer."""

    status = 403
    sentence = "Only an owner may make, change, invite or remove an owner."


class AlreadyMember(Refused):
    """The address belongs to a member of this organization."""

    sentence = "This address belongs to a member of your organization already."


class InviteGone(Exception):
    """The invitation was used, revoked, replaced or is too old, or there never was one."""


def invite(*, caller: Caller, email: str, role: Role) -> Invite:
    """Offer membership to an address; an open offer to the same address is replaced.

    Raises:
        RoleOutOfReach, AlreadyMember
    """
    email = email.lower()
    if role is Role.OWNER and caller.role is not Role.OWNER:
        raise RoleOutOfReach
    if Member.objects.filter(organization_id=caller.organization_id, user__email=email).exists():
        raise AlreadyMember
    now = timezone.now()
    with transaction.atomic():
        # One at a time in an organization: there may be no open offer yet whose row could be locked.
        Organization.objects.select_for_update().get(pk=caller.organization_id)
        opened = Invite.objects.filter(
            organization_id=caller.organization_id, email=email, accepted_at=None, revoked_at=None
        )
        if caller.role is not Role.OWNER and opened.filter(role=Role.OWNER).exists():
            raise RoleOutOfReach
        replaced = opened.update(revoked_at=now)
        made = Invite.objects.create(
            organization_id=caller.organization_id,
            email=email,
            role=role,
            created_by=str(caller.actor),
            expires_at=now + LIFETIME,
        )
        audit.record(
            "invite.created",
            actor=caller.actor,
            organization_id=caller.organization_id,
            object_kind="invite",
            object_id=made.pk,
            role=role,
            replaced=bool(replaced),
        )
        wake("accounts.tasks.deliver_mail")
    return made


def revoke_invite(*, invite: Invite, caller: Caller) -> Invite:
    """Withdraw an offer. One that is no longer open stays as it is.

    Raises:
        RoleOutOfReach
    """
    if invite.role == Role.OWNER and caller.role is not Role.OWNER:
        raise RoleOutOfReach
    with transaction.atomic():
        now = timezone.now()
        if Invite.objects.filter(pk=invite.pk, accepted_at=None, revoked_at=None).update(revoked_at=now):
            invite.revoked_at = now
            audit.record(
                "invite.revoked",
                actor=caller.actor,
                organization_id=invite.organization_id,
                object_kind="invite",
                object_id=invite.pk,
            )
    return invite


def open_invite(token: str) -> Invite:
    """The offer that a mailed link carries. Raises InviteGone."""
    identifier, _, secret = token.partition("-")
    found = None
    if identifier.isascii() and identifier.isdigit() and len(identifier) < 19:
        found = Invite.objects.select_related("organization").filter(pk=int(identifier)).first()
    genuine = token_hashing.matches(PURPOSE, secret, found.digest if found and found.digest else token_hashing.ABSENT)
    if found is None or not genuine or found.accepted_at or found.revoked_at or found.expires_at <= timezone.now():
        raise InviteGone
    return found


def accept_invite(*, token: str) -> Member:
    """Make the invited address a member. Whoever has the link has the mail, so they may be signed in.

    Raises:
        InviteGone
    """
    invite = open_invite(token)
    with transaction.atomic():
        if not Invite.objects.filter(pk=invite.pk, accepted_at=None, revoked_at=None).update(
            accepted_at=timezone.now()
        ):
            raise InviteGone
        actor = audit.Actor("member", "", invite.email)
        member = add_member(organization=invite.organization, email=invite.email, role=Role(invite.role), actor=actor)
        audit.record(
            "invite.accepted",
            actor=actor,
            organization_id=invite.organization_id,
            object_kind="invite",
            object_id=invite.pk,
        )
    return member


def deliver_invites() -> int:
    """Send the invitations that wait. Returns how many were sent."""
    return mail.deliver(Invite.objects.filter(revoked_at=None, expires_at__gt=timezone.now()), _send)


def _send(row: Invite) -> mail.Outcome:
    secret = secrets.token_hex(32)
    leases.renew(row, lasts=mail.LEASE, digest=token_hashing.digest(PURPOSE, secret))
    mail.send(
        "invite",
        to=row.email,
        subject=" ".join(f"You are invited to {row.organization.name}".split()),  # a name may have line breaks
        context={"invite": row, "path": f"/invites/{row.pk}-{secret}/"},
    )
    return mail.Outcome(sent=True)
