"""Every change of a notice's state: drafted, edited, approved, withdrawn, sealed."""

import hashlib
import json
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from accounts import audit
from accounts.audit import Actor
from accounts.callers import Caller
from accounts.models import Member
from config.api import strict_json
from config.api.answers import dump
from config.api.strict_json import spelling
from config.api.times import rfc3339
from custody import selectors as custody
from custody.kinds import Indexing
from custody.services import Submission, take
from decisions.models import Decision
from notices import checklist
from notices.drafting import draft as write
from notices.facts import Facts
from notices.models import Approval, Notice, NoticeRevision, NoticeSettings, Phrase, SealedNotice
from notices.packs import Pack
from notices.phrasebook import Phrasebook

KIND = "notice"
State = Notice.State


class NotEditable(Exception):
    """The notice is approved, delivered or withdrawn: make a new version instead."""


class Refused(Exception):
    """An approval that a rule forbids. The message is the reason, for the person."""


def settings_of(organization_id: uuid.UUID) -> NoticeSettings:
    """The organization's notice settings, the defaults if it has made none."""
    found = NoticeSettings.objects.filter(organization_id=organization_id).first()
    return found or NoticeSettings(organization_id=organization_id)


def change_settings(*, default_pack: str, placeholders: Mapping[str, str], caller: Caller) -> NoticeSettings:
    """What later drafts are made with; notices that exist stay as they are."""
    with transaction.atomic():
        made, _ = NoticeSettings.objects.update_or_create(
            organization_id=caller.organization_id,
            defaults={"default_pack": default_pack, "placeholders": dict(placeholders)},
        )
        audit.record(
            "notice_settings.changed",
            actor=caller.actor,
            organization_id=caller.organization_id,
            object_kind="organization",
            object_id=caller.organization_id,
            default_pack=default_pack,
        )
    return made


def put_phrases(*, organization_id: uuid.UUID, phrases: Sequence[Phrase], actor: Actor) -> int:
    """Add phrases to the organization's phrasebook, or replace those of the same key and language."""
    with transaction.atomic():
        for phrase in phrases:
            phrase.organization_id = organization_id
        Phrase.objects.bulk_create(
            phrases,
            update_conflicts=True,
            unique_fields=["organization", "language", "key"],
            update_fields=["sentence", "label", "withheld", "owner", "approved_version"],
        )
        audit.record(
            "phrasebook.changed",
            actor=actor,
            organization_id=organization_id,
            object_kind="organization",
            object_id=organization_id,
            phrases=len(phrases),
        )
    return len(phrases)


def facts_of(decision: Decision) -> Facts:
    """The record behind a decision, from custody. Raises Fault if it cannot be read."""
    return Facts(custody.opened(decision.record).payload)


def draft(*, decision: Decision, pack: Pack, language: str, recipient: Mapping[str, Any], caller: Caller) -> Notice:
    """A first draft from the record.

    Args:
        decision: with its custody row.
        language: one of the pack's.

    Raises:
        Fault: the record cannot be read.
    """
    facts = facts_of(decision)
    book = Phrasebook.of(decision.organization_id, language)
    placeholders = {"organization": decision.organization.name, **settings_of(decision.organization_id).placeholders}
    content = write(facts, pack, language, book, placeholders)
    with transaction.atomic():
        notice = Notice.objects.create(
            organization_id=decision.organization_id,
            decision=decision,
            pack=pack.id,
            pack_version=pack.version,
            pack_digest=pack.digest,
            language=language,
            recipient=dict(recipient),
            created_by=str(caller.actor),
        )
        _revise(notice, 1, content, facts, caller)
        _audit("notice.drafted", notice, caller, pack=pack.id)
    return notice


