"""Check of what is kept about a sealed notice: its revisions, and what its letter proves."""

import base64
import hashlib
import json
from collections.abc import Iterator
from typing import Any

from config.api import strict_json
from custody.fields import Disclosure
from custody.models import Entry
from notices.models import Approval, NoticeRevision, SealedNotice


def inspect(entry: Entry, payload: bytes) -> Iterator[str]:
    """Yield what differs from the sealed record."""
    record = json.loads(payload)
    letter = record["letter"]
    if _digest(letter) != record["letter_digest"]:
        yield "The letter is not the one of its digest."
    if not all(_proofs(letter)):
        yield "A field that the letter cites is not proved."
    sealed = SealedNotice.objects.for_organization(entry.organization_id).get(pk=entry.pk)
    because = "of one notice, which is the organization's"
    revisions = NoticeRevision.objects.unscoped(because).filter(notice=sealed.notice_id)
    for revision in revisions.order_by("number").iterator(chunk_size=10):
        if _digest(revision.content) != revision.digest:
            yield f"Revision {revision.number} is not the one of its digest."
    approval = Approval.objects.unscoped(because).select_related("revision").get(notice=sealed.notice_id)
    approved = {"number": approval.revision.number, "digest": approval.revision.digest}
    if (approved, approval.revision.content) != (record["revision"], letter["content"]):
        yield "The approved revision is not what was sealed."
    if (approval.approver, approval.authority) != (record["approval"]["approver"], record["approval"]["authority"]):
        yield "The approval is not what was sealed."


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
