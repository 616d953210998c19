"""Authority grants: permissions for members to approve notices."""

from collections.abc import Sequence
from datetime import date

from django.db import transaction
from django.utils import timezone

from accounts import audit
from accounts import selectors as accounts
from accounts.authority import requires
from accounts.callers import Caller
from accounts.models import Member
from accounts.roles import Permission
from config.visible_text import is_visible
from notices.errors import ImpossibleTime, MissingAuthority, OwnGrant
from notices.models import AuthorityGrant


@requires(Permission.GRANT_AUTHORITY)
def grant_authority(
    *,
    caller: Caller,
    member: Member,
    authority: str,
    valid_from: date,
    valid_to: date | None = None,
    packs: Sequence[str] = (),
    evidence: str = "",
) -> AuthorityGrant:
    """Give a member authority to approve notices.

    Args:
        packs: ids of the packs it covers; none means all.
        evidence: where the authority is written down.

    Raises:
        ImpossibleTime: the grant ends before it begins.
        MissingAuthority
        OwnGrant: the grant is for the caller, or the key's lineage invited the member or gave them their role.
    """
    if valid_to is not None and valid_to < valid_from:
        raise ImpossibleTime("The grant ends before it begins.")
    if not is_visible(authority):
        raise MissingAuthority
    root = accounts.root_of(caller.actor)
    if root == member.user.email:
        raise OwnGrant
    if caller.actor.kind == "key" and root in accounts.givers_of(member):
        raise OwnGrant(
            "A key grants no authority to a member whom its maker or a key of the same origin invited or gave a role. "
            "Ask a signed-in owner or admin to grant it."
        )
    with transaction.atomic():
        grant = AuthorityGrant.objects.create(
            organization_id=caller.organization_id,
            user_id=member.user_id,
            authority=authority,
            packs=list(packs),
            valid_from=valid_from,
            valid_to=valid_to,
            evidence=evidence,
            granted_by=str(caller.actor),
        )
        _record("authority.granted", grant, caller)
    return grant


@requires(Permission.GRANT_AUTHORITY)
def revoke_grant(*, caller: Caller, grant: AuthorityGrant) -> AuthorityGrant:
    """End a grant now. Approvals made with it stay valid. Revoking again changes nothing."""
    with transaction.atomic():
        now = timezone.now()
        grants = AuthorityGrant.objects.for_organization(caller.organization_id)
        if grants.filter(pk=grant.pk, revoked_at=None).update(revoked_at=now):
            grant.revoked_at = now
            _record("authority.revoked", grant, caller)
    return grant


def _record(verb: str, grant: AuthorityGrant, caller: Caller) -> None:
    audit.record(
        verb,
        actor=caller.actor,
        organization_id=grant.organization_id,
        object_kind="authority_grant",
        object_id=grant.pk,
        member=grant.user_id,
        packs=grant.packs,
    )
