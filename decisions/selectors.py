import json
import uuid
from collections.abc import Collection, Sequence

from django.db.models import Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from config import db
from config.errors import DomainError, NotFound
from custody import selectors as custody
from custody.models import Disposal, Entry
from custody.sealing.sealer import Damaged
from custody.selectors import Disposed, DisposedConflict
from decisions import commitments, records, review_records
from decisions.commitments import Commitment
from decisions.models import Decision
from decisions.review_records import Review, ReviewRecord
from decisions.schemas import DecisionQuery

ROOT = Coalesce("first", "pk")
"""The decision at the start of the chain that a decision or reconsideration belongs to."""
_FILTERS = {
    "action": "action",
    "system": "system_name",
    "source": "source",
    "received_from": "received_at__gte",
    "received_to": "received_at__lt",
    "decided_from": "decided_at__gte",
    "decided_to": "decided_at__lt",
}


class DecisionNotFound(NotFound):
    """The organization has no record of this decision id."""

    code = "decision_not_found"
    sentence = "There is no decision of this id in your organization."


class NotAReconsideration(DomainError):
    """The named record is a decision, which has no rationale to check."""

    code = "not_a_reconsideration"
    sentence = "This record is a decision, not a reconsideration: name the reconsideration's own decision_id."


def decisions(organization_id: uuid.UUID, query: DecisionQuery) -> QuerySet[Decision]:
    """Return the organization's decisions that match a query's filters."""
    filters = query.model_dump(include=set(_FILTERS), exclude_none=True)
    rows = Decision.objects.for_organization(organization_id).select_related("record").with_current()
    rows = rows.filter(**{_FILTERS[name]: value for name, value in filters.items()})
    return of_kind(rows, query.kind) if query.kind else rows


def of_kind(rows: QuerySet[Decision], kind: str) -> QuerySet[Decision]:
    """Filter rows by kind. Reconsiderations are found by their chain, which has a separate index."""
    return rows.filter(first__isnull=False) if kind == review_records.KIND else rows.filter(kind=kind)


def decision(organization_id: uuid.UUID, decision_id: str) -> Decision:
    """Return a decision of the organization with its custody row.

    Raises:
        Disposed: the record of this id was disposed of.
        DecisionNotFound: there never was a record of this id.
        KeyMissing: the organization's keys are not in place.
    """
    if "\x00" in decision_id:  # no decision id has NUL, but the identities of other records begin with it
        raise DecisionNotFound
    rows = Decision.objects.for_organization(organization_id).select_related("record", "reconsiders")
    row = db.only(rows.filter(pk=custody.record_id(organization_id, decision_id)))
    if row is None:
        if disposal := disposals(organization_id, [decision_id]).get(decision_id):
            raise Disposed(disposal)
        raise DecisionNotFound
    return row


def disposals(organization_id: uuid.UUID, decision_ids: Collection[str]) -> dict[str, Disposal]:
    """Return the disposals of those decision ids whose records were disposed of. The index no longer has these ids."""
    return custody.disposals_of(organization_id, decision_ids, (records.KIND, review_records.KIND))


def prevent_disposal(decision: Decision) -> None:
    """Lock a decision against disposal until the transaction ends. Call this in every transaction that adds to its
    family.

    Raises:
        DisposedConflict: the decision was disposed of.
    """
    rows = Decision.with_disposed.for_organization(decision.organization_id)
    # A reconsideration refers to both rows. Lock them in the order of a disposal.
    chain = rows.filter(pk__in=[decision.pk, decision.first_id or decision.pk]).order_by("pk")
    if not all(chain.select_for_update(no_key=True).values_list("decision_id", flat=True)):
        raise DisposedConflict(custody.disposal_of(decision.organization_id, decision.pk))


def record_of(decision: Decision) -> Entry:
    """Return the custody row of an index row, after comparing the two. Reading the record checks the custody row.

    Raises:
        Disposed
        Damaged: the index row points to another record, or was changed.
    """
    record = decision.record
    custody.require_kept(record)
    indexed = (decision.organization_id, decision.kind, decision.received_at)
    if indexed != (record.organization_id, record.kind, record.received_at):
        raise Damaged(because="the index row says something else than the custody row")
    if not custody.identifies(decision.decision_id, record):
        raise Damaged(because="the index row names another record")
    return record


def history(decision: Decision) -> list[Decision]:
    """Return the reconsiderations in the chain of a decision or reconsideration, oldest first."""
    if decision.chain is not None:
        return decision.chain
    rows = Decision.objects.for_organization(decision.organization_id).filter(first_id=decision.first_id or decision.pk)
    return list(rows.select_related("record", "reconsiders", "first").order_by("received_at", "pk"))


def with_chain(rows: QuerySet[Decision], record_id: uuid.UUID) -> Decision | None:
    """Return one of the rows with its chain and their custody rows, all in one query."""
    rows = rows.order_by()  # an order by time would lead SQLite to read all rows by that index
    root = Subquery(rows.filter(pk=record_id).values(root=ROOT))
    family = {row.pk: row for row in rows.filter(Q(pk=root) | Q(first=root)).select_related("record")}
    reviews = sorted((row for row in family.values() if row.first_id), key=lambda row: (row.received_at, row.pk))
    for row in reviews:
        row.first, row.reconsiders = family[row.first_id], family[row.reconsiders_id]
    decision = family.get(record_id)
    if decision:
        decision.chain = reviews
    return decision


def review_record(organization_id: uuid.UUID, record_id: uuid.UUID, review: Review) -> ReviewRecord | None:
    """Return the result of `reconsider` for a review in custody, with the same salts and receipt; None if the record is
    of another review.

    Raises:
        Fault: the record cannot be read now.
    """
    row = Decision.objects.for_organization(organization_id).select_related("record").get(pk=record_id)
    opened = custody.opened(row.record)
    content = json.loads(opened.payload)
    if not review_records.is_record_of(content, review):
        return None
    is_stored = row.record.state == Entry.State.STORED
    receipt = custody.receipt_of(row.record, opened.secrets.payload_salt) if is_stored else None
    return ReviewRecord(row.decision_id, record_id, receipt, content["rationale"], content["evidence_considered"])


def check_texts(
    decision: Decision, *, rationale: str | None, evidence_considered: Sequence[str]
) -> tuple[bool | None, list[bool]]:
    """Compare the customer's texts with the commitments of a reconsideration. The texts are not stored.

    Returns:
        Whether the rationale matches, None if none was given; and for each evidence reference, whether a commitment
        of the record matches it.

    Raises:
        NotAReconsideration
        Fault: the record cannot be read.
    """
    if decision.kind != review_records.KIND:
        raise NotAReconsideration
    content = json.loads(custody.opened(record_of(decision)).payload)
    return (
        None if rationale is None else commitments.matches(content["rationale"], rationale),
        [_is_among(content["evidence_considered"], text) for text in evidence_considered],
    )


def _is_among(committed: Sequence[Commitment], text: str) -> bool:
    return any(commitments.matches(commitment, text) for commitment in committed)