def edit(*, notice: Notice, changes: Mapping[str, Any], caller: Caller) -> NoticeRevision:
    """Replace some of the content's properties. Approvals of earlier revisions are void from then on.

    Args:
        changes: content properties of the right types; they need not be complete, nor their sources resolve.

    Raises:
        NotEditable
        Fault: the record cannot be read.
    """
    facts = facts_of(notice.decision)
    with transaction.atomic():
        locked = Notice.objects.select_for_update().get(pk=notice.pk)
        if locked.state != State.DRAFT:
            raise NotEditable
        last = locked.revisions.order_by("-number")[0]
        revision = _revise(locked, last.number + 1, {**last.content, **changes}, facts, caller)
        Approval.objects.filter(notice=locked, voided_at=None).update(voided_at=timezone.now())
        _audit("notice.edited", locked, caller, revision=revision.number)
    return revision


def approve(
    *,
    notice: Notice,
    pack: Pack,
    caller: Caller,
    revision: int | None = None,
    approver: str = "",
    authority: str = "",
    comment: str = "",
) -> Approval:
    """Approve one revision. The only way to do so, for people and machines, for one notice and for many.

    Args:
        revision: the one that was looked at; the current one if not given.
        approver, authority: who approves and by what authority. From a key they are claims, recorded as such; a
            member's default to their own.

    Raises:
        Refused: with the reason.
        Fault: the record cannot be read.
    """
    facts = facts_of(notice.decision)
    with transaction.atomic():
        locked = Notice.objects.select_for_update().get(pk=notice.pk)
        current = locked.revisions.order_by("-number")[0]
        if locked.state != State.DRAFT:
            raise Refused(f"The notice is {locked.state}.")
        if revision is not None and revision != current.number:
            raise Refused(f"The notice has changed: it is at revision {current.number}. Look at it again.")
        _require_complete(facts, pack, current)
        approver, authority, basis = _authority(caller, approver, authority)
        _require_other_eyes(locked, caller, approver)
        approval = Approval.objects.create(
            notice=locked,
            revision=current,
            approver=approver,
            authority=authority,
            comment=comment,
            basis=basis,
            actor_kind=caller.actor.kind,
            actor_id=caller.actor.id,
        )
        Notice.objects.filter(pk=locked.pk).update(state=State.APPROVED)
        _audit("notice.approved", locked, caller, revision=current.number, basis=basis)
    seal_approved(notice_id=locked.pk)
    return approval


def withdraw(*, notice: Notice, caller: Caller) -> Notice:
    """Take a notice back, whatever its state. Withdrawing again changes nothing."""
    with transaction.atomic():
        locked = Notice.objects.select_for_update().get(pk=notice.pk)
        if locked.state != State.WITHDRAWN:
            Notice.objects.filter(pk=locked.pk).update(state=State.WITHDRAWN)
            locked.state = State.WITHDRAWN
            _audit("notice.withdrawn", locked, caller)
    return locked


def seal_approved(*, notice_id: uuid.UUID | None = None) -> int:
    """Put approved notices into custody that are not there yet: one that was just approved, or, swept by beat, any that
    a crash left out. Returns how many were sealed."""
    waiting = Notice.objects.filter(state=State.APPROVED, sealed=None)
    if notice_id:
        waiting = waiting.filter(pk=notice_id)
    sealed = 0
    for notice in waiting.select_related("decision__record"):
        approval = notice.approvals.select_related("revision").get(voided_at=None)
        payload = dump(_record(notice, approval))
        parent = hashlib.sha256(bytes(notice.decision.record.statement)).digest()
        take(
            organization_id=notice.organization_id,
            submissions=[
                Submission(
                    kind=KIND,
                    identity=str(notice.pk),
                    payload=payload,
                    content=strict_json.read(payload, number=spelling, integer=spelling),
                    source="notices",
                    parents=[parent],
                )
            ],
        )
        sealed += 1
    return sealed


def index_row(record: Indexing) -> SealedNotice:
    """The index row of a sealed notice."""
    return SealedNotice(
        record_id=record.record_id,
        organization_id=record.organization_id,
        notice_id=uuid.UUID(record.content["notice_id"]),
    )


