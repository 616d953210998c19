"""Members after they joined: another role, or leaving."""

from django.db import transaction

from accounts import audit
from accounts.callers import Caller
from accounts.models import Member, SignedInSession
from accounts.roles import Role
from accounts.services import sessions
from accounts.services.invites import RoleOutOfReach
from accounts.services.refusals import Refused


class MemberGone(Refused):
    """Somebody else removed the member meanwhile."""

    status = 404
    sentence = "Somebody else removed this member meanwhile."


class LastOwner(Refused):
    """An organization keeps at least one owner."""

    sentence = "An organization keeps at least one owner. Make somebody else an owner first."


def change_role(*, caller: Caller, member: Member, role: Role) -> Member:
    """Give a member another role. It counts from their next request; keys they made keep theirs.

    Raises:
        RoleOutOfReach: only an owner makes or unmakes owners.
        LastOwner, MemberGone
    """
    with transaction.atomic():
        member = _locked(caller, member, becomes=role)
        if member.role != role:
            before, member.role = member.role, role
            member.save(update_fields=["role"])
            _audit("member.role_changed", caller, member, before=before, after=role)
    return member


def remove_member(*, caller: Caller, member: Member) -> Member:
    """End a membership and the sessions of the person, who may hold others elsewhere and signs in again for those.

    Raises: as `change_role`.
    """
    with transaction.atomic():
        member = _locked(caller, member, becomes=None)
        for session in SignedInSession.objects.filter(user=member.user_id):
            sessions.end(session=session, because="membership ended")
        _audit("member.removed", caller, member, before=member.role)
        Member.objects.filter(pk=member.pk).delete()
    return member


def _locked(caller: Caller, member: Member, *, becomes: Role | None) -> Member:
    """The member's row, locked with all owners of the organization, so that two changes cannot unmake the last two."""
    owners = list(
        Member.objects.select_for_update()
        .filter(organization_id=caller.organization_id, role=Role.OWNER)
        .values_list("pk", flat=True)
    )
    found = Member.objects.select_for_update().filter(pk=member.pk, organization_id=caller.organization_id).first()
    if found is None:
        raise MemberGone
    if Role.OWNER in (found.role, becomes) and caller.role is not Role.OWNER:
        raise RoleOutOfReach
    if owners == [found.pk] and becomes is not Role.OWNER:
        raise LastOwner
    return found


def _audit(verb: str, caller: Caller, member: Member, **detail: str) -> None:
    audit.record(
        verb,
        actor=caller.actor,
        organization_id=member.organization_id,
        object_kind="member",
        object_id=member.pk,
        **detail,
    )
