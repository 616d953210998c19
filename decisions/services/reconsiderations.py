"""Human reconsiderations: each is a separate sealed record, linked to the record it reconsiders."""

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
from decisions import commitments, review_records
from decisions.commitments import Commitment
from decisions.models import Decision
from decisions.review_records import Review, ReviewRecord
from decisions.selectors import prevent_disposal, record_of


class AlreadyRecorded(DomainError):
    """A reconsideration with this key is already in custody, as the record `record_id`. Nothing was added."""

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

    The original does not change and stays verifiable. The new record's statement names the original's as its parent.
    The record and its audit event commit together.

    Args:
        decision: with its custody row.
        source: the origin of the review, as lists filter it.
        idempotency_key: of a form or a client. A second call with the same key records nothing. Without a key, each
            call makes a record.

    Returns:
        The record and its commitments. If the vault does not answer, there is no receipt: the sealed record waits in
        our database for the reconciler.

    Raises:
        AlreadyRecorded
        DisposedConflict: the decision, or an earlier reconsideration with this key, was disposed of.
        Fault: the organization's keys cannot be used, or the decision's row is damaged; nothing was recorded.
    """
    decision_id = f"reconsideration-{idempotency_key or uuid.uuid4()}"
    if idempotency_key:
        _require_new(caller, decision_id)
    rationale = commitments.commit(review.rationale)
    evidence = [commitments.commit(reference) for reference in review.evidence_considered]
    submission = _submission(decision_id, decision, review, rationale, evidence, source)

    def record_event(record_id: uuid.UUID) -> None:
        prevent_disposal(decision)
        audit.record(
            "decision.reconsidered",
            actor=caller.actor,
            organization_id=caller.organization_id,
            object_kind="record",
            object_id=decision.pk,
            reconsideration=str(record_id),
            # Another word may be personal data, and the audit trail is permanent.
            outcome=review.outcome if review.outcome in review_records.USUAL_OUTCOMES else "other",
        )

    (result,) = store_records(organization_id=caller.organization_id, submissions=[submission], on_insert=record_event)
    if result.status is Status.DISPOSED and result.fault:
        raise result.fault
    if result.status is Status.CONFLICT or (
        idempotency_key and result.fault and not _is_waiting(caller, result.record_id, submission)
    ):
        raise AlreadyRecorded(result.record_id)  # another request with this key ran at once, or its record still waits
    return ReviewRecord(decision_id, result.record_id, result.receipt, rationale, evidence)


def _require_new(caller: Caller, decision_id: str) -> None:
    """Raise AlreadyRecorded if the record is stored. `store_records` cannot see this while the vault does not answer:
    the salts of the new record differ."""
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
    payload = review_records.payload(decision_id, decision, parent, review, rationale, evidence)
    content = strict_json.read(payload, number=spelling, integer=spelling)
    return Submission(review_records.KIND, decision_id, payload, content, source, parents=[parent])


def _is_waiting(caller: Caller, record_id: uuid.UUID, submission: Submission) -> bool:
    """Whether the record that waits for the vault is this submission. Raises Fault if the record cannot be read."""
    rows = Decision.objects.for_organization(caller.organization_id).select_related("record")
    return custody.opened(rows.get(pk=record_id).record).payload == submission.payload
