"""Needs of retention on the start page, and its panel on a decision's page."""

from collections.abc import Iterator

from django.db.models import Exists
from django.http import HttpRequest
from django.urls import reverse

from accounts.back_office import Need, capped_count, may_look, refusal
from accounts.models import Organization
from accounts.roles import Permission
from decisions.back_office import Panel
from decisions.models import Decision
from retention import selectors
from retention.models import Policy, Run


def needs(request: HttpRequest, organization: Organization) -> Iterator[Need]:
    """Yield the needs of retention, in two queries."""
    if not may_look(request, Permission.READ_AUDIT):
        return
    page = reverse("admin:retention_policy_changelist")
    asking = selectors.runs(organization.pk).filter(state=Run.State.ASKS)
    policies = Policy.objects.for_organization(organization).annotate(asks=Exists(asking))
    if policy := policies.order_by("-number").first():
        text = "disposals wait for an owner", "disposal waits for an owner"
        yield Need(*text, count=int(policy.asks), url=page)
        text = "retention policies whose owners got no email yet", "retention policy whose owners got no email yet"
        yield Need(*text, count=int(policy.is_unannounced), url=page)
    yield Need(
        text="records disposed of that could not be removed everywhere yet",
        one="record disposed of that could not be removed everywhere yet",
        count=capped_count(selectors.failing_disposals(organization.pk)),
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
