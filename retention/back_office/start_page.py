"""Needs of retention on the start page, and its line in a decision's summary."""

from collections.abc import Iterator, Sequence

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.back_office import Need, may_look, refusal
from accounts.models import Organization
from accounts.roles import Permission
from decisions.back_office import Panel
from decisions.models import Decision
from retention import selectors
from retention.models import Hold, Run
from retention.outlooks import outlook


def needs(request: HttpRequest, organization: Organization) -> Iterator[Need]:
    """Yield the needs of retention."""
    if not may_look(request, Permission.READ_AUDIT):
        return
    page = reverse("admin:retention_policy_changelist")
    asking = selectors.runs(organization.pk).filter(state=Run.State.ASKS)
    yield Need(_("disposals wait for an owner"), _("disposal waits for an owner"), asking, page)
    yield Need(
        text=_("retention policies whose owners got no email yet"),
        one=_("retention policy whose owners got no email yet"),
        count=selectors.unannounced_policies(organization.pk),
        url=page,
    )
    yield Need(
        text=_("records disposed of that could not be removed everywhere yet"),
        one=_("record disposed of that could not be removed everywhere yet"),
        count=selectors.failing_disposals(organization.pk),
        url=reverse("admin:custody_disposal_changelist") + "?state=failing",
        urgent=True,
    )


def panel(request: HttpRequest, decision: Decision) -> Panel:
    """Return the line about retention in a decision's summary."""
    policy, verdict = selectors.policy_and_verdict(decision, obstacles_of_all=False)
    expected = outlook(policy, verdict, timezone.now()) if policy else None
    context = {
        "sentence": expected or _("Kept indefinitely: there is no retention policy."),
        "obstacles": verdict.obstacles if expected and expected.is_over else (),
        "held": _held(request, selectors.holds_numbered(decision.organization_id, verdict.holds)),
        "reason": refusal(request, Permission.MANAGE_HOLDS),
        "decision": decision,
    }
    return Panel(_("Retention"), "retention/panel.html", context, brief=True)


def _held(request: HttpRequest, holds: Sequence[Hold]) -> str:
    """Return the sentence about holds, with links if the operator may see them."""
    if not holds:
        return ""
    may_see = may_look(request, Permission.READ_AUDIT)
    listed = format_html_join(", ", "{}", ((_link(hold) if may_see else str(hold),) for hold in holds))
    sentence = ngettext(
        "Kept anyway while {holds} is in force.", "Kept anyway while any of these is in force: {holds}.", len(holds)
    )
    return format_html(sentence, holds=listed)


def _link(hold: Hold) -> str:
    return format_html('<a href="{}">{}</a>', reverse("admin:retention_hold_change", args=[hold.pk]), hold)
