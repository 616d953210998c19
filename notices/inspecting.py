"""Inspection of the rows about a sealed notice: its revisions, approval, state, and the proofs of its letter."""

import base64
import hashlib
import json
import uuid
from collections.abc import Iterator
from typing import Any

from django.db.models import Q

from config.http import strict_json
from custody.models import Entry
from custody.record_types import Unsealed
from custody.sealing.fields import Disclosure
from notices.models import Approval, Notice, NoticeRevision, SealedNotice, Step
from notices.selectors import RESTORER


def inspect(entry: Entry, payload: bytes) -> Iterator[str]:
    """Yield the differences between the rows and the sealed record."""
    record = json.loads(payload)
    letter = record["letter"]
    if _digest(letter) != record["letter_digest"]:
        yield "The letter is not the one of its digest."
    if not all(_proofs(letter)):
        yield "A field that the letter cites is not proved."
    sealed = SealedNotice.objects.for_organization(entry.organization_id).select_related("notice").get(pk=entry.pk)
    if problem := _state_problem(sealed.notice):
        yield problem
    because = "of one notice, which is the organization's"
    revisions = NoticeRevision.objects.unscoped(because).filter(notice=sealed.notice_id)
    for revision in revisions.order_by("number").iterator(chunk_size=10):
        if _digest(revision.content) != revision.digest:
            yield f"Revision {revision.number} is not the one of its digest."
    approval = Approval.objects.unscoped(because).select_related("revision").get(notice=sealed.notice_id)
    if sealed.notice.state != Notice.State.WITHDRAWN and (problem := _revision_problem(approval.revision, record)):
        yield problem
    if (approval.approver, approval.authority) != (record["approval"]["approver"], record["approval"]["authority"]):
        yield "The approval is not what was sealed."


def _revision_problem(approved: NoticeRevision, record: dict[str, Any]) -> str:
    """Return how the approved revision contradicts the sealed notice, or ""."""
    sealed = record["revision"]
    # Words that were edited between a database restore and the restore of this notice took its number.
    is_numbered = approved.number == sealed["number"] or approved.author_id == RESTORER.id
    if is_numbered and (approved.digest, approved.content) == (sealed["digest"], record["letter"]["content"]):
        return ""
    return "The approved revision is not what was sealed. Make a new version of the notice."


def _state_problem(notice: Notice) -> str:
    """Return how the state contradicts the sealed notice, or ""."""
    if notice.state in Notice.EDITABLE:
        return f"Its state is {notice.state}, but the notice was approved and sealed."
    withdrawals = Step.objects.unscoped("of one notice").filter(notice=notice, kind=Step.Kind.WITHDRAWN)
    if notice.state == Notice.State.WITHDRAWN and not withdrawals.exists():
        return "Its state is withdrawn, but no step withdrew the notice."
    return ""


def unsealed(organization_id: uuid.UUID) -> Iterator[Unsealed]:
    """Yield approved notices without a sealed record. If the approval names the record, the record is missing."""
    notices = Notice.objects.for_organization(organization_id).filter(sealed=None).select_related("approval")
    approved = notices.filter(Q(approval__isnull=False) | Q(state__in=Notice.FINISHED))
    approved = approved.exclude(decision__record__state=Entry.State.QUEUED)
    for notice in approved.iterator(chunk_size=100):
        approval = getattr(notice, "approval", None)
        if approval is None:
            yield Unsealed(str(notice.pk), "It was approved, but its approval and its record are missing.", False)
        elif approval.record_id:
            yield Unsealed(str(notice.pk), f"Its sealed record {approval.record_id} is missing.", False)
        else:
            yield Unsealed(str(notice.pk), "It waits for custody.", True)


def _proofs(letter: dict[str, Any]) -> Iterator[bool]:
    """Yield whether each field that the letter cites belongs to the statement in it."""
    commitment = json.loads(base64.b64decode(letter["envelope"]["payload"]))["predicate"]["fields"]
    for proof in letter["field_proofs"]:
        shown = Disclosure(
            leaf=(proof["path"], proof["scalar"]),
            salt=bytes.fromhex(proof["salt"]),
            index=proof["index"],
            audit_path=tuple(bytes.fromhex(node) for node in proof["audit_path"]),
        )
        yield shown.verifies(root=bytes.fromhex(commitment["root"]), count=commitment["count"])


def _digest(document: Any) -> str:
    return hashlib.sha256(strict_json.canonical(document)).hexdigest()
