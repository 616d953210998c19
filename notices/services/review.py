"""What is decided about a notice: sent to review, sent back, approved, withdrawn."""

from django.db import transaction

from accounts.audit import Actor
from accounts.callers import Caller
from notices import checklist, selectors
from notices.letters import recipient as recipients
from notices.models import Approval, Notice, NoticeRevision, Step
from notices.record_paths import Facts
from notices.services import authority as authority_rules
from notices.services.common import Refused, note, require_seen
from notices.services.sealing import seal_approved

State = Notice.State


def submit(*, notice: Notice, caller: Caller) -> Notice:
    """Ask for the review of a draft. Raises Refused if it is none."""
    with transaction.atomic():
        locked = _locked(notice)
        if locked.state != State.DRAFT:
            raise Refused(locked.standing)
        return _step(locked, Step.Kind.SUBMITTED, State.IN_REVIEW, "", caller.actor)


def hold(*, notice: Notice, caller: Caller, take: bool = True) -> None:
    """Say that one works on a notice, so that nobody else begins with it.

    Args:
        take: False to let go of it. Somebody else's hold stays as it is then.

    Raises:
        Refused: a key holds nothing, and nobody holds what is finished.
    """
    if caller.member_id is None:
        raise Refused("Only a member can hold a notice.")
    with transaction.atomic():
        locked = _locked(notice)
        if locked.state not in Notice.EDITABLE:
            raise Refused(locked.standing)
        if take == (locked.holder_id == caller.member_id):
            return
        Notice.objects.filter(pk=locked.pk).update(holder_id=caller.member_id if take else None)
        note("notice.held" if take else "notice.released", locked, caller.actor)


def request_changes(*, notice: Notice, reason: str, caller: Caller, revision: int | None = None) -> Notice:
    """Send a notice in review back to whoever wrote it.

    Args:
        revision: the one that was looked at; the current one if not given.

    Raises:
        Refused: no reason is given, the notice is not in review, or it has changed.
    """
    if not reason.strip():
        raise Refused("Say what has to be changed.")
    with transaction.atomic():
        locked = _locked(notice)
        _require_current(locked, revision)
        if locked.state != State.IN_REVIEW:
            raise Refused(locked.standing)
        return _step(locked, Step.Kind.CHANGES_REQUESTED, State.DRAFT, reason, caller.actor)


def withdraw(*, notice: Notice, caller: Caller, reason: str = "") -> Notice:
    """Take a notice back, whatever its state. Withdrawing again changes nothing."""
    with transaction.atomic():
        locked = _locked(notice)
        if locked.state == State.WITHDRAWN:
            return locked
        return _step(locked, Step.Kind.WITHDRAWN, State.WITHDRAWN, reason, caller.actor)


def approve(
    *,
    notice: Notice,
    caller: Caller,
    revision: int | None = None,
    approver: str = "",
    authority: str = "",
    comment: str = "",
) -> Approval:
    """Approve one revision. The only way to do so, for people and machines, for one notice and for many.

    Args:
        revision: the one that was looked at. Without it the current one is approved, marked as words not named.
        approver, authority: who approves and by what authority. From a key they are claims, recorded as such; a
            member's default to their own.

    Raises:
        Refused: with the reason.
        Fault: the record cannot be read.
    """
    facts = selectors.facts_of(notice.decision)
    with transaction.atomic():
        locked = _locked(notice)
        current = _require_current(locked, revision)
        claim = _approvable(locked, current, facts, caller, approver, authority)
        approval = Approval.objects.create(
            notice=locked,
            revision=current,
            comment=comment,
            words_named=revision is not None,
            sender=selectors.contact_of(locked.organization_id),
            actor_kind=caller.actor.kind,
            actor_id=caller.actor.id,
            **claim._asdict(),
        )
        Notice.objects.filter(pk=locked.pk).update(state=State.APPROVED, holder=None)
        named = approval.words_named
        note("notice.approved", locked, caller.actor, revision=current.number, basis=claim.basis, words_named=named)
        _take_the_place_of(locked, caller.actor)
    seal_approved(notice_id=locked.pk)  # what this cannot seal, beat does: the approval stands
    return approval


def reason_against_approval(*, notice: Notice, facts: Facts, caller: Caller) -> str:
    """Why a member could not approve a notice now, for a button that says so; "" if they could."""
    try:
        _approvable(notice, _require_current(notice, None), facts, caller, "", "")
    except Refused as refusal:
        return str(refusal)
    return ""


def _locked(notice: Notice) -> Notice:
    return Notice.objects.select_for_update().get(pk=notice.pk)


def _step(locked: Notice, kind: Step.Kind, state: Notice.State, reason: str, actor: Actor) -> Notice:
    current = selectors.current_revision(locked)
    Step.objects.create(notice=locked, revision=current, kind=kind, reason=reason, actor_label=actor.label)
    Notice.objects.filter(pk=locked.pk).update(state=state, holder=None)
    locked.state = state
    note(f"notice.{kind.value}", locked, actor, revision=current.number)
    return locked


def _take_the_place_of(successor: Notice, actor: Actor) -> None:
    """An approved new version withdraws the notice it replaces."""
    if successor.supersedes_id:
        replaced = Notice.objects.select_for_update().get(pk=successor.supersedes_id)
        if replaced.state != State.WITHDRAWN:
            _step(replaced, Step.Kind.WITHDRAWN, State.WITHDRAWN, f"Replaced by {successor.pk}.", actor)


def _approved_by(notice: Notice) -> str:
    approval = getattr(notice, "approval", None)
    return f" {approval.approver} approved it on {approval.created_at:%Y-%m-%d at %H:%M} UTC." if approval else ""


def _require_current(locked: Notice, revision: int | None) -> NoticeRevision:
    current = selectors.current_revision(locked)
    if locked.state not in Notice.EDITABLE:
        raise Refused(f"{locked.standing}{_approved_by(locked)} Nothing was changed.")
    require_seen(current, revision)
    return current


def _approvable(
    notice: Notice,
    revision: NoticeRevision,
    facts: Facts,
    caller: Caller,
    approver: str,
    authority: str,
) -> authority_rules.Claim:
    """Every rule that an approval has to pass. Raises Refused."""
    case = selectors.case_of(notice, facts)
    if notice.pack_digest != case.pack.digest:
        raise Refused(
            f"The pack {notice.pack} has changed since this was written: from {notice.pack_version} to "
            f"{case.pack.version}. Edit the notice, so that it is checked under the new one."
        )
    problems = checklist.problems(case, revision)
    if too_long := recipients.problem(notice.recipient):
        problems.append(too_long)
    if problems:
        raise Refused(f"The notice cannot be approved yet. {' '.join(problems)}")
    claim = authority_rules.claim(notice, caller, approver, authority)
    authority_rules.require_other_eyes(notice, caller, claim.approver)
    return claim
