"""Who may approve a notice: never who wrote it, and where the organization asks for it only who holds a grant."""

import re
import unicodedata
from datetime import date
from typing import NamedTuple

from django.utils import timezone

from accounts import selectors as accounts
from accounts.callers import Caller
from accounts.models import Member
from notices import selectors
from notices.models import AuthorityGrant, Contributor, Notice
from notices.services.common import Refused


class Claim(NamedTuple):
    """Who approves, by what authority, and how sure that is."""

    approver: str
    authority: str
    basis: str
    grant: AuthorityGrant | None = None


def claim(notice: Notice, caller: Caller, approver: str, authority: str) -> Claim:
    """Whose approval it is: a member's own, or what a key says. Raises Refused."""
    grants_alone = selectors.settings_of(notice.organization_id).require_grants
    if caller.member_id is None:
        if grants_alone:
            raise Refused("Your organization asks for approval by a signed-in member who holds an authority grant.")
        if not (approver.strip() and authority.strip()):
            raise Refused("A key has to name approver and authority.")
        return Claim(approver, authority, f"asserted by {caller.actor.kind} {caller.actor.id}")
    member = Member.objects.select_related("user").get(pk=caller.member_id)
    if approver and _folded(approver) != _folded(member.user.email):
        raise Refused("You approve in your own name: leave approver out, or give your own mail address.")
    grant = _grant(notice, member, authority)
    if grant is None and grants_alone:
        asked = f" as {authority!r}" if authority else ""
        raise Refused(f"You hold no authority grant{asked} that is valid today for the pack {notice.pack}.")
    held = authority or (grant.authority if grant else caller.role.value)
    return Claim(member.user.email, held, "signed in", grant)


def _grant(notice: Notice, member: Member, authority: str) -> AuthorityGrant | None:
    today = timezone.now().date()
    held = AuthorityGrant.objects.filter(organization_id=notice.organization_id, user_id=member.user_id)
    # Whoever left and came back does not bring old authority along.
    held = held.filter(created_at__gte=member.created_at).order_by("pk")
    return next((grant for grant in held if _covers(grant, notice, authority, today)), None)


def _covers(grant: AuthorityGrant, notice: Notice, authority: str, today: date) -> bool:
    return (
        grant.revoked_at is None
        and grant.valid_from <= today
        and (grant.valid_to is None or today <= grant.valid_to)
        and (not grant.packs or notice.pack in grant.packs)
        and (not authority or _folded(authority) == _folded(grant.authority))
    )


def require_other_eyes(notice: Notice, caller: Caller, approver: str) -> None:
    """Four eyes: nobody approves what they wrote, by whatever door they come. Raises Refused."""
    person = accounts.person_behind(caller.actor)
    strict = selectors.settings_of(notice.organization_id).require_other_key
    for each in notice.contributors.all():
        theirs = (each.actor_kind, each.actor_id) == (caller.actor.kind, caller.actor.id)
        if theirs or (person and _folded(person) == _folded(each.mail)):
            if caller.member_id is not None:
                raise Refused(f"{_as_their_own(each)}; somebody else has to approve it.")
            if reason := _against_key(each, strict=strict):
                raise Refused(reason)
        if each.mail and _names(approver, each.mail):
            raise Refused("The approver wrote or edited this notice; somebody else has to approve it.")


def _as_their_own(each: Contributor) -> str:
    """What a member did themselves, or a key of theirs did."""
    if each.actor_kind != "member":
        return "A key that you made wrote or edited this notice"
    if each.part == Contributor.Part.PHRASE:
        return "You wrote a phrase that this notice uses"
    if each.part == Contributor.Part.WAIVER:
        return "You said that an element of this notice does not apply"
    return "You wrote or edited this notice"


def _against_key(each: Contributor, *, strict: bool) -> str:
    """Why a key cannot approve after what it, its maker or another key of theirs did; "" if it can: what keys wrote, a
    key may approve as asserted."""
    if each.part == Contributor.Part.WAIVER:
        return "This key or its maker said that an element does not apply; somebody else has to approve the notice."
    if each.actor_kind == "member":
        return "Whoever made this key wrote or edited this notice; somebody else has to approve it."
    if strict:
        return "Your organization lets no key approve what it, or another key of its maker, wrote."
    return ""


def _names(claim: str, address: str) -> bool:
    """Whether a claim gives this mail address, alone or among other words."""
    return re.search(rf"(?<![\w.+-]){re.escape(_folded(address))}(?![\w-]|\.\w)", _folded(claim)) is not None


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).strip().casefold()
