"""Types of record: decisions and reconsiderations."""

import uuid
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from typing import Any

from django.db.models import Max, Q, QuerySet, Value
from django.db.models.functions import Coalesce

from config.errors import DomainError
from config.http.timestamps import rfc3339
from custody import selectors as custody
from custody.record_types import Families, Page, RecordType
from decisions import readable_decisions, records, review_records
from decisions.erasing import erase
from decisions.models import Decision
from decisions.selectors import ROOT, record_of

_PAGE = 1000
_INDEXED = (
    "action", "system_name", "system_version", "subject_reference", "review_outcome", "reviewer", "reviewer_authority",
)  # fmt: skip


def root_of(organization_id: uuid.UUID, record_id: uuid.UUID) -> uuid.UUID:
    row = Decision.with_disposed.for_organization(organization_id).get(pk=record_id)
    root: uuid.UUID = row.first_id or row.pk
    return root


def chains(families: Families) -> QuerySet[Decision]:
    """Return the decisions and reconsiderations of families."""
    rows = Decision.objects.for_organization(families.organization_id)
    return rows.filter(Q(pk__in=families.roots) | Q(first__in=families.roots))


def _record_type(name: str, index_row: Callable[..., Decision], **more: Any) -> RecordType:
    def rows(families: Families) -> QuerySet[Decision]:
        return chains(families).filter(kind=name)

    def families_about(organization_id: uuid.UUID, reference: str) -> set[uuid.UUID]:
        about = Decision.objects.for_organization(organization_id).filter(kind=name, subject_reference=reference)
        return set(about.values_list(ROOT, flat=True))

    return RecordType(
        name=name,
        ids_of_callers=True,
        index_row=index_row,
        index=Decision,
        page=Page(Decision),
        root=lambda entry: root_of(entry.organization_id, entry.pk),
        members=lambda families: rows(families).order_by("received_at", "pk").values_list(ROOT, "pk"),
        export=lambda families: map(_exported, rows(families).select_related("record").order_by("received_at", "pk")),
        readable=partial(readable_decisions.decision, is_review=name == review_records.KIND),
        families_about=families_about,
        **more,
    )


def _periods(families: Families) -> QuerySet[Decision, Any]:
    """Return each family's root with the time of its latest decision, or its receipt if the record has no time."""
    latest = Max(Coalesce("decided_at", "received_at"))
    return chains(families).order_by().values(root=ROOT).annotate(at=latest).values_list("root", "at", Value(""))


def _candidates(organization_id: uuid.UUID, before: datetime, after: uuid.UUID) -> Iterator[uuid.UUID]:
    rows = Decision.objects.for_organization(organization_id).filter(first=None)
    old = rows.filter(Q(decided_at__lt=before) | Q(decided_at=None, received_at__lt=before))
    while page := list(old.filter(pk__gt=after).order_by("pk").values_list("pk", flat=True)[:_PAGE]):
        yield from page
        after = page[-1]


def _lock(families: Families) -> None:
    """Lock the rows of chains. A transaction that adds to a chain refers to these rows, so it waits."""
    list(chains(families).order_by("pk").select_for_update().values_list("pk"))


def _exported(row: Decision) -> dict[str, Any]:
    """Return a row with its record byte for byte. If the record cannot be read, the index columns replace it."""
    summary = {
        "decision_id": row.decision_id,
        "record_id": str(row.pk),
        "received_at": rfc3339(row.received_at),
        "source": row.source,
    }
    try:
        return {**summary, "record": custody.opened(record_of(row)).payload.decode()}
    except DomainError as error:
        columns = {name: getattr(row, name) for name in _INDEXED}
        return {**summary, "decided_at": rfc3339(row.decided_at), **columns, "record": None, "missing": error.sentence}


DECISION = _record_type(
    records.KIND,
    records.index_row,
    periods=_periods,
    candidates=_candidates,
    lock=_lock,
    erase=lambda families: erase(chains(families)),
)
RECONSIDERATION = _record_type(
    review_records.KIND,
    review_records.index_row,
    parents=lambda content: [uuid.UUID(content["reconsiders"]["record_id"])],
)
