"""The report on notices: how many reached people in time, and by whose authority they were approved. Notices that are
disposed of count on."""

from typing import Any

from django.db.models import Count, Exists, F, OuterRef, Q
from django.utils import timezone

from accounts.back_office import Bar, Chart
from accounts.models import Organization
from notices.models import Approval, Delivery, Notice


def notices(organization: Organization) -> dict[str, Any]:
    """What the report page shows: a line for each pack, and charts."""
    now = timezone.now()
    in_time = Exists(
        Delivery.objects.unscoped("those of each notice, which are its organization's").filter(
            notice=OuterRef("pk"), delivered_at__isnull=False, returned_at=None, delivered_at__lte=OuterRef("due_at")
        )
    )
    delivered, unsent = Q(state=Notice.State.DELIVERED), Q(state__in=Notice.UNSENT, disposed_at=None)
    rows = Notice.with_disposed.for_organization(organization)
    counts = rows.values("pack").annotate(
        written=Count("pk"),
        delivered=Count("pk", filter=delivered),
        waiting=Count("pk", filter=unsent),
        late=Count("pk", filter=unsent & Q(due_at__lt=now)),
    )
    # On its own, so that deliveries are looked up for delivered notices alone.
    too_late = rows.filter(delivered, ~in_time, due_at__isnull=False).values_list("pack").annotate(Count("pk"))
    delivered_late = dict(too_late.order_by())
    lines = [{**line, "delivered_late": delivered_late.get(line["pack"], 0)} for line in counts.order_by("pack")]
    approvals = Approval.objects.for_organization(organization)
    kinds = approvals.aggregate(
        granted=Count("pk", filter=Q(grant__isnull=False)),
        signed_in=Count("pk", filter=Q(grant=None, basis="signed in")),
        asserted=Count("pk", filter=Q(grant=None) & ~Q(basis="signed in")),
    )
    unverified = approvals.filter(grant=None, notice__disposed_at=None)
    unverified = unverified.select_related("notice__decision").order_by(F("created_at").desc())[:50]
    return {"lines": lines, "authority": _authority(kinds), "unverified": unverified}


def _authority(kinds: dict[str, int]) -> Chart:
    bars = [
        Bar("Held an authority grant", kinds["granted"]),
        Bar("Signed in, without a grant", kinds["signed_in"]),
        Bar("Claimed by a key", kinds["asserted"]),
    ]
    return Chart("By whose authority notices were approved", bars, "#unverified")
