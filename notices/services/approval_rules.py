"""Rules that an approval must pass: the checklist, the authority, and four eyes."""

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

from django.db.models import F
from django.utils import timezone

from accounts import selectors as accounts
from accounts.audit import Actor
from accounts.callers import Caller
from config.unicode_forms import normalize
from config.visible_text import is_visible
from notices import asserted, warnings
from notices.checklist import Case
from notices.errors import NotApprovable, NotGranted, OwnNotice, Unacknowledged, WrongApprover
from notices.letters import recipient as recipients
from notices.models import AuthorityGrant, Contributor, Notice, NoticeRevision, NoticeSettings
from notices.warnings import ApprovalWarning

_MAX_LISTED = 20


class Claim(NamedTuple):
    """An approver with their authority, and how sure both are."""

    approver: str
    authority: str
    basis: str
    grant: AuthorityGrant | None = None


def require_approvable(
    notice: Notice,
    problems: Sequence[str],
    settings: NoticeSettings,
    caller: Caller,
    approver: str,
    authority: str,
    proposals: Sequence[Mapping[str, Any]] = (),
) -> Claim:
    """Return whose approval it is, if every rule but that of the warnings allows it.

    Args:
        problems: of `checklist.problems`.
        settings: of `selectors.settings_of`.
        proposals: entries for the fields that no one has explained, for the refusal.

    Raises:
        NotApprovable, NotGranted, WrongApprover, OwnNotice
    """
    _require_complete(notice, problems, proposals)
    claim = _claim(notice, settings, caller, approver, authority)
    _require_other_eyes(notice, caller, claim.approver, strict=settings.require_other_key)
    return claim


def require_acknowledged(
    case: Case, revision: NoticeRevision, settings: NoticeSettings, acknowledge: Collection[str]
) -> tuple[list[ApprovalWarning], list[ApprovalWarning]]:
    """Return the acknowledged warnings about a revision, and those an advisory pack leaves open.

    Args:
        acknowledge: ids of warnings.

    Raises:
        NotApprovable: there are too many warnings.
        Unacknowledged: names where each warning is, but not its words, which may be private.
    """
    listed = warnings.find(case, revision.content, revision.not_applicable)
    if problems := warnings.problems(case.pack, listed):
        raise NotApprovable(f"The notice cannot be approved yet. {' '.join(problems)}")
    known = frozenset(acknowledge)
    acknowledged = [warning for warning in listed if warning.id in known]
    still_open = [warning for warning in listed if warning.id not in known]
    if still_open and settings.asks_to_acknowledge(case.pack):
        unseen = [f"{warning.id} ({warning.where})" if warning.where else warning.id for warning in still_open]
        more = f" and {len(unseen) - _MAX_LISTED} more" if len(unseen) > _MAX_LISTED else ""
        raise Unacknowledged(
            "Acknowledge each warning before you approve, or fix what it is about. Not acknowledged yet: "
            f"{', '.join(unseen[:_MAX_LISTED])}{more}."
        )
    return acknowledged, still_open


def _require_complete(notice: Notice, problems: Sequence[str], proposals: Sequence[Mapping[str, Any]]) -> None:
    if problem := recipients.length_problem(notice.recipient):
        problems = [*problems, problem]
    if problems:
        raise NotApprovable(f"The notice cannot be approved yet. {' '.join(problems)}", proposals)


def _claim(notice: Notice, settings: NoticeSettings, caller: Caller, approver: str, authority: str) -> Claim:
    """Return a member's own claim, or the claim a key makes."""
    requires_grant = settings.require_grants
    if caller.member_id is None:
        if requires_grant:
            raise NotGranted("Your organization asks for approval by a signed-in member who holds an authority grant.")
        if not (is_visible(approver) and is_visible(authority)):
            raise WrongApprover("A key has to name approver and authority, in letters.")
        return Claim(approver, authority, asserted.basis(caller.actor))
    if approver and _folded(approver) != _folded(caller.actor.label):
        raise WrongApprover("You approve in your own name: leave approver out, or give your own mail address.")
    if authority and not is_visible(authority):
        raise WrongApprover("Say in letters with what authority you approve, or leave it out.")
    grant = _grant(notice, caller.member_id, authority)
    if grant is None and requires_grant:
        wish = f" as {authority!r}" if authority else ""
        raise NotGranted(f"You hold no authority grant{wish} that is valid today for {notice.pack_name}.")
    return Claim(
        caller.actor.label, authority or (grant.authority if grant else caller.role.value), asserted.SIGNED_IN, grant
    )


