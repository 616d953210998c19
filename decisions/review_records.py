"""Records of human reviews: their plain fields and their commitments.

`rationale` and the references in `evidence_considered` enter as salted commitments. Only the arguments of these
functions hold the texts: they are not stored, logged, queued or repeated.
"""

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone

from accounts.audit import Actor
from config.http.timestamps import rfc3339
from custody.keys.keyrings import keyring
from custody.record_types import Indexing
from custody.sealing import sealer
from custody.selectors import Receipt
from decisions import commitments, records
from decisions.commitments import Commitment
from decisions.models import Decision

KIND = "reconsideration"
USUAL_OUTCOMES = ("upheld", "overturned", "modified")


@dataclass(frozen=True, slots=True)
class Review:
    """A reviewer's decision. Its `repr` omits the two texts, so that no log or report shows them."""

    requested_by: str
    reviewer: str
    reviewer_authority: str
    outcome: str
    rationale: str = field(repr=False)
    evidence_considered: Sequence[str] = field(default=(), repr=False)
    new_action: str | None = None


@dataclass(frozen=True, slots=True)
class ReviewRecord:
    """A review in custody, with its commitments: the sender of the texts receives their salts. Without a receipt, the
    sealed review waits for a vault that does not answer."""

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
    """Return the record of a review, in the profile of decision records.

    Args:
        decision_id: the id of the new record.
        decision: the reconsidered decision.
        parent: the digest of the decision's statement.
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
    """Return the plain fields of a review's record."""
    outcome = {"result": review.outcome}
    if review.new_action is not None:
        outcome["action"] = review.new_action
    return {
        "requested_by": review.requested_by,
        "outcome": outcome,
        "approval": {"approver": review.reviewer, "authority": review.reviewer_authority},
    }


def is_record_of(content: Mapping[str, Any], review: Review) -> bool:
    """Whether `payload` made a record's content from this review."""
    committed = [content["rationale"], *content["evidence_considered"]]
    texts = [review.rationale, *review.evidence_considered]
    return (
        len(committed) == len(texts)
        and all(map(commitments.matches, committed, texts))
        and all(content.get(name) == value for name, value in _plain(review).items())
    )


def index_row(record: Indexing) -> Decision:
    """Return the index row of a reconsideration: a decision's row, with the chain and the reviewer."""
    row = records.index_row(record)
    link = record.content["reconsiders"]
    row.reconsiders_id = uuid.UUID(link["record_id"])
    row.first_id = uuid.UUID(link["first_record_id"])
    row.review_outcome = record.content["outcome"]["result"]
    row.reviewer = records.text(record.content, "approval", "approver")
    row.reviewer_authority = records.text(record.content, "approval", "authority")
    return row


def idempotency_id(decision: Decision, actor: Actor, key: str) -> uuid.UUID:
    """Derive a review's id from the Idempotency-Key of a client. The id does not reveal the key, and lasts as long as
    the record."""
    name = "\0".join(["", "idempotency key", actor.kind, actor.id, decision.decision_id, key])  # no decision id has NUL
    drawn = sealer.reference(keyring(decision.organization_id), name)
    return uuid.UUID(bytes=drawn[:16], version=4)
