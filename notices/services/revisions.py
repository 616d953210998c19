"""Revisions of a notice: its first draft from the record, edits, and new versions of a finished notice."""

import hashlib
from collections.abc import Mapping
from operator import itemgetter
from typing import Any

from django.db import transaction

from accounts.authority import requires
from accounts.callers import Caller
from accounts.roles import Permission
from config.http import strict_json
from config.visible_text import is_visible
from decisions.models import Decision
from decisions.selectors import prevent_disposal
from notices import checklist, deadlines, drafting, follow_up, selectors
from notices.content_limits import require_room
from notices.errors import MissingReason, NewVersionExists, OtherRecipient, StaleRevision, WrongState
from notices.letters import recipient as recipients
from notices.mapped_facts import MappedFacts
from notices.models import Contributor, Notice, NoticeRevision, ReviewRequest
from notices.packs import Pack
from notices.record_paths import Facts
from notices.services import audit_trail, contributors

State = Notice.State


@requires(Permission.DRAFT_NOTICES)
def draft(
    *,
    caller: Caller,
    decision: Decision,
    pack: Pack,
    recipient: Mapping[str, Any],
    language: str = "",
    answers: ReviewRequest | None = None,
) -> Notice:
    """Draft a notice from the record. It is due by the earliest deadline of its pack and of the requests it answers.

    Args:
        decision: with its custody row and its organization.
        recipient: if empty, a notice about a reconsideration goes to the recipient of the earlier letter. A notice that
            answers a request gets the name and reference of its requester.
        language: defaults to the recipient's, then the earlier letter's, then the person's in the record. The notice
            uses the pack's language that fits, or its first.
        answers: the request for review that the notice answers; by default the first unfinished one.

    Raises:
        OtherRecipient: the recipient did not make the request.
        Disposed: the decision was disposed of.
        Fault: the record cannot be read.
        TooMuch: the record says more than a notice holds.
    """
    if answers and recipient:
        recipient = follow_up.with_identity(recipient, answers)
        if not follow_up.is_same_person(answers.notice.recipient, recipient):
            raise OtherRecipient(answers.pk)
    facts = selectors.facts_of(decision)
    mapping = selectors.mapping_for(decision, facts)
    if mapping:
        facts = MappedFacts(facts, mapping)
    earlier = follow_up.earlier_letter(decision, answers)
    if earlier and not recipient:
        recipient = follow_up.addressee(earlier, answers)
    spoken = earlier.language if earlier else ""
    language = drafting.language_of(facts, pack, language, recipient.get("language"), spoken)
    sender = selectors.sender_of(decision.organization)
    phrasebook = sender.phrasebook(language)
    proposal = drafting.draft(facts, pack, language, phrasebook, sender.texts, received_at=decision.received_at)
    strictest = deadlines.compute(pack, facts, received_at=decision.received_at)[:1]
    with transaction.atomic():
        prevent_disposal(decision)
        notice = Notice(
            organization_id=decision.organization_id,
            decision=decision,
            pack=pack.id,
            pack_version=pack.version,
            pack_digest=pack.digest,
            mapping=mapping,
            language=language,
            recipient=recipients.with_reference(recipient, facts.get("subject.reference")),
            created_by=str(caller.actor),
        )
        due = [(deadline.due_at, deadline.clock) for deadline in strictest]
        due += [(request.due_at, request.due_clock) for request in follow_up.requests_told_by(notice) if request.due_at]
        notice.due_at, notice.due_clock = min(due, key=itemgetter(0), default=(None, ""))
        _revise(notice, 1, proposal.content, {}, facts, caller, proposal.redaction)
        if mapping and mapping.author_mail:
            contributors.add_author_of_mapping(notice, mapping)
        contributors.add_authors(notice, [author for phrase in proposal.phrases for author in phrase.authors])
        audit_trail.record("notice.drafted", notice, caller.actor, pack=pack.id)
    return notice


@requires(Permission.DRAFT_NOTICES)
def edit(
    *,
    caller: Caller,
    notice: Notice,
    changes: Mapping[str, Any],
    not_applicable: Mapping[str, str] | None = None,
    revision: int | None = None,
) -> NoticeRevision:
    """Replace properties of the content. A notice in review becomes a draft again.

    The new revision adopts today's pack. Without changes, a revision is made only if the pack or a cited value changed;
    otherwise the current revision is returned.

    Args:
        changes: content properties of the right types. They may be incomplete, and their sources may not resolve. A
            language becomes the pack's that fits, such as `en` for `en-US`, or its first.
        not_applicable: ids of elements that do not apply, each with the reason. None changes nothing.
        revision: number of the edited revision; the current one by default.

    Raises:
        WrongState: the notice is finished.
        StaleRevision, MissingReason
        Fault: the record cannot be read.
        TooMuch: the notice would hold more than it can.
    """
    if not all(map(is_visible, (not_applicable or {}).values())):
        raise MissingReason("Say in words of each element why it does not apply.")
    facts = selectors.facts_for(notice)
    with transaction.atomic():
        locked = Notice.objects.for_organization(caller.organization_id).locked(notice.pk)
        locked.decision = notice.decision
        if locked.state not in Notice.EDITABLE:
            raise WrongState(f"{locked.standing} It stays as it is: make a new version of it.")
        last = selectors.current_revision(locked)
        require_seen(last, revision)
        if "language" in changes:
            locked.language = selectors.pack_of(locked).language_for(changes["language"])
        content = {**last.content, **_framework(locked, facts), **changes, "language": locked.language}
        exemptions = last.not_applicable if not_applicable is None else dict(not_applicable)
        if (content, exemptions) == (last.content, last.not_applicable) and _is_current(locked, last, facts):
            return last
        current = _revise(locked, last.number + 1, content, exemptions, facts, caller)
        if _waives(selectors.pack_of(locked), last.not_applicable, exemptions):
            contributors.add(locked, Contributor.Part.WAIVER, caller.actor)
        audit_trail.record("notice.edited", locked, caller.actor, revision=current.number)
    for name in ("state", "language", "pack_version", "pack_digest", "problems", "holder_id", "recipient", "case"):
        setattr(notice, name, getattr(locked, name))
    return current


