"""Notices as a type of record. What is kept about them besides the sealed record goes with it: drafts, deliveries,
requests for a review."""

import uuid
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db.models import Max, QuerySet
from django.db.models.functions import Coalesce

from config.api.times import rfc3339
from custody.models import Entry
from custody.record_types import Family, Page, RecordType
from decisions.record_types import chain, root_of
from notices.models import Delivery, Notice, NoticeRevision, ReviewRequest, SealedNotice
from notices.services import sealing

_MOMENTS = (
    "created_at",
    "revisions__created_at",
    "approval__created_at",
    "deliveries__delivered_at",
    "review_requests__received_at",
    "review_requests__closed_at",
)


def _notices(family: Family) -> QuerySet[Notice]:
    rows = Notice.objects.for_organization(family.organization_id).filter(decision__in=chain(family))
    return rows.order_by("created_at", "pk")


def _root(entry: Entry) -> uuid.UUID:
    sealed = SealedNotice.objects.for_organization(entry.organization_id).select_related("notice").get(pk=entry.pk)
    return root_of(entry.organization_id, sealed.notice.decision_id)


def _family(family: Family) -> QuerySet[SealedNotice, uuid.UUID]:
    sealed = SealedNotice.objects.for_organization(family.organization_id).filter(notice__in=_notices(family))
    return sealed.order_by("record__received_at", "pk").values_list("pk", flat=True)


def _counts_from(family: Family) -> datetime | None:
    """The last that happened to a notice about the decision, or to a request for a review."""
    latest = _notices(family).aggregate(**{str(n): Max(moment) for n, moment in enumerate(_MOMENTS)})
    return max((moment for moment in latest.values() if moment), default=None)


def _obstacles(family: Family) -> Iterator[str]:
    notices = _notices(family)
    if notices.filter(state__in=Notice.UNSENT).exists():
        yield "A notice about it is neither delivered nor withdrawn."
    if Delivery.objects.for_organization(family.organization_id).filter(notice__in=notices, handled_at=None).exists():
        yield "A letter about it is still to be mailed."
    requests = ReviewRequest.objects.for_organization(family.organization_id).filter(notice__in=notices)
    if requests.waiting().exists():
        yield "A person who asked for a review of it waits for an answer."


def _families_about(organization_id: uuid.UUID, reference: str) -> set[uuid.UUID]:
    notices = Notice.objects.for_organization(organization_id).filter(recipient__reference=reference)
    return set(notices.values_list(Coalesce("decision__first", "decision"), flat=True))


def _exported(notice: Notice) -> dict[str, Any]:
    return {
        "notice_id": str(notice.pk),
        "state": notice.state,
        "created_at": rfc3339(notice.created_at),
        "language": notice.language,
        "recipient": notice.recipient,
        "revisions": [_revision(each) for each in notice.revisions.order_by("number")],
        "deliveries": [_delivery(each) for each in notice.deliveries.order_by("pk")],
        "review_requests": [_request(each) for each in notice.review_requests.order_by("pk")],
    }


def _revision(revision: NoticeRevision) -> dict[str, Any]:
    return {
        "number": revision.number,
        "created_at": rfc3339(revision.created_at),
        "content": revision.content,
        "cited": revision.cited,
        "not_applicable": revision.not_applicable,
    }


def _delivery(delivery: Delivery) -> dict[str, Any]:
    return {
        "channel": delivery.channel,
        "address": delivery.address,
        "reference": delivery.reference,
        "created_at": rfc3339(delivery.created_at),
        "delivered_at": rfc3339(delivery.delivered_at),
        "returned_at": rfc3339(delivery.returned_at),
        "returned_because": delivery.returned_because,
    }


def _request(request: ReviewRequest) -> dict[str, Any]:
    return {
        "received_at": rfc3339(request.received_at),
        "message": request.message,
        "email": request.email,
        "due_at": rfc3339(request.due_at),
        "closed_at": rfc3339(request.closed_at),
        "closed_because": request.closed_because,
    }


NOTICE = RecordType(
    name=sealing.KIND,
    index_row=sealing.index_row,
    page=Page(Notice, "sealed__record"),
    root=_root,
    family=_family,
    counts_from=_counts_from,
    obstacles=_obstacles,
    export=lambda family: map(_exported, _notices(family)),
    families_about=_families_about,
)
