"""The report on notices: timeliness and approvals. Disposed notices count, disposed requests for review do not."""

from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.back_office import Bar, Chart
from accounts.models import Organization
from notices.models import UNFINISHED, Approval, Delivery, Notice, ReviewRequest
from notices.packs import packs


def notices(organization: Organization, since: datetime | None = None) -> dict[str, Any]:
    """Return the context of the report page: a line for each pack, and charts.

    Args:
        since: counts the notices written and the requests received from then on. None counts all.
    """
    now = timezone.now()
    in_time = Exists(
        Delivery.objects.unscoped("those of each notice, which are its organization's").filter(
            notice=OuterRef("pk"), delivered_at__isnull=False, returned_at=None, delivered_at__lte=OuterRef("due_at")
        )
    )
    delivered, unsent = Q(state=Notice.State.DELIVERED), Q(state__in=Notice.UNSENT, disposed_at=None)
    rows = Notice.with_disposed.for_organization(organization)
    approvals = Approval.objects.for_organization(organization)
    if since:
        rows, approvals = rows.filter(created_at__gte=since), approvals.filter(notice__created_at__gte=since)
    counts = rows.values("pack").annotate(
        written=Count("pk"),
        delivered=Count("pk", filter=delivered),
        waiting=Count("pk", filter=unsent),
        late=Count("pk", filter=unsent & Q(due_at__lt=now)),
    )
    # A separate query, so that deliveries are read for delivered notices alone.
    too_late = rows.filter(delivered, ~in_time, due_at__isnull=False).values_list("pack").annotate(Count("pk"))
    delivered_late = dict(too_late.order_by())
    lines = [
        {**line, "name": packs()[line["pack"]].short_name, "delivered_late": delivered_late.get(line["pack"], 0)}
        for line in counts.order_by("pack")
    ]
    kinds = approvals.aggregate(
        granted=Count("pk", filter=Q(grant__isnull=False)),
        signed_in=Count("pk", filter=Q(grant=None, basis="signed in")),
        asserted=Count("pk", filter=Q(grant=None) & ~Q(basis="signed in")),
    )
    unverified = approvals.filter(grant=None, notice__disposed_at=None)
    unverified = unverified.select_related("notice__decision").order_by("-pk")[:50]
    return {
        "lines": lines,
        "charts": [_authority(kinds), _requests(organization, now, since)],
        "unverified": unverified,
    }


def _requests(organization: Organization, now: datetime, since: datetime | None) -> Chart:
    """Return the chart of requests for review whose decisions are not disposed of."""
    rows = ReviewRequest.objects.for_organization(organization)
    if since:
        rows = rows.filter(received_at__gte=since)
    late = Q(due_at__lt=Coalesce("told_at", "closed_at", now))
    counts = rows.aggregate(
        told=Count("pk", filter=Q(told_at__isnull=False) & ~late),
        told_late=Count("pk", filter=Q(told_at__isnull=False) & late),
        closed=Count("pk", filter=Q(closed_at__isnull=False)),
        unfinished=Count("pk", filter=UNFINISHED),
        waiting_late=Count("pk", filter=UNFINISHED & late),
    )
    to_be_told = rows.to_be_told().count()
    bars = [
        Bar(_("Told the outcome in time"), counts["told"]),
        Bar(_("Told late"), counts["told_late"]),
        Bar(_("To be told"), to_be_told),
        Bar(_("Not looked at yet"), counts["unfinished"] - to_be_told),
        Bar(_("Of the last two, late"), counts["waiting_late"]),
        Bar(_("Closed with a reason"), counts["closed"]),
    ]
    page = reverse("admin:notices_reviewrequest_changelist")
    return Chart(_("Requests for review"), bars if any(bar.value for bar in bars) else [], page)


def _authority(kinds: dict[str, int]) -> Chart:
    bars = [
        Bar(_("Held an authority grant"), kinds["granted"]),
        Bar(_("Signed in, without a grant"), kinds["signed_in"]),
        Bar(_("Claimed by a key"), kinds["asserted"]),
    ]
    return Chart(_("Authority behind approvals"), bars, "#unverified")
