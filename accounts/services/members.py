"""Members after they joined: another role, or leaving."""

from django.db import transaction

from accounts import audit
from accounts.callers import Caller
from accounts.models import ApiKey, Member, SignedInSession
from accounts.roles import Role, permissions
from accounts.services import keys, sessions
from accounts.services.invites import RoleOutOfReach
from accounts.services.refusals import Refused


class MemberGone(Refused):
    """Somebody else removed the member meanwhile."""

    status = 404
    sentence = "Somebody else removed this member meanwhile."


class LastOwner(Refused):
    """An organization keeps at least one owner."""

    sentence = "An organization keeps at least one owner. Make somebody else an owner first."


def change_role(*, caller: Caller, member: Member, role: Role, keep_keys: bool = False) -> tuple[Member, list[ApiKey]]:
    """Give a member another role. It counts from their next request.

    Args:
        keep_keys: whether the keys they made go on working though they lose permissions. They keep the role they have.

    Returns:
        The member, and the keys they had made if they lose permissions.

    Raises:
        RoleOutOfReach: only an owner makes or unmakes owners.
        LastOwner, MemberGone
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
        Member.objects.filter(pk=member.pk).delete()
    return member, made


def _keys(caller: Caller, member: Member, keep: bool) -> list[ApiKey]:
    return keys.working_keys(member) if keep else keys.revoke_keys_of(caller=caller, member=member)


def _kept(made: list[ApiKey]) -> dict[str, list[str]]:
    """The keys that outlive this, for the audit trail; of the revoked ones it has an event each."""
    kept = [key.key_id for key in made if not key.revoked_at]
    return {"kept_keys": kept} if kept else {}


def _locked(caller: Caller, member: Member, *, becomes: Role | None) -> Member:
    """The member's row, locked with all owners of the organization, so that two changes cannot unmake the last two."""
    owners = list(
        Member.objects.select_for_update()
        .filter(organization_id=caller.organization_id, role=Role.OWNER)
        .values_list("pk", flat=True)
    )
    rows = Member.objects.select_for_update(of=("self",)).select_related("user")
    found = rows.filter(pk=member.pk, organization_id=caller.organization_id).first()
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