def require_seen(current: NoticeRevision, seen: int | None) -> None:
    """Require that the caller saw the current revision. Raises StaleRevision.

    Args:
        seen: the number of the revision the caller read; None if the caller did not say.
    """
    if seen is not None and seen != current.number:
        raise StaleRevision(f"The notice has changed since you opened it: it is at revision {current.number}.")


def _is_current(notice: Notice, revision: NoticeRevision, facts: Facts) -> bool:
    """Whether a revision was made under today's pack and cites today's values of the record."""
    cited = checklist.cited_values(facts, revision.content)
    return notice.pack_digest == selectors.pack_of(notice).digest and revision.cited == cited


def _framework(notice: Notice, facts: Facts) -> dict[str, str]:
    """Return the law's name as today's pack prints it. People cannot edit it."""
    decided_on = deadlines.decided_on(facts, notice.decision.received_at)
    return {"framework": selectors.pack_of(notice).framework_for(notice.language, facts.get, decided_on)}


def _waives(pack: Pack, before: Mapping[str, str], exemptions: Mapping[str, str]) -> bool:
    """Whether an edit exempts an element that can block, or changes the reason for the exemption."""
    changed = {name for name, reason in exemptions.items() if reason != before.get(name)}
    return any(element.id in changed and pack.binds(element) for element in pack.elements)


@requires(Permission.DRAFT_NOTICES)
def new_version(*, caller: Caller, notice: Notice) -> Notice:
    """Draft a new version with the words of an approved or delivered notice. Its approval withdraws that notice.

    Raises:
        WrongState: the notice is not finished.
        NewVersionExists
        Fault: the record cannot be read.
    """
    facts, pack = selectors.facts_for(notice), selectors.pack_of(notice)
    with transaction.atomic():
        prevent_disposal(notice.decision)  # a disposal locks the decision before the notice, too
        locked = Notice.objects.for_organization(caller.organization_id).locked(notice.pk)
        if locked.state not in Notice.FINISHED:
            raise WrongState(f"{locked.standing} Only an approved or delivered one gets a new version.")
        if locked.successors.exclude(state=State.WITHDRAWN).exists():
            raise NewVersionExists
        last = selectors.current_revision(locked)
        successor = Notice(
            organization_id=locked.organization_id,
            decision=notice.decision,
            pack=pack.id,
            pack_version=pack.version,
            pack_digest=pack.digest,
            mapping=locked.mapping,
            language=locked.language,
            recipient=locked.recipient,
            due_at=locked.due_at,
            due_clock=locked.due_clock,
            supersedes=locked,
            created_by=str(caller.actor),
        )
        content = {**last.content, **_framework(successor, facts)}
        _revise(successor, 1, content, last.not_applicable, facts, caller)
        if locked.approval.actor_kind == "member":  # a second person approved the words, but a waiver may matter now
            contributors.take_over(successor, locked, [Contributor.Part.WAIVER])
        else:
            contributors.take_over(successor, locked)
        audit_trail.record("notice.drafted", successor, caller.actor, pack=pack.id, supersedes=str(locked.pk))
    return successor


def _revise(
    notice: Notice,
    number: int,
    content: dict[str, Any],
    exemptions: dict[str, str],
    facts: Facts,
    caller: Caller,
    redaction: drafting.Redaction | None = None,
) -> NoticeRevision:
    """Save the next revision, and with the first one the notice itself. Raises TooMuch.

    The notice is assigned to the member who makes the revision, or to no member if the caller is a key.
    """
    require_room(content)
    revision = NoticeRevision(
        notice=notice,
        number=number,
        content=content,
        digest=hashlib.sha256(strict_json.canonical(content)).hexdigest(),
        cited=checklist.cited_values(facts, content),
        not_applicable=exemptions,
        author_kind=caller.actor.kind,
        author_id=caller.actor.id,
        author_label=caller.actor.label,
    )
    pack = selectors.pack_of(notice)
    notice.state, notice.holder_id = State.DRAFT, caller.member_id
    notice.pack_version, notice.pack_digest = pack.version, pack.digest
    notice.case = selectors.case_of(
        notice, facts, redaction=redaction, drafted=None if number > 1 or notice.supersedes_id else content
    )
    notice.problems = len(checklist.problems(notice.case, revision))
    changed = ["state", "holder", "language", "pack_version", "pack_digest", "problems"]
    notice.save(update_fields=changed if number > 1 else None)
    revision.save(force_insert=True)
    contributors.add(notice, Contributor.Part.WORDS, caller.actor)
    return revision
