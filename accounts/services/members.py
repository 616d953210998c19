"""Memberships: how one begins, gets another role, and ends."""

import uuid

from django.contrib.auth.hashers import make_password
from django.db import transaction

from accounts import audit
from accounts.audit import Actor
from accounts.authority import requires
from accounts.callers import Caller
from accounts.models import ApiKey, Member, SignedInSession, User
from accounts.roles import Permission, Role, permissions
from accounts.services import keys, sessions
from config import db
from config.errors import DomainError, NotAllowed, NotFound


class RoleOutOfReach(NotAllowed):
    """Only an owner makes and unmakes owners, and only an owner replaces or withdraws such an offer."""

    code = "role_out_of_reach"
    sentence = "Only an owner may make, change, invite or remove an owner."


class MemberGone(NotFound):
    """Somebody else removed the member meanwhile."""

    code = "member_gone"
    sentence = "Somebody else removed this member meanwhile."


class LastOwner(DomainError):
    """An organization keeps at least one owner."""

    code = "last_owner"
    sentence = "An organization keeps at least one owner. Make somebody else an owner first."


@requires(Permission.MANAGE_MEMBERS)
def add_member(*, caller: Caller, email: str, role: Role) -> Member:
    """Give a person a role; someone who is a member already keeps theirs.

    Raises:
        RoleOutOfReach
    """
    if role is Role.OWNER and caller.role is not Role.OWNER:
        raise RoleOutOfReach
    return join(organization_id=caller.organization_id, email=email, role=role, actor=caller.actor)


def join(*, organization_id: uuid.UUID, email: str, role: Role, actor: Actor) -> Member:
    """What makes somebody a member, once it is settled that they may be one; others call `add_member`."""
    with transaction.atomic():
        user, _ = User.objects.get_or_create(email=email.lower(), defaults={"password": make_password(None)})
        members = Member.objects.for_organization(organization_id)
        member, added = members.get_or_create(organization_id=organization_id, user=user, defaults={"role": role})
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
def change_role(*, caller: Caller, member: Member, role: Role, keep_keys: bool = False) -> tuple[Member, list[ApiKey]]:
    """Give a member another role. It counts from their next request.

    Args:
        keep_keys: whether the keys they made go on working though they lose permissions. They keep the role they have.

    Returns:
        The member, and the keys they had made if they lose permissions.

    Raises:
        RoleOutOfReach, LastOwner, MemberGone
    """
    with transaction.atomic():
        member = _locked(caller, member, becomes=role)
        made: list[ApiKey] = []
        if member.role != role:
            before, member.role = Role(member.role), role
            member.save(update_fields=["role"])
            if permissions(before) - permissions(role):
                made = _keys(caller, member, keep_keys)
            _audit("member.role_changed", caller, member, before=before, after=role, **_kept(made))
    return member, made


@requires(Permission.MANAGE_MEMBERS)
def remove_member(*, caller: Caller, member: Member, keep_keys: bool = False) -> tuple[Member, list[ApiKey]]:
    """End a membership and the sessions of the person, who may hold others elsewhere and signs in again for those.

    Args, returns and raises as `change_role`.
    """
    with transaction.atomic():
        member = _locked(caller, member, becomes=None)
        for session in SignedInSession.objects.filter(user=member.user_id):
            sessions.end(session=session, because="membership ended")
        made = _keys(caller, member, keep_keys)
        _audit("member.removed", caller, member, before=member.role, **_kept(made))
        Member.objects.for_organization(caller.organization_id).filter(pk=member.pk).delete()
    return member, made


def _keys(caller: Caller, member: Member, keep: bool) -> list[ApiKey]:
    return keys.working_keys(member) if keep else keys.revoke_keys_of(caller=caller, member=member)


def _kept(made: list[ApiKey]) -> dict[str, list[str]]:
    """The keys that outlive this, for the audit trail; of the revoked ones it has an event each."""
    kept = [key.key_id for key in made if not key.revoked_at]
    return {"kept_keys": kept} if kept else {}


def _locked(caller: Caller, member: Member, *, becomes: Role | None) -> Member:
    """The member's row, locked with all owners of the organization, so that two changes cannot unmake the last two."""
    members = Member.objects.for_organization(caller.organization_id)
    owners = list(members.select_for_update().filter(role=Role.OWNER).values_list("pk", flat=True))
    found = db.only(members.select_for_update(of=("self",)).select_related("user").filter(pk=member.pk))
    if found is None:
        raise MemberGone
    if Role.OWNER in (found.role, becomes) and caller.role is not Role.OWNER:
        raise RoleOutOfReach
    if owners == [found.pk] and becomes is not Role.OWNER:
        raise LastOwner
    return found


def _audit(verb: str, caller: Caller, member: Member, **detail: str | list[str]) -> None:
    audit.record(
        verb,
        actor=caller.actor,
        organization_id=member.organization_id,
        object_kind="member",
        object_id=member.pk,
        **detail,
    )
