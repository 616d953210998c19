"""Human reconsiderations: each is a sealed record of its own, linked to what it reconsiders.

`rationale` and the references in `evidence_considered` enter as salted commitments. The texts live in the arguments of
these functions alone: they are not stored, logged, queued or repeated.
"""

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import structlog
from django.db import DatabaseError
from django.utils import timezone

from accounts import audit
from accounts.audit import Actor
from config.api import strict_json
from config.api.strict_json import spelling
from config.api.times import rfc3339
from custody import sealing
from custody import selectors as custody
from custody.keys import keyring
from custody.models import Entry
from custody.record_types import Indexing
from custody.services import Status, Submission, Taken, take
from decisions import commitments, records
from decisions.models import Decision
from decisions.selectors import record_of

log = structlog.get_logger("decisions")

KIND = "reconsideration"


class NotAReconsideration(Exception):
    """The record named is a decision, which has no rationale to check."""


class OtherReview(Exception):
    """What is in custody under this key is another review."""


class AlreadyRecorded(Exception):
    """A reconsideration with this key is in custody. Nothing was added."""

    def __init__(self, record_id: uuid.UUID) -> None:
        super().__init__(str(record_id))
        self.record_id = record_id


@dataclass(frozen=True, slots=True)
class Review:
    """What a reviewer decided. The two texts are left out of its printed form, so that no log or report shows them."""

    requested_by: str
    reviewer: str
    reviewer_authority: str
    outcome: str
    rationale: str = field(repr=False)
    evidence_considered: Sequence[str] = field(default=(), repr=False)
    new_action: str | None = None


@dataclass(frozen=True, slots=True)
class Recorded:
    """A reconsideration in custody, with the commitments whose salts its answer gives out."""

    decision_id: str
    taken: Taken
    rationale: dict[str, str]
    evidence_considered: list[dict[str, str]]


def reconsider(
    *, decision: Decision, review: Review, source: str, actor: Actor, idempotency_key: uuid.UUID | None = None
) -> Recorded:
    """Record a reconsideration of a decision, or of an earlier reconsideration.

    The original stays as it is and stays verifiable; the new record's statement names the original's as its parent.

    Args:
        decision: with its custody row.
        source: where it came from, as lists filter it.
        idempotency_key: of a form or a client, so that sending it again records nothing again. Without it each call
            makes a record.

    Returns:
        The record and its commitments. It has no receipt yet if the vault does not answer now: then it waits, sealed,
        in our database, and the reconciler finishes it.

    Raises:
        AlreadyRecorded
        Fault: the organization's keys cannot be used, or the decision's row is damaged; nothing was recorded.
    """
    decision_id = f"reconsideration-{idempotency_key or uuid.uuid4()}"
    if idempotency_key:
        # The vault may not answer now, and then `take` cannot tell that what is there has other salts.
        before = Decision.objects.filter(
            organization_id=decision.organization_id, decision_id=decision_id, record__state=Entry.State.STORED
        ).first()
        if before:
            raise AlreadyRecorded(before.pk)
    rationale = commitments.commit(review.rationale)
    evidence = [commitments.commit(reference) for reference in review.evidence_considered]
    parent = custody.statement_digest(record_of(decision))
    payload = _payload(decision_id, decision, parent, review, rationale, evidence)
    (taken,) = take(
        organization_id=decision.organization_id,
        submissions=[
            Submission(
                kind=KIND,
                identity=decision_id,
                payload=payload,
                content=strict_json.read(payload, number=spelling, integer=spelling),
                source=source,
                parents=[parent],
            )
        ],
    )
    if taken.status is Status.CONFLICT or (idempotency_key and taken.fault and not _waits(taken, payload)):
        raise AlreadyRecorded(taken.record_id)  # the same key came at the same time, or what it recorded still waits
    try:
        audit.record(
            "decision.reconsidered",
            actor=actor,
            organization_id=decision.organization_id,
            object_kind="record",
            object_id=decision.pk,
            reconsideration=str(taken.record_id),
            outcome=review.outcome,
        )
    except DatabaseError as error:  # the record is in custody, and its salts are told now or never
        log.error("audit trail not written", reconsideration=str(taken.record_id), exc_info=error)
    return Recorded(decision_id, taken, rationale, evidence)


