"""Notices on the start page and on a decision's page."""

from collections.abc import Iterator
from functools import partial

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts import selectors as accounts
from accounts.back_office import Flow, Need, capped_counts, may_look, navigation, refusal
from accounts.models import Organization
from accounts.roles import Permission
from decisions.back_office import Panel
from decisions.models import Decision
from notices import selectors
from notices.models import Delivery, Notice, languages
from notices.packs import packs


def needs(request: HttpRequest, organization: Organization) -> Iterator[Need]:
    """Yield the notices and review requests that wait for a member."""
    queue = reverse("admin:notices_notice_changelist")
    notices = Notice.objects.for_organization(organization)
    work = partial(Need, is_work=True)
    if may_look(request, Permission.READ_DECISIONS):
        attention = selectors.attention(organization.pk)
        late = _("notices past their deadline"), _("notice past its deadline"), attention.overdue
        yield work(*late, f"{queue}?queue=overdue", urgent=True)
        yield work(_("notices due soon"), _("notice due soon"), attention.at_risk, f"{queue}?queue=at_risk")
        if member := accounts.current_member(request):
            sent_back = selectors.sent_back(notices, member.user.email)
            yield work(
                _("notices sent back to you"), _("notice sent back to you"), sent_back, f"{queue}?queue=sent_back"
            )
        in_review = notices.filter(state=Notice.State.IN_REVIEW)
        waits = _("notices waiting for review"), _("notice waiting for review"), in_review
        yield work(*waits, f"{queue}?queue=in_review")
    if may_look(request, Permission.RECONSIDER):
        yield from _requests(organization)
    if may_look(request, Permission.READ_DECISIONS):
        approved = notices.filter(state=Notice.State.APPROVED)
        yield work(_("notices to deliver"), _("notice to deliver"), approved, f"{queue}?queue=approved")


def _requests(organization: Organization) -> Iterator[Need]:
    """Yield the review requests that wait for a reconsideration, or for a letter about it."""
    page = reverse("admin:notices_reviewrequest_changelist")
    rows = selectors.unfinished_requests(organization.pk)
    work = partial(Need, is_work=True)
    late = _("answers to people are late"), _("answer to a person is late"), rows.late()
    yield work(*late, f"{page}?state=late", urgent=True)
    yield work(_("people asked for a review"), _("person asked for a review"), rows.waiting(), f"{page}?state=open")
    decided = (
        _("reviews decided, outcome letters not sent"),
        _("review decided, outcome letter not sent"),
        rows.to_be_told(),
    )
    yield work(*decided, f"{page}?state=to_be_told")


def flows(request: HttpRequest, organization: Organization) -> Iterator[Flow]:
    """Yield the letters that went out."""
    if may_look(request, Permission.READ_DECISIONS):
        yield Flow(
            title=_("Letters sent"),
            # SQLite does not use a partial index for `exclude(delivered_at=None)`.
            rows=Delivery.objects.for_organization(organization).filter(delivered_at__isnull=False),
            column="handled_at",
            url=reverse("admin:notices_notice_changelist") + "?queue=delivered",
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


def panel(request: HttpRequest, decision: Decision) -> Panel:
    """Return the notices about a decision, with a form to draft one."""
    offer, notices = selectors.offered_packs(decision), decision.notices.order_by("-created_at")
    return Panel(
        title=_("Notices"),
        template="notices/panel.html",
        context={
            "notices": [(notice, packs()[notice.pack].framework) for notice in notices],
            "unsent": Notice.UNSENT,
            "offer": offer,
            "chosen": offer.first_of(selectors.settings_of(decision.organization_id).default_pack),
            "languages": languages(),
            "reason": refusal(request, Permission.DRAFT_NOTICES),
        },
    )
