"""Human reviews as records: what a reconsideration says in plain words, and what it commits to.

`rationale` and the references in `evidence_considered` enter as salted commitments. The texts live in the arguments of
these functions alone: they are not stored, logged, queued or repeated.
"""

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone

from accounts.audit import Actor
from config.http.timestamps import rfc3339
from custody import sealing
from custody.keys import keyring
from custody.record_types import Indexing
from custody.selectors import Receipt
from decisions import commitments, records
from decisions.commitments import Commitment
from decisions.models import Decision

KIND = "reconsideration"
USUAL_OUTCOMES = ("upheld", "overturned", "modified")


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
class ReviewRecord:
    """A review in custody, with the commitments whose salts go to whoever sent the texts. It has no receipt while it
    waits, sealed, for a vault that does not answer."""

    decision_id: str
    record_id: uuid.UUID
    receipt: Receipt | None
    rationale: Commitment
    evidence_considered: list[Commitment]


def payload(
    decision_id: str,
    decision: Decision,
    parent: bytes,
    review: Review,
    rationale: Commitment,
    evidence_considered: Sequence[Commitment],
) -> bytes:
    """The record of a review, in the profile that every decision record has.

    Args:
        decision_id: the record's own.
        decision: what was reconsidered.
        parent: the digest of its statement.
        rationale, evidence_considered: the commitments to the review's texts.
    """
    document: dict[str, Any] = {
        "decision_id": decision_id,
        "decided_at": rfc3339(timezone.now()),
        "reconsiders": {
            "decision_id": decision.decision_id,
            "record_id": str(decision.pk),
            "statement_sha256": parent.hex(),
            "first_record_id": str(decision.first_id or decision.pk),
        },
        **_plain(review),
        "rationale": rationale,
        "evidence_considered": evidence_considered,
    }
    return json.dumps(document, ensure_ascii=False).encode()


def _plain(review: Review) -> dict[str, Any]:
    """What the record says of a review in plain words."""
    outcome = {"result": review.outcome}
    if review.new_action is not None:
        outcome["action"] = review.new_action
    return {
        "requested_by": review.requested_by,
        "outcome": outcome,
        "approval": {"approver": review.reviewer, "authority": review.reviewer_authority},
    }


def is_of(content: Mapping[str, Any], review: Review) -> bool:
    """Whether a record's content is what `payload` made of this very review."""
    committed = [content["rationale"], *content["evidence_considered"]]
    texts = [review.rationale, *review.evidence_considered]
    return (
        len(committed) == len(texts)
        and all(map(commitments.matches, committed, texts))
        and all(content.get(name) == value for name, value in _plain(review).items())
    )


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


def idempotency_id(decision: Decision, actor: Actor, key: str) -> uuid.UUID:
    """What the Idempotency-Key of a client names a review by. It tells nobody the key, and lasts as long as the
    record."""
    name = "\0".join(["", "idempotency key", actor.kind, actor.id, decision.decision_id, key])  # no decision id has NUL
    drawn = sealing.reference(keyring(decision.organization_id), name)
    return uuid.UUID(bytes=drawn[:16], version=4)