def idempotent_id(*, decision: Decision, actor: Actor, key: str) -> uuid.UUID:
    """The `idempotency_key` for what a caller calls `key`. It tells nobody the key, and lasts as long as the record."""
    name = "\0".join(["", "idempotency key", actor.kind, actor.id, decision.decision_id, key])  # no decision id has NUL
    drawn = sealing.reference(keyring(decision.organization_id), name)
    return uuid.UUID(bytes=drawn[:16], version=4)


def recorded(*, record_id: uuid.UUID, review: Review) -> Recorded:
    """What `reconsider` returned for a review that is in custody, the same salts and receipt.

    Raises:
        OtherReview
        Fault: the record cannot be read now.
    """
    row = Decision.objects.select_related("record").get(pk=record_id)
    found = custody.opened(row.record)
    content = json.loads(found.payload)
    rationale, evidence = content["rationale"], content["evidence_considered"]
    committed, texts = [rationale, *evidence], [review.rationale, *review.evidence_considered]
    same = len(committed) == len(texts) and all(map(commitments.matches, committed, texts))
    if not same or any(content.get(name) != value for name, value in _told(review).items()):
        raise OtherReview
    waits = row.record.state == Entry.State.RESERVED
    receipt = None if waits else custody.receipt_of(row.record, found.secrets.payload_salt)
    return Recorded(row.decision_id, Taken(Status.REPLAYED, record_id, receipt), rationale, evidence)


def _waits(taken: Taken, payload: bytes) -> bool:
    """Whether it is this record that waits for the vault. Raises Fault if nothing can be read that would tell."""
    return custody.opened(Entry.objects.get(pk=taken.record_id)).payload == payload


def check(
    *, decision: Decision, rationale: str | None, evidence_considered: Sequence[str]
) -> tuple[bool | None, list[bool]]:
    """Whether texts that the customer presents are the ones committed to. Nothing of them is kept.

    Returns:
        For the rationale, if one was given; and for each evidence reference, whether any of the record's is it.

    Raises:
        NotAReconsideration
        Fault: the record cannot be read.
    """
    if decision.kind != KIND:
        raise NotAReconsideration
    content = json.loads(custody.opened(record_of(decision)).payload)
    committed = content["evidence_considered"]
    return (
        None if rationale is None else commitments.matches(content["rationale"], rationale),
        [_is_any_of(committed, text) for text in evidence_considered],
    )


def _is_any_of(committed: Sequence[dict[str, str]], text: str) -> bool:
    return any(commitments.matches(each, text) for each in committed)


def index_row(record: Indexing) -> Decision:
    """The index row of a reconsideration: a decision's, with its place in the chain and who reviewed."""
    row = records.index_row(record)
    link = record.content["reconsiders"]
    row.reconsiders_id = uuid.UUID(link["record_id"])
    row.first_id = uuid.UUID(link["first_record_id"])
    row.review_outcome = record.content["outcome"]["result"]
    row.reviewer = records.text(record.content, "approval", "approver")
    row.reviewer_authority = records.text(record.content, "approval", "authority")
    return row


def _payload(
    decision_id: str,
    decision: Decision,
    parent: bytes,
    review: Review,
    rationale: dict[str, str],
    evidence: list[dict[str, str]],
) -> bytes:
    """The record itself, in the profile that every decision record has."""
    document: dict[str, Any] = {
        "decision_id": decision_id,
        "decided_at": rfc3339(timezone.now()),
        "reconsiders": {
            "decision_id": decision.decision_id,
            "record_id": str(decision.pk),
            "statement_sha256": parent.hex(),
            "first_record_id": str(decision.first_id or decision.pk),
        },
        **_told(review),
        "rationale": rationale,
        "evidence_considered": evidence,
    }
    return json.dumps(document, ensure_ascii=False).encode()


def _told(review: Review) -> dict[str, Any]:
    """What the record says of a review in plain words."""
    outcome = {"result": review.outcome}
    if review.new_action is not None:
        outcome["action"] = review.new_action
    return {
        "requested_by": review.requested_by,
        "outcome": outcome,
        "approval": {"approver": review.reviewer, "authority": review.reviewer_authority},
    }
