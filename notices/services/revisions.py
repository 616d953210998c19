"""What a notice says: its first draft from the record, edits, and new versions of a finished one."""

import hashlib
from collections.abc import Mapping
from typing import Any

from django.db import transaction

from accounts.callers import Caller
from config.api import strict_json
from decisions.models import Decision
from notices import checklist, deadlines, drafting, selectors
from notices.letters import recipient as recipients
from notices.limits import require_room
from notices.models import Contributor, Notice, NoticeRevision, Step
from notices.packs import Pack
from notices.record_paths import Facts
from notices.services import contributors
from notices.services.common import Refused, mail_waits, note, require_seen

State = Notice.State
_ADDRESS = {"name", "address", "email", "e-mail"}
"""What of a recipient may change after the approval."""


def draft(
    *, decision: Decision, pack: Pack, recipient: Mapping[str, Any], caller: Caller, language: str = ""
) -> Notice:
    """A first draft from the record.

    Args:
        decision: with its custody row and its organization.
        language: the one wished for; without it the recipient's, or else the person's in the record. The pack's
            language that fits is used, or its first.

    Raises:
        Fault: the record cannot be read, or says more than a notice holds.
    """
    facts = selectors.facts_of(decision)
    wishes = [language, recipient.get("language"), facts.get("subject.language")]
    language = pack.language_for(*[wish for wish in wishes if isinstance(wish, str)])
    phrasebook = selectors.phrasebook_of(decision.organization_id, language)
    drafted = drafting.draft(facts, pack, language, phrasebook, selectors.placeholders_of(decision.organization))
    due = next(iter(deadlines.compute(pack, facts, received_at=decision.received_at)), None)
    with transaction.atomic():
        notice = Notice.objects.create(
            organization_id=decision.organization_id,
            decision=decision,
            pack=pack.id,
            pack_version=pack.version,
            pack_digest=pack.digest,
            language=language,
            recipient=dict(recipient),
            due_at=due.due_at if due else None,
            due_clock=due.clock if due else "",
            created_by=str(caller.actor),
        )
        _revise(notice, 1, drafted.content, {}, facts, caller)
        contributors.add_authors(notice, [author for phrase in drafted.phrases for author in phrase.authors])
        note("notice.drafted", notice, caller.actor, pack=pack.id)
    return notice


def edit(
    *,
    notice: Notice,
    changes: Mapping[str, Any],
    not_applicable: Mapping[str, str] | None = None,
    revision: int | None = None,
    caller: Caller,
) -> NoticeRevision:
    """Replace some of the content's properties. The notice is a draft again, if it was in review.

    Args:
        changes: content properties of the right types; they need not be complete, nor their sources resolve.
        not_applicable: ids of elements that do not apply, each with the reason; None leaves them as they are.
        revision: the one that was edited; the current one if not given.

    Raises:
        Refused: the notice is finished, or at another revision.
        Fault: the record cannot be read, or the notice would hold too much.
    """
    facts = selectors.facts_of(notice.decision)
    with transaction.atomic():
        locked = Notice.objects.select_for_update().get(pk=notice.pk)
        locked.decision = notice.decision
        if locked.state not in Notice.EDITABLE:
            raise Refused(f"{locked.standing} It stays as it is: make a new version of it.")
        last = selectors.current_revision(locked)
        require_seen(last, revision)
        exempt = last.not_applicable if not_applicable is None else dict(not_applicable)
        made = _revise(locked, last.number + 1, {**last.content, **changes}, exempt, facts, caller)
        if _waives(selectors.pack_of(locked), last.not_applicable, exempt):
            contributors.add(locked, Contributor.Part.WAIVER, caller.actor)
        note("notice.edited", locked, caller.actor, revision=made.number)
    notice.refresh_from_db(fields=["state", "pack_version", "pack_digest", "problems", "holder"])
    return made


def _waives(pack: Pack, before: Mapping[str, str], exempt: Mapping[str, str]) -> bool:
    """Whether an edit says of an element that can block that it does not apply, or gives another reason for that."""
    said = {name for name, reason in exempt.items() if reason != before.get(name)}
    return any(element.id in said and pack.binds(element) for element in pack.elements)


