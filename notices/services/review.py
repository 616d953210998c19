"""Decisions about a notice: submit, request changes, approve, withdraw."""

from collections.abc import Collection

from django.db import transaction

from accounts.audit import Actor
from accounts.authority import requires
from accounts.callers import Caller
from accounts.roles import Permission
from config.errors import DomainError
from config.http.timestamps import minute_in_words
from config.visible_text import is_visible
from decisions.selectors import prevent_disposal
from notices import checklist, selectors
from notices.check_results import MAX_PROPOSALS
from notices.errors import MembersOnly, MissingReason, WrongState
from notices.models import Approval, Notice, NoticeRevision, Step
from notices.services import audit_trail, review_outcomes
from notices.services.approval_rules import require_acknowledged, require_approvable
from notices.services.revisions import require_seen
from notices.services.sealing import seal_approved

State = Notice.State


@requires(Permission.DRAFT_NOTICES)
def submit(*, caller: Caller, notice: Notice) -> Notice:
    """Submit a draft for review. Raises WrongState if the notice is not a draft."""
    with transaction.atomic():
        locked = _locked(notice, caller)
        if locked.state != State.DRAFT:
            raise WrongState(locked.standing)
        return _step(locked, Step.Kind.SUBMITTED, State.IN_REVIEW, "", caller.actor)


@requires(Permission.DRAFT_NOTICES)
def hold(*, caller: Caller, notice: Notice, take: bool = True) -> None:
    """Assign the notice to the caller, or release it with `take=False`.

    Args:
        take: False releases the caller's own hold. Another member's hold does not change.

    Raises:
        MembersOnly: the caller is a key.
        WrongState: the notice is finished or withdrawn.
    """
    if caller.member_id is None:
        raise MembersOnly
    with transaction.atomic():
        locked = _locked(notice, caller)
        if locked.state not in Notice.EDITABLE:
            raise WrongState(locked.standing)
        if take == (locked.holder_id == caller.member_id):
            return
        locked.holder_id = caller.member_id if take else None
        locked.save(update_fields=["holder"])
        audit_trail.record("notice.held" if take else "notice.released", locked, caller.actor)


@requires(Permission.APPROVE_NOTICES)
def request_changes(*, caller: Caller, notice: Notice, reason: str, revision: int | None = None) -> Notice:
    """Return a notice in review to its writer.

    Args:
        revision: number of the revision the caller read; the current one by default.

    Raises:
        MissingReason, StaleRevision
        WrongState: the notice is not in review.
    """
    if not is_visible(reason):
        raise MissingReason("Say what has to be changed.")
    with transaction.atomic():
        locked = _locked(notice, caller)
        _current_revision(locked, revision)
        if locked.state != State.IN_REVIEW:
            raise WrongState(locked.standing)
        return _step(locked, Step.Kind.CHANGES_REQUESTED, State.DRAFT, reason, caller.actor)


@requires(Permission.APPROVE_NOTICES)
def withdraw(*, caller: Caller, notice: Notice, reason: str = "") -> Notice:
    """Withdraw a notice in any state. Withdrawing again changes nothing."""
    with transaction.atomic():
        locked = _locked(notice, caller)
        if locked.state == State.WITHDRAWN:
            return locked
        return _step(locked, Step.Kind.WITHDRAWN, State.WITHDRAWN, reason, caller.actor)


