"""Human reconsiderations: each is a sealed record of its own, linked to what it reconsiders."""

import uuid

from accounts import audit
from accounts.authority import requires
from accounts.callers import Caller
from accounts.roles import Permission
from config import db
from config.errors import DomainError
from config.http import strict_json
from config.http.strict_json import spelling
from custody import selectors as custody
from custody.models import Entry
from custody.services import Status, Submission, store_records
from decisions import commitments, reviews
from decisions.commitments import Commitment
from decisions.models import Decision
from decisions.reviews import Review, ReviewRecord
from decisions.selectors import record_of, require_kept


class AlreadyRecorded(DomainError):
    """A reconsideration with this key is in custody, as the record `record_id`. Nothing was added."""

    code = "already_recorded"
    sentence = "This review is recorded already, and was not recorded again."

    def __init__(self, record_id: uuid.UUID) -> None:
        super().__init__()
        self.record_id = record_id


@requires(Permission.RECONSIDER)
def reconsider(
    *, caller: Caller, decision: Decision, review: Review, source: str, idempotency_key: uuid.UUID | None = None
) -> ReviewRecord:
    """Record a reconsideration of a decision, or of an earlier reconsideration.

    The original stays as it is and stays verifiable; the new record's statement names the original's as its parent.
    Record and audit event commit together.

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
        DisposedConflict: the decision was disposed of, or an earlier reconsideration with this key.
        Fault: the organization's keys cannot be used, or the decision's row is damaged; nothing was recorded.
    """
    decision_id = f"reconsideration-{idempotency_key or uuid.uuid4()}"
    if idempotency_key:
        _require_new(caller, decision_id)
    rationale = commitments.commit(review.rationale)
    evidence = [commitments.commit(reference) for reference in review.evidence_considered]
    submission = _submission(decision_id, decision, review, rationale, evidence, source)

    def record_event(record_id: uuid.UUID) -> None:
        require_kept(decision)
        audit.record(
            "decision.reconsidered",
            actor=caller.actor,
            organization_id=caller.organization_id,
            object_kind="record",
            object_id=decision.pk,
            reconsideration=str(record_id),
            # Another word may be anything, and what stands in the audit trail stands there for good.
            outcome=review.outcome if review.outcome in reviews.USUAL_OUTCOMES else "other",
        )

    (result,) = store_records(organization_id=caller.organization_id, submissions=[submission], on_insert=record_event)
    if result.status is Status.DISPOSED and result.fault:
        raise result.fault
    if result.status is Status.CONFLICT or (
        idempotency_key and result.fault and not _is_waiting(caller, result.record_id, submission)
    ):
        raise AlreadyRecorded(result.record_id)  # the same key came at the same time, or what it recorded still waits
    return ReviewRecord(decision_id, result.record_id, result.receipt, rationale, evidence)


def _require_new(caller: Caller, decision_id: str) -> None:
    """The vault may not answer now, and then `store_records` cannot tell that what is there has other salts."""
    rows = Decision.objects.for_organization(caller.organization_id)
    pk = custody.record_id(caller.organization_id, decision_id)
    earlier = db.only(rows.filter(pk=pk, record__state=Entry.State.STORED))
    if earlier:
        raise AlreadyRecorded(earlier.pk)


def _submission(
    decision_id: str,
    decision: Decision,
    review: Review,
    rationale: Commitment,
    evidence: list[Commitment],
    source: str,
) -> Submission:
    parent = custody.statement_digest(record_of(decision))
    payload = reviews.payload(decision_id, decision, parent, review, rationale, evidence)
    content = strict_json.read(payload, number=spelling, integer=spelling)
    return Submission(reviews.KIND, decision_id, payload, content, source, parents=[parent])


def _is_waiting(caller: Caller, record_id: uuid.UUID, submission: Submission) -> bool:
    """Whether it is this record that waits for the vault. Raises Fault if nothing can be read that would tell."""
    rows = Decision.objects.for_organization(caller.organization_id).select_related("record")
    return custody.opened(rows.get(pk=record_id).record).payload == submission.payload