def set_recipient(*, notice: Notice, recipient: Mapping[str, Any], caller: Caller) -> None:
    """Say to whom the letter goes. It is no edit of what the notice says, so an approval stands, and a letter that came
    back can be sent anew: then name and address alone change, and the history says who changed which of them.

    Raises:
        Refused
    """
    if too_long := recipients.problem(recipient):
        raise Refused(too_long)
    with transaction.atomic():
        locked = Notice.objects.select_for_update().get(pk=notice.pk)
        if locked.state == State.WITHDRAWN:
            raise Refused(locked.standing)
        if mail_waits(locked):  # else one person's letter goes to another's mailbox
            raise Refused("A mail of this letter waits to go out. Change the recipient once it has.")
        before = locked.recipient
        changed = {name for name in {*before, *recipient} if before.get(name) != recipient.get(name)}
        if locked.state in Notice.FINISHED:
            _readdress(locked, changed, caller)
        else:
            note("notice.recipient_set", locked, caller.actor)
        Notice.objects.filter(pk=locked.pk).update(recipient=dict(recipient))


def _readdress(locked: Notice, changed: set[str], caller: Caller) -> None:
    """Keep it that an approved letter goes elsewhere. What it said before and says now is private. Raises Refused."""
    if not changed <= _ADDRESS:
        raise Refused(
            "Once the notice is approved, only name, address and e-mail address of its recipient can change; "
            "reference, language and all else stay as they were approved."
        )
    told = sorted(changed)
    if told:
        Step.objects.create(
            notice=locked,
            revision_id=locked.approval.revision_id,
            kind=Step.Kind.READDRESSED,
            reason=", ".join(told),
            actor_label=caller.actor.label,
        )
    note("notice.recipient_set", locked, caller.actor, changed=told)


def new_version(*, notice: Notice, caller: Caller) -> Notice:
    """A draft with the words of an approved or delivered notice. Once it is approved, it takes that notice's place.

    Raises:
        Refused: the notice is not finished, or a new version is already there.
        Fault: the record cannot be read.
    """
    facts, pack = selectors.facts_of(notice.decision), selectors.pack_of(notice)
    with transaction.atomic():
        locked = Notice.objects.select_for_update().get(pk=notice.pk)
        if locked.state not in Notice.FINISHED:
            raise Refused(f"{locked.standing} Only an approved or delivered one gets a new version.")
        if locked.successors.exclude(state=State.WITHDRAWN).exists():
            raise Refused("There is a new version of this notice already. Edit that one, or withdraw it.")
        last = selectors.current_revision(locked)
        made = Notice.objects.create(
            organization_id=locked.organization_id,
            decision=notice.decision,
            pack=pack.id,
            pack_version=pack.version,
            pack_digest=pack.digest,
            language=locked.language,
            recipient=locked.recipient,
            due_at=locked.due_at,
            due_clock=locked.due_clock,
            supersedes=locked,
            created_by=str(caller.actor),
        )
        _revise(made, 1, last.content, last.not_applicable, facts, caller)
        if locked.approval.actor_kind == "member":  # the words had their second person; what was waived may now matter
            contributors.take_over(made, locked, [Contributor.Part.WAIVER])
        else:
            contributors.take_over(made, locked)
        note("notice.drafted", made, caller.actor, pack=pack.id, supersedes=str(locked.pk))
    return made


def _revise(
    notice: Notice, number: int, content: dict[str, Any], exempt: dict[str, str], facts: Facts, caller: Caller
) -> NoticeRevision:
    """The next revision. Whoever makes it holds the notice; a machine holds none. Raises TooMuch."""
    require_room(content)
    revision = NoticeRevision.objects.create(
        notice=notice,
        number=number,
        content=content,
        digest=hashlib.sha256(strict_json.canonical(content)).hexdigest(),
        cited=checklist.cited_values(facts, content),
        not_applicable=exempt,
        author_kind=caller.actor.kind,
        author_id=caller.actor.id,
        author_label=caller.actor.label,
    )
    pack = selectors.pack_of(notice)
    notice.state, notice.holder_id = State.DRAFT, caller.member_id
    notice.pack_version, notice.pack_digest = pack.version, pack.digest
    notice.problems = len(checklist.problems(selectors.case_of(notice, facts), revision))
    notice.save(update_fields=["state", "holder", "pack_version", "pack_digest", "problems"])
    contributors.add(notice, Contributor.Part.WORDS, caller.actor)
    return revision
