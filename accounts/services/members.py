"""Memberships: adding and removing members, and changing their roles."""

import uuid
from typing import Any

from django.contrib.auth.hashers import make_password
from django.db import transaction

from accounts import audit
from accounts.audit import Actor
from accounts.authority import requires
from accounts.callers import Caller
from accounts.models import Invite, Member, SignedInSession, User
from accounts.roles import Permission, Role, may_give, permissions
from accounts.services import lineage, sessions
from accounts.services.lineage import Made, Maker
from config import db
from config.errors import DomainError, NotAllowed, NotFound


class RoleOutOfReach(NotAllowed):
    """The new role, or the member's, has permissions that the caller's lacks. So only an owner changes owners."""

    code = "role_out_of_reach"
    sentence = "Only an owner may make, change, invite or remove an owner."


class MemberGone(NotFound):
    """Another request removed the member meanwhile."""

    code = "member_gone"
    sentence = "This member was removed meanwhile. Reload the list of members."


class LastOwner(DomainError):
    """The change would leave the organization without an owner."""

    code = "last_owner"
    sentence = "An organization keeps at least one owner. Make another member an owner first."


def require_reach(caller: Caller, *roles: str) -> None:
    """Raise RoleOutOfReach if one of the roles has a permission that the caller's lacks."""
    if not all(may_give(caller.role, Role(role)) for role in roles):
        raise RoleOutOfReach


@requires(Permission.MANAGE_MEMBERS)
def add_member(*, caller: Caller, email: str, role: Role) -> Member:
    """Add a person with a role. An existing member keeps their role.

    Raises:
        RoleOutOfReach, MayNoLonger
    """
    require_reach(caller, role)
    with transaction.atomic():
        by = lineage.maker(caller)
        return join(organization_id=caller.organization_id, email=email, role=role, actor=caller.actor, by=by)


def join(*, organization_id: uuid.UUID, email: str, role: Role, actor: Actor, by: Maker) -> Member:
    """Make a person a member, without a check of permissions. `add_member` checks them.

    Args:
        by: the maker of the role.
    """
    with transaction.atomic():
        user, _ = User.objects.get_or_create(email=email.lower(), defaults={"password": make_password(None)})
        members = Member.objects.for_organization(organization_id)
        defaults = {"role": role, "maker": by.email, "making_key": by.key}
        member, added = members.get_or_create(organization_id=organization_id, user=user, defaults=defaults)
        if added:
            audit.record(
                "member.added",
                actor=actor,
                organization_id=organization_id,
                object_kind="member",
                object_id=member.pk,
                role=role,
            )
    return member


@requires(Permission.MANAGE_MEMBERS)
def change_role(*, caller: Caller, member: Member, role: Role, keep_keys: bool = False) -> tuple[Member, Made]:
    """Give a member another role. It counts from their next request.

    Args:
        keep_keys: whether their keys go on working, with unchanged roles, if the member loses permissions.

    Returns:
        The member and, if they lose permissions, their lineage: keys, which end unless kept; invitations, which end;
        and the members they gave a role, who stay.

    Raises:
        RoleOutOfReach, LastOwner, MemberGone, MayNoLonger
    """
    with transaction.atomic():
        member = _locked(caller, member, becomes=role)
        made = Made([], [], [])
        if member.role != role:
            before, by = Role(member.role), lineage.maker(caller)
            member.role, member.maker, member.making_key = role, by.email, by.key
            member.save(update_fields=["role", "maker", "making_key"])
            if permissions(before) - permissions(role):
                made = _end_made(caller, member, keep_keys)
            _audit("member.role_changed", caller, member, before=before, after=role, **_detail(made))
    return member, made


@requires(Permission.MANAGE_MEMBERS)
def remove_member(*, caller: Caller, member: Member, keep_keys: bool = False) -> tuple[Member, Made]:
    """End a membership and the person's sessions. For memberships elsewhere, they sign in again.

    Args, returns and raises as `change_role`.
    """
    with transaction.atomic():
        member = _locked(caller, member, becomes=None)
        for session in SignedInSession.objects.filter(user=member.user_id):
            sessions.end(session=session, because="membership ended")
        made = _end_made(caller, member, keep_keys)
        offers = Invite.objects.for_organization(caller.organization_id).filter(email=member.user.email)
        # An older offer to the same address would bring a removed member back.
        lineage.end(caller=caller, invites=offers.filter(accepted_at=None, revoked_at=None), with_member=member.pk)
        _audit("member.removed", caller, member, before=member.role, **_detail(made))
        Member.objects.for_organization(caller.organization_id).filter(pk=member.pk).delete()
    return member, made


def _end_made(caller: Caller, member: Member, keep_keys: bool) -> Made:
    """End a member's keys and invitations. With `keep_keys`, the keys go on, and so do the invitations they made."""
    lineage.lock(member.organization_id, member.user.email)
    made = lineage.of_member(member)
    kept_keys = {key.pk for key in made.keys} if keep_keys else set()
    invites = [invite for invite in made.invites if invite.making_key_id not in kept_keys]
    lineage.end(caller=caller, keys=[] if keep_keys else made.keys, invites=invites, with_member=member.pk)
    members = lineage.of_member(member).members  # again: an invitation may have been accepted meanwhile
    return made._replace(members=[other for other in members if other.pk != member.pk])


def _detail(made: Made) -> dict[str, Any]:
    """Return the audit detail on keys that go on, and on members whose role came from here."""
    kept_keys = [key.key_id for key in made.keys if not key.revoked_at]
    return {**({"kept_keys": kept_keys} if kept_keys else {}), **lineage.member_detail(made.members)}


def _locked(caller: Caller, member: Member, *, becomes: Role | None) -> Member:
    """Lock and return the member's row. Locks all owners, too: two changes must not demote the last two."""
    members = Member.objects.for_organization(caller.organization_id)
    owners = list(members.select_for_update().filter(role=Role.OWNER).values_list("pk", flat=True))
    row = db.only(members.select_for_update(of=("self",)).select_related("user").filter(pk=member.pk))
    if row is None:
        raise MemberGone
    require_reach(caller, row.role, *([becomes] if becomes else []))
    if owners == [row.pk] and becomes is not Role.OWNER:
        raise LastOwner
    return row


def _audit(verb: str, caller: Caller, member: Member, **detail: Any) -> None:
    audit.record(
        verb,
        actor=caller.actor,
        organization_id=member.organization_id,
        object_kind="member",
        object_id=member.pk,
        **detail,
    )
