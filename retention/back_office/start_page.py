"""Needs of retention on the start page, and its panel on a decision's page."""

from collections.abc import Iterator

from django.http import HttpRequest
from django.urls import reverse

from accounts.back_office import Need, may_look, refusal
from accounts.models import Organization
from accounts.roles import Permission
from decisions.back_office import Panel
from decisions.models import Decision
from retention import selectors
from retention.models import Run


def needs(request: HttpRequest, organization: Organization) -> Iterator[Need]:
    """Yield the needs of retention."""
    if not may_look(request, Permission.READ_AUDIT):
        return
    page = reverse("admin:retention_policy_changelist")
    asking = selectors.runs(organization.pk).filter(state=Run.State.ASKS)
    yield Need("disposals wait for an owner", "disposal waits for an owner", asking, page)
    yield Need(
        text="retention policies whose owners got no email yet",
        one="retention policy whose owners got no email yet",
        count=selectors.unannounced_policies(organization.pk),
        url=page,
    )
    yield Need(
        text="records disposed of that could not be removed everywhere yet",
        one="record disposed of that could not be removed everywhere yet",
        count=selectors.failing_disposals(organization.pk),
        url=reverse("admin:custody_disposal_changelist") + "?state=failing",
        urgent=True,
    )


def panel(request: HttpRequest, decision: Decision) -> Panel:
    policy, verdict = selectors.policy_and_verdict(decision)
    return Panel(
        "Retention",
        "retention/panel.html",
        {
            "policy": policy,
            "verdict": verdict,
            "holds": selectors.holds_numbered(decision.organization_id, verdict.holds),
            "sees_holds": may_look(request, Permission.READ_AUDIT),
            "reason": refusal(request, Permission.MANAGE_HOLDS),
            "decision": decision,
        },
    )
