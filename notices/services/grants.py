"""Authority grants: who may approve which notices, in whose name."""

from collections.abc import Sequence
from datetime import date

from django.db import transaction
from django.utils import timezone

from accounts import audit
from accounts import selectors as accounts
from accounts.callers import Caller
from accounts.models import Member
from notices.models import AuthorityGrant
from notices.services.common import Refused


def grant_authority(
    *,
    member: Member,
    authority: str,
    valid_from: date,
    caller: Caller,
    valid_to: date | None = None,
    packs: Sequence[str] = (),
    evidence: str = "",
) -> AuthorityGrant:
    """Give a member authority to approve notices.

    Args:
        packs: ids of the packs it covers; none means all.
        evidence: where the authority is written down.

    Raises:
        Refused: it ends before it begins, or is for the caller themselves.
    """
    if valid_to is not None and valid_to < valid_from:
        raise Refused("The grant ends before it begins.")
    if accounts.person_behind(caller.actor) == member.user.email:
        raise Refused("Nobody grants authority to themselves; another owner or admin has to.")
    with transaction.atomic():
        made = AuthorityGrant.objects.create(
            organization_id=caller.organization_id,
            user_id=member.user_id,
            authority=authority,
            packs=list(packs),
            valid_from=valid_from,
            valid_to=valid_to,
            evidence=evidence,
            granted_by=str(caller.actor),
        )
        _note("authority.granted", made, caller)
    return made


def revoke_grant(*, grant: AuthorityGrant, caller: Caller) -> AuthorityGrant:
    """End a grant now; approvals made with it stand. Revoking again changes nothing."""
    with transaction.atomic():
        now = timezone.now()
        if AuthorityGrant.objects.filter(pk=grant.pk, revoked_at=None).update(revoked_at=now):
            grant.revoked_at = now
            _note("authority.revoked", grant, caller)
    return grant


def _note(verb: str, grant: AuthorityGrant, caller: Caller) -> None:
    audit.record(
        verb,
        actor=caller.actor,
        organization_id=grant.organization_id,
        object_kind="authority_grant",
        object_id=grant.pk,
        member=grant.user_id,
        packs=grant.packs,
    )