@requires(Permission.APPROVE_NOTICES)
def approve(
    *,
    caller: Caller,
    notice: Notice,
    revision: int | None = None,
    approver: str = "",
    authority: str = "",
    comment: str = "",
    acknowledge: Collection[str] = (),
) -> Approval:
    """Approve one revision. People and keys, single and bulk approvals all use this function.

    Args:
        revision: number of the revision the caller read. Without it the current one is approved, and the approval
            notes that no revision was named.
        approver, authority: claims of a key, recorded as such. A member's default to the member and their grant or
            role.
        acknowledge: ids of the warnings that the approver has read. An advisory pack needs none, unless the
            organization requires them: the approval records the open ones.

    Raises:
        WrongState, StaleRevision
        NotApprovable, NotGranted, WrongApprover, OwnNotice, Unacknowledged: as in `approval_rules`.
        Fault: the record cannot be read.
    """
    facts = selectors.facts_for(notice)
    with transaction.atomic():
        prevent_disposal(notice.decision)  # a disposal might lock the replaced notice before this one
        locked = _locked(notice, caller)
        current = _current_revision(locked, revision)
        settings = selectors.settings_of(locked.organization_id)
        phrasebook = selectors.phrasebook_of(locked.organization_id, locked.language, settings)
        case = selectors.case_of(locked, facts, phrasebook=phrasebook)
        problems = checklist.problems(case, current)  # against the record itself, not a stored check
        entries = [item.entry for item in case.facts.proposals if item.entry][:MAX_PROPOSALS]
        claim = require_approvable(locked, problems, settings, caller, approver, authority, entries)
        acknowledged, still_open = require_acknowledged(case, current, settings, acknowledge)
        approval = Approval.objects.create(
            notice=locked,
            revision=current,
            comment=comment,
            words_named=revision is not None,
            acknowledged=[warning.as_json() for warning in acknowledged],
            open_warnings=[warning.as_json() for warning in still_open],
            sender=settings.contact,
            signatory=settings.signatory,
            actor_kind=caller.actor.kind,
            actor_id=caller.actor.id,
            **claim._asdict(),
        )
        locked.state, locked.holder = State.APPROVED, None
        locked.save(update_fields=["state", "holder"])
        audit_trail.record(
            "notice.approved",
            locked,
            caller.actor,
            revision=current.number,
            basis=claim.basis,
            words_named=approval.words_named,
            warnings_acknowledged=len(acknowledged),
            warnings_open=len(still_open),
        )
        withdraw_replaced(locked, caller.actor)
    seal_approved(notice_id=locked.pk)  # if sealing fails here, the beat task retries it
    return approval


@requires(Permission.APPROVE_NOTICES)
def reason_against_approval(*, caller: Caller, notice: Notice) -> str:
    """Return why a member cannot approve a notice without problems now, or "". A disabled button shows the reason."""
    try:
        _require_editable(notice)
        require_approvable(notice, (), selectors.settings_for(notice), caller, "", "")
    except DomainError as error:
        return error.sentence
    return ""


def _locked(notice: Notice, caller: Caller) -> Notice:
    return Notice.objects.for_organization(caller.organization_id).locked(notice.pk)


def _step(locked: Notice, kind: Step.Kind, state: Notice.State, reason: str, actor: Actor) -> Notice:
    current = selectors.current_revision(locked)
    Step.objects.create(notice=locked, revision=current, kind=kind, reason=reason, actor_label=actor.label)
    locked.state, locked.holder = state, None
    locked.save(update_fields=["state", "holder"])
    audit_trail.record(f"notice.{kind.value}", locked, actor, revision=current.number)
    if state == State.WITHDRAWN:
        review_outcomes.settle(locked, actor)
    return locked


def withdraw_replaced(successor: Notice, actor: Actor) -> None:
    """Withdraw the notice that an approved new version replaces."""
    if successor.supersedes_id:
        notices = Notice.objects.for_organization(successor.organization_id)
        replaced = notices.locked(successor.supersedes_id)
        if replaced.state != State.WITHDRAWN:
            _step(replaced, Step.Kind.WITHDRAWN, State.WITHDRAWN, f"Replaced by {successor.pk}.", actor)


def _require_editable(notice: Notice) -> None:
    if notice.state not in Notice.EDITABLE:
        raise WrongState(f"{notice.standing}{_approved_by(notice)} Nothing was changed.")


def _current_revision(locked: Notice, seen: int | None) -> NoticeRevision:
    """Return the current revision of an editable notice. Raises WrongState, StaleRevision."""
    _require_editable(locked)
    current = selectors.current_revision(locked)
    require_seen(current, seen)
    return current


def _approved_by(notice: Notice) -> str:
    approval = getattr(notice, "approval", None)
    return f" {approval.approver} approved it on {minute_in_words(approval.created_at)}." if approval else ""
