"""Decisions and reconsiderations as types of record."""

import uuid
from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db.models import Max, Q, QuerySet
from django.db.models.functions import Coalesce

from config.api.times import rfc3339
from custody import selectors as custody
from custody.record_types import Family, Page, RecordType
from decisions import records, reviews
from decisions.models import Decision
from decisions.selectors import record_of


def root_of(organization_id: uuid.UUID, record_id: uuid.UUID) -> uuid.UUID:
    """The decision at the start of the chain that a decision or reconsideration belongs to."""
    row = Decision.objects.for_organization(organization_id).get(pk=record_id)
    root: uuid.UUID = row.first_id or row.pk
    return root


def chain(family: Family) -> QuerySet[Decision]:
    """A decision and its reconsiderations."""
    rows = Decision.objects.for_organization(family.organization_id)
    return rows.filter(Q(pk=family.root) | Q(first=family.root))


def _record_type(name: str, index_row: Callable[..., Decision]) -> RecordType:
    def rows(family: Family) -> QuerySet[Decision]:
        return chain(family).filter(kind=name)

    def counts_from(family: Family) -> datetime | None:
        """The date of the decision, else when its record was received."""
        latest = rows(family).aggregate(at=Max(Coalesce("decided_at", "received_at")))["at"]
        return latest if isinstance(latest, datetime) else None

    def families_about(organization_id: uuid.UUID, reference: str) -> set[uuid.UUID]:
        about = Decision.objects.for_organization(organization_id).filter(kind=name, subject_reference=reference)
        return set(about.values_list(Coalesce("first", "pk"), flat=True))

    return RecordType(
        name=name,
        ids_of_callers=True,
        index_row=index_row,
        page=Page(Decision),
        root=lambda entry: root_of(entry.organization_id, entry.pk),
        family=lambda family: rows(family).order_by("received_at", "pk").values_list("pk", flat=True),
        counts_from=counts_from,
        obstacles=lambda family: (),
        export=lambda family: map(_exported, rows(family).select_related("record").order_by("received_at", "pk")),
        families_about=families_about,
    )


def _exported(row: Decision) -> dict[str, Any]:
    """With the record byte for byte, of which all other columns are parts."""
    return {
        "decision_id": row.decision_id,
        "record_id": str(row.pk),
        "received_at": rfc3339(row.received_at),
        "source": row.source,
        "record": custody.opened(record_of(row)).payload.decode(),
    }


DECISION = _record_type(records.KIND, records.index_row)
RECONSIDERATION = _record_type(reviews.KIND, reviews.index_row)
