import uuid
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import Http404
from django.utils import timezone

from config.api.times import rfc3339
from notices import checklist
from notices.models import Notice
from notices.packs import Pack, packs
from notices.schemas import NoticeQuery
from notices.services import facts_of

_FILTERS = {"state": "state", "pack": "pack", "decision_id": "decision__decision_id"}


def notices(organization_id: uuid.UUID, query: NoticeQuery) -> QuerySet[Notice]:
    """The organization's notices that match a query's filters."""
    asked = query.model_dump(include=set(_FILTERS), exclude_none=True)
    return Notice.objects.filter(
        organization_id=organization_id, **{_FILTERS[name]: value for name, value in asked.items()}
    ).select_related("decision")


def notice(organization_id: uuid.UUID, notice_id: str) -> Notice:
    """One notice of the organization. Raises Http404 for any other id."""
    rows = Notice.objects.select_related("decision__record", "decision__organization")
    try:
        return rows.get(organization_id=organization_id, pk=notice_id)
    except (Notice.DoesNotExist, ValidationError):
        raise Http404("There is no notice of this id in your organization.") from None


def pack_of(notice: Notice) -> Pack:
    """The pack a notice was drafted under."""
    return packs()[notice.pack]


def summary(notice: Notice) -> dict[str, Any]:
    """A notice as lists show it."""
    return {
        "notice_id": str(notice.pk),
        "decision_id": notice.decision.decision_id,
        "state": notice.state,
        "pack": notice.pack,
        "pack_version": notice.pack_version,
        "language": notice.language,
        "created_at": rfc3339(notice.created_at),
        "created_by": notice.created_by,
    }


def detail(notice: Notice) -> dict[str, Any]:
    """A notice with its current content, checklist and citations. Raises Fault if the record cannot be read."""
    revision = notice.revisions.order_by("-number")[0]
    facts = facts_of(notice.decision)
    approval = notice.approvals.filter(voided_at=None).select_related("revision").first()
    sealed = getattr(notice, "sealed", None)
    today = timezone.now().date()
    return {
        **summary(notice),
        "revision": revision.number,
        "content": revision.content,
        "elements": [i.as_json() for i in checklist.check(facts, pack_of(notice), revision.content, today)],
        "citations": [c.as_json() for c in checklist.citations(facts, revision.content, revision.cited)],
        "approval": approval
        and {
            "approver": approval.approver,
            "authority": approval.authority,
            "basis": approval.basis,
            "approved_at": rfc3339(approval.created_at),
            "revision": approval.revision.number,
        },
        "custody_record_id": str(sealed.pk) if sealed else None,
    }
