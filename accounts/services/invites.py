"""Invitations, which make a person a member."""

import secrets
from datetime import timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts import audit, mail, token_hashing
from accounts.authority import requires
from accounts.callers import Caller
from accounts.models import Invite, Member, Organization
from accounts.roles import Permission, Role
from accounts.services import codes, lineage
from accounts.services.members import join, require_reach
from config import db, leases
from config.celery import wake
from config.errors import DomainError, NotFound

PURPOSE = "accounts.Invite"
LIFETIME = timedelta(days=7)


class AlreadyMember(DomainError):
    """The address belongs to a member of this organization."""

    code = "already_member"
    sentence = "This address belongs to a member of your organization already."


class InviteGone(NotFound):
    """The invitation was used, revoked or replaced, is too old, or never existed."""

    code = "invite_gone"
    sentence = "This invitation is not open. Ask the person who invited you for a new one."


@requires(Permission.MANAGE_MEMBERS)
def invite(*, caller: Caller, email: str, role: Role) -> Invite:
    """Offer membership to an address. Replaces an open offer to the same address.

    The offer expires no later than the key that makes it.

    Raises:
        RoleOutOfReach, AlreadyMember, MayNoLonger
    """
    email = email.lower()
    require_reach(caller, role)
    if Member.objects.for_organization(caller.organization_id).filter(user__email=email).exists():
        raise AlreadyMember
    now = timezone.now()
    with transaction.atomic():
        maker = lineage.maker(caller)
        # One at a time in an organization: there may be no row of an open offer to lock. The lock is weak because an
        # acceptance refers to the organization while it holds the offer that this one replaces.
        Organization.objects.select_for_update(no_key=True).get(pk=caller.organization_id)
        offers = Invite.objects.for_organization(caller.organization_id)
        opened = offers.filter(email=email, accepted_at=None, revoked_at=None)
        require_reach(caller, *opened.values_list("role", flat=True))
        replaced = opened.update(revoked_at=now)
        made = Invite.objects.create(
            organization_id=caller.organization_id,
            email=email,
            role=role,
            created_by=str(caller.actor),
            maker=maker.email,
            making_key=maker.key,
            expires_at=min(now + LIFETIME, maker.expires_at or now + LIFETIME),
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


@requires(Permission.MANAGE_MEMBERS)
def revoke_invite(*, caller: Caller, invite: Invite) -> Invite:
    """Withdraw an offer. Leaves a closed offer unchanged.

    Raises:
        RoleOutOfReach
    """
    require_reach(caller, invite.role)
    lineage.end(caller=caller, invites=[invite])
    return invite


def open_invite(token: str) -> Invite:
    """Return the open offer of a mailed link. Raises InviteGone."""
    identifier, _, secret = token.partition("-")
    offer = None
    if identifier.isascii() and identifier.isdigit() and len(identifier) < 19:
        offers = Invite.objects.unscoped("the person with the link is not a member of any organization yet")
        offer = db.only(offers.select_related("organization").filter(pk=int(identifier)))
    genuine = token_hashing.matches(PURPOSE, secret, offer.digest if offer and offer.digest else token_hashing.ABSENT)
    if offer is None or not genuine or offer.accepted_at or offer.revoked_at or offer.expires_at <= timezone.now():
        raise InviteGone
    return offer


def request_code(*, token: str, client: str, browser: str) -> Invite:
    """Mail a code to the invited address. In this browser, the code signs in and accepts (see `sign_in`).

    The link alone is not enough: people forward mails, and programs open their links.

    Raises:
        InviteGone, TooManyRequests
    """
    invite = open_invite(token)
    codes.request_code(email=invite.email, intent="invite", client=client, browser=browser, invite=invite)
    return invite


def accept_invite(*, invite: Invite) -> Member:
    """Make the invited person a member, after they gave their code.

    Raises:
        InviteGone
    """
    with transaction.atomic():
        if not _if_open(invite).filter(expires_at__gt=timezone.now()).update(accepted_at=timezone.now()):
            raise InviteGone
        actor = audit.Actor("member", "", invite.email)
        by, role = lineage.Maker(invite.maker, invite.making_key), Role(invite.role)
        member = join(organization_id=invite.organization_id, email=invite.email, role=role, actor=actor, by=by)
        audit.record(
            "invite.accepted",
            actor=actor,
            organization_id=invite.organization_id,
            object_kind="invite",
            object_id=invite.pk,
        )
    return member


def deliver_invites() -> int:
    """Send the waiting invitations. Return how many were sent."""
    waiting = Invite.objects.unscoped("one worker sends the mail of all")
    return mail.deliver(waiting.filter(revoked_at=None, expires_at__gt=timezone.now()), _send)


def _if_open(invite: Invite) -> QuerySet[Invite]:
    """Return the invitation's row, unless it was used or withdrawn."""
    offers = Invite.objects.for_organization(invite.organization_id)
    return offers.filter(pk=invite.pk, accepted_at=None, revoked_at=None)


def _send(row: Invite) -> mail.Outcome:
    secret = secrets.token_hex(32)
    leases.renew(row, lasts=mail.LEASE, digest=token_hashing.digest(PURPOSE, secret))
    mail.send(
        "invite",
        to=row.email,
        subject=_("You are invited to %(organization)s") % {"organization": " ".join(row.organization.name.split())},
        context={"invite": row, "path": f"/invites/{row.pk}-{secret}/"},
    )
    return mail.Outcome(sent=True)
