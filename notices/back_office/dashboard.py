"""Notices on the start page and on a decision's page."""

from collections.abc import Iterator

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from accounts.back_office import Bar, Chart, Need, capped_count, capped_counts, lists, may_look, navigation, refusal
from accounts.models import Organization
from accounts.roles import Permission
from decisions.back_office import Panel
from decisions.models import Decision
from notices import selectors
from notices.models import Notice, languages


def needs(request: HttpRequest, organization: Organization) -> Iterator[Need]:
    """Yield the counts of notices and review requests that wait for a member."""
    attention = selectors.attention(organization.pk)
    queue = reverse("admin:notices_notice_changelist")
    if may_look(request, Permission.READ_DECISIONS):
        in_review = Notice.objects.for_organization(organization).filter(state=Notice.State.IN_REVIEW)
        late, soon, waiting = map(capped_count, (attention.overdue, attention.at_risk, in_review))
        yield Need(
            "notices past their deadline", "notice past its deadline", late, f"{queue}?queue=overdue", urgent=True
        )
        yield Need("notices due soon", "notice due soon", soon, f"{queue}?queue=at_risk")
        yield Need("notices waiting for review", "notice waiting for review", waiting, f"{queue}?queue=in_review")
    if may_look(request, Permission.RECONSIDER):
        page = reverse("admin:notices_reviewrequest_changelist")
        requests = selectors.unfinished_requests(organization.pk)
        kinds = (requests.filter(due_at__lt=timezone.now()), requests.waiting(), requests.to_be_told())
        late, asked, untold = capped_counts(kinds, lists.MAX_ROWS)
        yield Need("answers to people are late", "answer to a person is late", late, page, urgent=True)
        yield Need("people asked for a review", "person asked for a review", asked, page)
        yield Need(
            "reviews decided, outcome letters not sent",
            "review decided, outcome letter not sent",
            untold,
            f"{page}?state=to_be_told",
        )


def menu_counts(request: HttpRequest, organization: Organization) -> dict[str, int]:
    """Return the counts of the menu: unsent notices, requests without an answer, and approved notices."""
    notices = Notice.objects.for_organization(organization)
    waiting = {
        "to_do": notices.filter(state__in=Notice.UNSENT),
        "requests": selectors.unfinished_requests(organization.pk),
        "to_deliver": notices.filter(state=Notice.State.APPROVED),
    }
    return dict(zip(waiting, capped_counts(waiting.values(), navigation.MAX_SHOWN), strict=True))


def charts(request: HttpRequest, organization: Organization) -> Iterator[Chart]:
    """Yield a chart of notices by state."""
    if not may_look(request, Permission.READ_DECISIONS):
        return
    rows = Notice.with_disposed.for_organization(organization)
    counts = capped_counts((rows.filter(state=state) for state in Notice.State), lists.MAX_ROWS)
    states = zip(Notice.State, counts, strict=True)
    bars = (
        [Bar.capped(str(state.label).capitalize(), count, lists.MAX_ROWS) for state, count in states]
        if any(counts)
        else []
    )
    yield Chart("Notices", bars, reverse("admin:notice-report"), "By state.")


def panel(request: HttpRequest, decision: Decision) -> Panel:
    """Return the notices about a decision, with a form to draft one."""
    offer = selectors.offered_packs(decision)
    return Panel(
        title="Notices",
        template="notices/panel.html",
        context={
            "notices": decision.notices.order_by("-created_at"),
            "unsent": Notice.UNSENT,
            "offer": offer,
            "chosen": offer.first_of(selectors.settings_of(decision.organization_id).default_pack),
            "languages": languages(),
            "reason": refusal(request, Permission.DRAFT_NOTICES),
        },
    )
