"""Sealing of approved notices in custody, with proofs of the cited fields."""

import base64
import hashlib
import uuid
from datetime import timedelta
from typing import Any

import structlog
from django.db.models import QuerySet

from accounts import token_hashing
from config import db, leases
from config.errors import Fault
from config.http import strict_json
from config.http.json_responses import dump
from config.http.strict_json import spelling
from config.http.timestamps import rfc3339
from config.leases import LeaseLost
from config.periodic import SLICE_SECONDS
from config.rests import Rests
from custody import selectors as custody
from custody.models import Entry
from custody.record_types import Indexing
from custody.sealing.envelope import envelope
from custody.selectors import Disposed
from custody.services import Status, Submission, recall, store_records
from decisions.models import MappingVersion
from decisions.selectors import prevent_disposal, record_of
from notices import checklist
from notices.errors import OtherWordsSealed
from notices.models import Approval, Notice, SealedNotice
from notices.record_paths import Facts

log = structlog.get_logger("notices")

KIND = "notice"
_LEASE = timedelta(minutes=1)
_rests = Rests()


def seal_approved(*, notice_id: uuid.UUID | None = None) -> int:
    """Seal the given approved notice, or for a slice all approved notices that were never sealed, as the scheduled task
    does. Organizations take turns, because a seal waits for its organization's storage.

    A sealed approval names its record. If that record is lost, `custody_fsck` reports damage, and the notice is not
    sealed a second time.

    Returns:
        How many notices were sealed. If the record of a notice cannot be read, a later run retries it.
    """
    if notice_id:
        return sum(map(_seal_claimed, leases.claim(_unsealed().filter(notice=notice_id), lasts=_LEASE)))
    owner = "notice__organization"
    return sum(map(_seal_claimed, _rests.claim_each(_unsealed(), owner=owner, lasts=_LEASE, seconds=SLICE_SECONDS)))


def seals_wait() -> bool:
    """Whether an approved notice could be sealed now."""
    return leases.due(_unsealed()).exists()


def _unsealed() -> QuerySet[Approval]:
    approvals = Approval.objects.unscoped("the clock seals the notices of every organization")
    waiting = approvals.filter(record_id=None, notice__disposed_at=None)
    return waiting.exclude(notice__decision__record__state=Entry.State.QUEUED)


def _seal_claimed(approval: Approval) -> bool:
    try:
        leases.complete(approval, record_id=_seal(_approved(approval)))
    except LeaseLost:  # sealing twice makes one record
        log.warning("another worker seals this notice", notice=str(approval.notice_id))
    except Disposed:  # nothing is left to seal
        log.info("a notice was disposed of", notice=str(approval.notice_id))
    except Fault as error:
        log.warning("an approved notice waits for custody", notice=str(approval.notice_id), exc_info=error)
        leases.fail(approval)
    else:
        return True
    return False


def _approved(approval: Approval) -> Notice:
    notices = Notice.with_disposed.unscoped("an approval that the clock found leads to it")
    return notices.select_related("organization", "decision__record", "approval__revision").get(pk=approval.notice_id)


def _seal(notice: Notice) -> uuid.UUID:
    """Seal a notice unless a vault already holds it. Return the id of its record."""
    # Earlier versions sealed a notice under its bare id. A database restored from before then lacks that record's row.
    recall(organization_id=notice.organization_id, identity=str(notice.pk))
    sealed = db.only(SealedNotice.objects.for_organization(notice.organization_id).filter(notice=notice))
    if sealed:
        return sealed.record_id
    payload = dump(_record(notice, notice.approval))
    submission = Submission(
        kind=KIND,
        identity=str(notice.pk),
        payload=payload,
        content=strict_json.read(payload, number=spelling, integer=spelling),
        source="notices",
        parents=[custody.statement_digest(record_of(notice.decision))],
    )

    def note_record(record_id: uuid.UUID) -> None:
        prevent_disposal(notice.decision)
        Approval.objects.for_organization(notice.organization_id).filter(notice=notice).update(record_id=record_id)

    (result,) = store_records(organization_id=notice.organization_id, submissions=[submission], on_insert=note_record)
    if result.status is Status.CONFLICT:  # an older database was restored: `selectors.letter` says what to do
        raise OtherWordsSealed
    return result.record_id


def index_row(record: Indexing) -> SealedNotice:
    """Return the index row of a sealed notice."""
    return SealedNotice(
        record_id=record.record_id,
        organization_id=record.organization_id,
        notice_id=uuid.UUID(record.content["notice_id"]),
        letter_digest=record.content["letter_digest"],
    )


def _record(notice: Notice, approval: Approval) -> dict[str, Any]:
    """Return the content to seal: the letter's proof file, and data that only the organization keeps.

    The content is deterministic, so that sealing again after a crash makes the same record.
    """
    letter = _letter(notice, approval)
    return {
        "decision_id": str(notice.pk),
        "notice_id": str(notice.pk),
        "about": {"decision_id": notice.decision.decision_id, "record_id": str(notice.decision_id)},
        "revision": {"number": approval.revision.number, "digest": approval.revision.digest},
        "not_applicable": approval.revision.not_applicable,
        "recipient": {"reference": notice.recipient.get("reference")},
        "approval": {
            "approver": approval.approver,
            "authority": approval.authority,
            "basis": approval.basis,
            "grant": approval.grant_id,
            "approved_at": rfc3339(approval.created_at),
            **({} if approval.words_named is None else {"words_named": approval.words_named}),
            **({} if approval.acknowledged is None else {"acknowledged": approval.acknowledged}),
            **({} if approval.open_warnings is None else {"open_warnings": approval.open_warnings}),
        },
        "review_code": _review_code(notice),
        "address": notice.address,
        "supersedes": str(notice.supersedes_id) if notice.supersedes_id else None,
        "letter": letter,
        "letter_digest": hashlib.sha256(strict_json.canonical(letter)).hexdigest(),
    }


def _letter(notice: Notice, approval: Approval) -> dict[str, Any]:
    """Return the letter's proof file: the approved words, and a proof of every cited field.

    Each proof is against the decision's signed statement. The file reveals no other field and no name.
    """
    content = approval.revision.content
    record = record_of(notice.decision)
    opened = custody.opened(record)
    facts = Facts(opened.payload)
    paths = {source: facts.find(source).path for source in checklist.sources(content)}
    proofs = custody.disclosures(opened, list(dict.fromkeys(paths.values())))
    return {
        "type": "decision-record-letter/1",
        "notice_id": str(notice.pk),
        "organization": notice.organization.name,
        **({} if approval.sender is None else {"sender": approval.sender}),
        **({} if approval.signatory is None else {"signatory": approval.signatory}),
        "approved_at": rfc3339(approval.created_at),
        "authority": approval.authority,
        "pack": {"id": notice.pack, "version": notice.pack_version, "digest": notice.pack_digest},
        **({"mapping": _mapping(notice.mapping)} if notice.mapping else {}),
        "content": content,
        "sources": paths,
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
        "envelope": envelope(bytes(record.statement), bytes(record.signature), record.key_id),
    }


def _review_code(notice: Notice) -> str:
    """Return the code in the letter that its reader needs to request a review: 40 bits, as XXXX-XXXX."""
    code = base64.b32encode(bytes.fromhex(token_hashing.digest("notices.review_code", str(notice.pk)))[:5]).decode()
    return f"{code[:4]}-{code[4:]}"


def _mapping(version: MappingVersion) -> dict[str, Any]:
    return {"name": version.mapping.name, "version": version.number, "digest": version.digest}