def _grant(notice: Notice, member_id: int, authority: str) -> AuthorityGrant | None:
    today = timezone.now().date()
    grants = AuthorityGrant.objects.for_organization(notice.organization_id).filter(user__memberships=member_id)
    # A member who left and rejoined does not get old grants back.
    grants = grants.filter(created_at__gte=F("user__memberships__created_at")).order_by("pk")
    return next((grant for grant in grants if _covers(grant, notice, authority, today)), None)


def _covers(grant: AuthorityGrant, notice: Notice, authority: str, today: date) -> bool:
    return (
        grant.revoked_at is None
        and grant.valid_from <= today
        and (grant.valid_to is None or today <= grant.valid_to)
        and (not grant.packs or notice.pack in grant.packs)
        and (not authority or _folded(authority) == _folded(grant.authority))
    )


def _require_other_eyes(notice: Notice, caller: Caller, approver: str, *, strict: bool) -> None:
    """Refuse an approval by a writer. Keys of one lineage count as one key, and as the person they trace back to."""
    writers = [(row, Actor(row.actor_kind, row.actor_id, row.mail)) for row in notice.contributors.all()]
    roots = accounts.roots_of([caller.actor, *(actor for row, actor in writers if not row.mail)])
    root = _folded(roots[caller.actor])
    for contributor, actor in writers:
        is_caller = (actor.kind, actor.id) == (caller.actor.kind, caller.actor.id)
        if is_caller or (root and root == _folded(contributor.mail or roots[actor])):
            if caller.member_id is not None:
                raise OwnNotice(f"{_as_their_own(contributor)}. Ask another person to approve it.")
            if reason := _against_key(contributor, strict=strict):
                raise OwnNotice(reason)
        if contributor.mail and _names(approver, contributor.mail):
            raise OwnNotice("The approver wrote or edited this notice. Ask another person to approve it.")


def _as_their_own(contributor: Contributor) -> str:
    """Say what a member, or a key of theirs, did."""
    if contributor.actor_kind != "member":
        return "A key that you made wrote or edited this notice"
    if contributor.part == Contributor.Part.PHRASE:
        return "You wrote a phrase that this notice uses"
    if contributor.part == Contributor.Part.MAPPING:
        return "You wrote the mapping that this notice uses"
    if contributor.part == Contributor.Part.WAIVER:
        return "You said that an element of this notice does not apply"
    return "You wrote or edited this notice"


def _against_key(contributor: Contributor, *, strict: bool) -> str:
    """Return why a contribution of its lineage keeps a key from approving, or "".

    Unless the organization is strict, a key may approve, as asserted, the words of keys.
    """
    if contributor.part == Contributor.Part.WAIVER:
        return (
            "This key, its maker or another key of the same origin said that an element does not apply. "
            "Ask another person to approve the notice."
        )
    if contributor.actor_kind == "member":
        return "The member who made this key wrote or edited this notice. Ask another person to approve it."
    if strict:
        return "Your organization lets no key approve what it, or another key of the same origin, wrote."
    return ""


def _names(claim: str, address: str) -> bool:
    """Whether a claim contains this mail address, alone or among other words."""
    return re.search(rf"(?<![\w.+-]){re.escape(_folded(address))}(?![\w-]|\.\w)", _folded(claim)) is not None


def _folded(name: str) -> str:
    """Return a name without invisible characters such as U+200B, which would make it another name."""
    visible = "".join(character for character in normalize("NFKC", name) if unicodedata.category(character) != "Cf")
    return visible.strip().casefold()
