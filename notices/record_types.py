"""Notices as a type of record. Their drafts, deliveries and review requests are disposed of with the sealed record."""

import re
import uuid
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from django.db.models import BooleanField, Exists, ExpressionWrapper, F, Max, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce, Greatest

from config import db
from config.http.timestamps import rfc3339
from custody.models import Entry
from custody.record_types import Families, Floor, Page, RecordType
from decisions.record_types import chains, root_of
from notices import erasing, inspecting, readable_notices
from notices.appeals import open_appeals
from notices.models import Approval, Delivery, Notice, NoticeRevision, ReviewRequest, SealedNotice, Step
from notices.packs import packs
from notices.services import restoring, sealing

_MOMENTS = (
    "created_at",
    "revisions__created_at",
    "approval__created_at",
    "deliveries__delivered_at",
    "review_requests__received_at",
    "review_requests__told_at",
    "review_requests__closed_at",
)


_ROOT = Coalesce("decision__first", "decision")
_NUMBER = re.compile("0|[1-9][0-9]{0,17}")


def _notices(families: Families) -> QuerySet[Notice]:
    rows = Notice.objects.for_organization(families.organization_id).filter(decision__in=chains(families))
    return rows.order_by("created_at", "pk")


def _root(entry: Entry) -> uuid.UUID:
    sealed = SealedNotice.objects.for_organization(entry.organization_id).select_related("notice").get(pk=entry.pk)
    return root_of(entry.organization_id, sealed.notice.decision_id)


def _members(families: Families) -> Iterable[tuple[uuid.UUID, uuid.UUID]]:
    rows = _notices(families).filter(sealed__isnull=False).order_by("sealed__record__received_at", "sealed")
    return rows.values_list(_ROOT, "sealed__record_id")


def _periods(families: Families) -> QuerySet[Notice, Any]:
    """Return the time of the last event of each family's notices and review requests, for each pack of its notices."""
    latest = Greatest(*(Max(Coalesce(moment, "created_at")) for moment in _MOMENTS))
    rows = _notices(families).order_by().values(root=_ROOT, source=F("pack")).annotate(at=latest)
    return rows.values_list("root", "at", "source")


def floor_of(pack_id: str) -> Floor | None:
    """Return how long a pack's law requires to retain a decision with a notice under it."""
    pack = packs().get(pack_id)
    if pack is None or not pack.retention_days:
        return None
    (source,) = (row for row in pack.sources if row.id == pack.retention_source)
    return Floor(pack.retention_days, pack.id, source.citation, pack.short_name)


def _all_floors() -> Iterator[Floor]:
    yield from filter(None, map(floor_of, packs()))


@cache
def _unfinished() -> dict[str, ExpressionWrapper]:
    """Return each obstacle to a disposal with its condition on a notice. Cached, because building takes longer than
    the query."""
    mailed = Delivery.objects.unscoped("those of one notice").filter(notice=OuterRef("pk"), handled_at=None)
    requests = ReviewRequest.objects.unscoped("those of one notice").filter(notice=OuterRef("pk"))
    conditions = {
        "A notice about it is neither delivered nor withdrawn.": Q(state__in=Notice.UNSENT),
        "A letter about it is still to be mailed.": Q(Exists(mailed)),
        "A person who asked for a review of it waits for an answer.": Q(Exists(requests.waiting())),
        "A person who asked for a review of it is still to be told the outcome.": Q(Exists(requests.to_be_told())),
    }
    return {sentence: ExpressionWrapper(condition, BooleanField()) for sentence, condition in conditions.items()}


def _obstacles(families: Families) -> Iterator[tuple[uuid.UUID, str]]:
    notices = _notices(families).order_by().annotate(root=_ROOT)
    if not notices.exists():  # most decisions have none, and building the query below takes several times as long
        return
    holding = {f"holds_{number}": condition for number, condition in enumerate(_unfinished().values())}
    rows = list(notices.annotate(**holding).values_list("root", *holding).distinct())
    for number, sentence in enumerate(_unfinished(), start=1):
        for root in {row[0] for row in rows if row[number]}:
            yield root, sentence
    for notice, sentence in open_appeals(notices):
        yield notice.decision.first_id or notice.decision_id, sentence


def _lock(families: Families) -> None:
    list(_notices(families).order_by("pk").select_for_update(of=("self",)).values_list("pk"))


def _families_about(organization_id: uuid.UUID, reference: str) -> set[uuid.UUID]:
    """Return the families with a notice to this reference. In a free-form recipient, digits may be a number."""
    spelled: list[Any] = [reference, *([int(reference)] if _NUMBER.fullmatch(reference) else [])]
    notices = Notice.objects.for_organization(organization_id).filter(recipient__reference__in=spelled)
    return set(notices.values_list(_ROOT, flat=True))


def _exported(notice: Notice) -> dict[str, Any]:
    return {
        "notice_id": str(notice.pk),
        "state": notice.state,
        "created_at": rfc3339(notice.created_at),
        "language": notice.language,
        "recipient": notice.recipient,
        "revisions": [_revision(row) for row in notice.revisions.order_by("number")],
        "steps": [_step(row) for row in notice.steps.order_by("pk")],
        "approval": _approval(notice),
        "deliveries": [_delivery(row) for row in notice.deliveries.order_by("pk")],
        "review_requests": [_request(row) for row in notice.review_requests.order_by("pk")],
    }


def _revision(revision: NoticeRevision) -> dict[str, Any]:
    return {
        "number": revision.number,
        "created_at": rfc3339(revision.created_at),
        "content": revision.content,
        "cited": revision.cited,
        "not_applicable": revision.not_applicable,
    }


def _step(step: Step) -> dict[str, Any]:
    return {"kind": step.kind, "reason": step.reason, "created_at": rfc3339(step.created_at)}


def _approval(notice: Notice) -> dict[str, Any] | None:
    row = db.only(Approval.objects.for_organization(notice.organization_id).filter(notice=notice))
    if row is None:
        return None
    return {"authority": row.authority, "comment": row.comment, "created_at": rfc3339(row.created_at)}


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
        "told_at": rfc3339(request.told_at),
        "closed_at": rfc3339(request.closed_at),
        "closed_because": request.closed_because,
    }


NOTICE = RecordType(
    name=sealing.KIND,
    index_row=sealing.index_row,
    index=SealedNotice,
    page=Page(Notice, "sealed__record"),
    root=_root,
    members=_members,
    periods=_periods,
    all_floors=_all_floors,
    obstacles=_obstacles,
    lock=_lock,
    erase=lambda families: erasing.erase(_notices(families)),
    export=lambda families: map(_exported, _notices(families)),
    readable=readable_notices.notice,
    families_about=_families_about,
    parents=lambda content: [uuid.UUID(content["about"]["record_id"])],
    restore=restoring.restore,
    inspect=inspecting.inspect,
    unsealed=inspecting.unsealed,
)