def _record(notice: Notice, approval: Approval) -> dict[str, Any]:
    """What is sealed: the approved words, who approved, and a proof of every cited field against the decision's signed
    statement. Deterministic, so that sealing again after a crash makes the same record."""
    content = approval.revision.content
    facts = facts_of(notice.decision)
    paths = list(dict.fromkeys(facts.find(source).path for source in checklist.sources(content)))
    proofs = custody.disclosures(notice.decision.record, paths)
    return {
        "decision_id": str(notice.pk),
        "notice_id": str(notice.pk),
        "about": {"decision_id": notice.decision.decision_id, "record_id": str(notice.decision_id)},
        "pack": {"id": notice.pack, "version": notice.pack_version, "digest": notice.pack_digest},
        "revision": {"number": approval.revision.number, "digest": approval.revision.digest},
        "content": content,
        "recipient": {"reference": notice.recipient.get("reference")},
        "approval": {
            "approver": approval.approver,
            "authority": approval.authority,
            "basis": approval.basis,
            "approved_at": rfc3339(approval.created_at),
        },
        "field_proofs": [
            {
                "path": proof.leaf[0],
                "scalar": proof.leaf[1],
                "salt": proof.salt.hex(),
                "index": proof.index,
                "audit_path": [node.hex() for node in proof.audit_path],
            }
            for proof in proofs
        ],
    }


def _revise(notice: Notice, number: int, content: dict[str, Any], facts: Facts, caller: Caller) -> NoticeRevision:
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    return NoticeRevision.objects.create(
        notice=notice,
        number=number,
        content=content,
        digest=hashlib.sha256(canonical).hexdigest(),
        cited=checklist.cited_values(facts, content),
        author_kind=caller.actor.kind,
        author_id=caller.actor.id,
        author_label=caller.actor.label,
    )


def _require_complete(facts: Facts, pack: Pack, revision: NoticeRevision) -> None:
    today = timezone.now().date()
    missing = [
        item
        for item in checklist.check(facts, pack, revision.content, today)
        if item.result == checklist.MISSING and item.blocks
    ]
    if missing:
        named = ", ".join(f"{item.label} ({item.citation})" for item in missing)
        raise Refused(f"The notice lacks what the law asks for: {named}.")
    wrong = [c for c in checklist.citations(facts, revision.content, revision.cited) if not c.resolves or c.changed]
    if wrong:
        named = ", ".join(citation.source for citation in wrong)
        raise Refused(f"These sources lead nowhere in the record, or to another value than before: {named}.")


def _authority(caller: Caller, approver: str, authority: str) -> tuple[str, str, str]:
    """Who approves, by what authority, and how sure that is. Raises Refused."""
    if caller.member_id is None:
        if not (approver and authority):
            raise Refused("A key has to name approver and authority.")
        return approver[:300], authority[:256], f"asserted by {caller.actor.kind} {caller.actor.id}"
    member = Member.objects.select_related("user").get(pk=caller.member_id)
    if approver and approver.lower() != member.user.email:
        raise Refused("You approve in your own name: leave approver out, or give your own mail address.")
    return member.user.email, (authority or caller.role)[:256], "signed in"


def _require_other_eyes(notice: Notice, caller: Caller, approver: str) -> None:
    """Four eyes: nobody approves what they wrote, by whatever door they come. Raises Refused."""
    revisions = notice.revisions.all()
    voided = notice.approvals.order_by("-created_at").first()
    if voided is not None:
        revisions = revisions.filter(number__gt=voided.revision.number)
    people = revisions.filter(author_kind="member")
    if people.filter(author_id=caller.actor.id).exists() and caller.member_id is not None:
        raise Refused("You wrote or edited this notice; somebody else has to approve it.")
    if people.filter(author_label__iexact=approver).exists():
        raise Refused("The approver wrote or edited this notice; somebody else has to approve it.")


def _audit(verb: str, notice: Notice, caller: Caller, **detail: Any) -> None:
    audit.record(
        verb,
        actor=caller.actor,
        organization_id=notice.organization_id,
        object_kind="notice",
        object_id=notice.pk,
        **detail,
    )
