"""Restore of a notice's rows from its sealed record, after a database was restored from before its approval.

The sealed record proves the approved words, the approval and the reference of the recipient. The name and address of
the recipient, the writers, earlier revisions, deliveries, withdrawals and review requests are not in it, so they stay
unknown.
"""

import uuid
from collections.abc import Callable
from datetime import datetime
from typing import Any

from config import db
from config.errors import NotFound
from config.http import strict_json
from custody.record_types import Indexing
from custody.services import ParentMissing
from decisions.models import Decision, MappingVersion
from decisions.selectors import prevent_disposal
from notices import asserted, checklist, deadlines, selectors
from notices.errors import NewVersionExists
from notices.models import Approval, AuthorityGrant, Notice, NoticeRevision, new_address
from notices.packs import packs
from notices.record_paths import Facts
from notices.services import audit_trail
from notices.services.review import withdraw_replaced


def restore(record: Indexing, payload: bytes) -> Callable[[], object]:
    """Read a sealed notice, and return a function that saves its missing rows. The notice is approved then.

    Raises:
        ParentMissing: it replaces a notice that the database does not have yet.
        Fault: the record of its decision cannot be read.
    """
    sealed = strict_json.read(payload)
    notices = Notice.objects.for_organization(record.organization_id)
    if notices.filter(pk=sealed["notice_id"], approval__isnull=False).exists():
        return tuple
    replaced = sealed.get("supersedes")  # earlier versions did not seal it
    if replaced and not notices.filter(pk=replaced).exists():
        raise ParentMissing(f"It replaces a notice that the database does not have: {replaced}.")
    rows = Decision.objects.for_organization(record.organization_id).select_related("record")
    decision = db.only(rows.filter(pk=sealed["about"]["record_id"]))
    if decision is None:
        raise NotFound("the index row of its decision is missing")
    mapping = _mapping(record.organization_id, sealed["letter"])
    facts = selectors.facts_of(decision, mapping)
    return lambda: _save(record, sealed, decision, mapping, facts)


def _mapping(organization_id: uuid.UUID, letter: dict[str, Any]) -> MappingVersion | None:
    """Return the mapping of the letter, or None if it had none or the database lost it."""
    sealed = letter.get("mapping")
    versions = MappingVersion.objects.for_organization(organization_id)
    return versions.filter(mapping__name=sealed["name"], digest=sealed["digest"]).first() if sealed else None


def _save(
    record: Indexing, sealed: dict[str, Any], decision: Decision, mapping: MappingVersion | None, facts: Facts
) -> None:
    prevent_disposal(decision)
    notices = Notice.objects.for_organization(record.organization_id)
    notice = db.only(notices.select_for_update(of=("self",)).filter(pk=sealed["notice_id"]))
    if notice is None:
        notice = _notice(sealed, decision, mapping, facts)
    elif hasattr(notice, "approval"):  # given while the record was read
        return
    revision = _revision(notice, sealed, facts)
    _approval(notice, revision, record.record_id, sealed).save_base(raw=True, force_insert=True)
    if notice.state in Notice.EDITABLE:
        notice.state, notice.holder = Notice.State.APPROVED, None
        notice.save(update_fields=["state", "holder"])
        withdraw_replaced(notice, selectors.RESTORER)
    audit_trail.record("notice.restored", notice, selectors.RESTORER, revision=revision.number)


def _notice(sealed: dict[str, Any], decision: Decision, mapping: MappingVersion | None, facts: Facts) -> Notice:
    """Save and return a notice without its words. Its deadline is computed again, without those of review requests."""
    letter, reference, replaced = sealed["letter"], sealed["recipient"]["reference"], sealed.get("supersedes")
    rows = Notice.objects.for_organization(decision.organization_id)
    if replaced and rows.filter(supersedes=replaced).exclude(state=Notice.State.WITHDRAWN).exists():
        raise NewVersionExists("A new version of the notice that it replaces was made: withdraw that one.")
    pack = packs().get(letter["pack"]["id"])
    strictest = deadlines.compute(pack, facts, received_at=decision.received_at)[:1] if pack else []
    return Notice.objects.create(
        id=uuid.UUID(sealed["notice_id"]),
        organization_id=decision.organization_id,
        decision=decision,
        mapping=mapping,
        pack=letter["pack"]["id"],
        pack_version=letter["pack"]["version"],
        pack_digest=letter["pack"]["digest"],
        language=letter["content"]["language"],
        recipient={} if reference is None else {"reference": reference},
        supersedes_id=replaced,
        address=sealed.get("address") or new_address(),  # earlier versions did not seal it
        due_at=strictest[0].due_at if strictest else None,
        due_clock=strictest[0].clock if strictest else "",
        created_by=str(selectors.RESTORER),
    )


def _revision(notice: Notice, sealed: dict[str, Any], facts: Facts) -> NoticeRevision:
    """Return the approved revision. If it is missing or not the last one, save its words as the last one."""
    content, number, digest = sealed["letter"]["content"], sealed["revision"]["number"], sealed["revision"]["digest"]
    last = notice.revisions.order_by("-number").first()
    if last and (last.number, last.digest) == (number, digest):
        return last
    return NoticeRevision.objects.create(
        notice=notice,
        number=max(number, last.number + 1) if last else number,
        content=content,
        digest=digest,
        cited=checklist.cited_values(facts, content),
        not_applicable=sealed["not_applicable"],
        author_kind=selectors.RESTORER.kind,
        author_id=selectors.RESTORER.id,
        author_label=selectors.RESTORER.label,
    )


def _approval(notice: Notice, revision: NoticeRevision, record_id: uuid.UUID, sealed: dict[str, Any]) -> Approval:
    """Return the unsaved approval. Its comment is not sealed, and of a signed-in approver only the mail address is."""
    given, letter = sealed["approval"], sealed["letter"]
    approved_at = datetime.fromisoformat(given["approved_at"])
    actor_kind, actor_id = asserted.actor_of(given["basis"])
    return Approval(
        notice=notice,
        revision=revision,
        approver=given["approver"],
        authority=given["authority"],
        basis=given["basis"],
        grant=_grant(notice.organization_id, given, approved_at),
        words_named=given.get("words_named"),
        acknowledged=given.get("acknowledged"),
        open_warnings=given.get("open_warnings"),
        sender=letter.get("sender"),
        signatory=letter.get("signatory"),
        actor_kind=actor_kind,
        actor_id=actor_id,
        created_at=approved_at,
        record_id=record_id,
    )


def _grant(organization_id: uuid.UUID, given: dict[str, Any], approved_at: datetime) -> AuthorityGrant | None:
    """Return the sealed grant. A grant from after the dump is gone, and a new one may have its number."""
    grants = AuthorityGrant.objects.for_organization(organization_id).filter(created_at__lte=approved_at)
    return db.only(grants.filter(pk=given["grant"], user__email=given["approver"]))
