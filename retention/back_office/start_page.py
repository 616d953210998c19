"""What retention places on the start page and on a decision's page."""

from collections.abc import Iterator

from django.http import HttpRequest
from django.urls import reverse

from accounts.back_office import Need, capped_count, may_look, refusal
from accounts.models import Organization
from accounts.roles import Permission
from decisions.back_office import Panel
from decisions.models import Decision
from retention import rules, selectors
from retention.models import Run


def needs(request: HttpRequest, organization: Organization) -> Iterator[Need]:
    """One query each."""
    if not may_look(request, Permission.READ_AUDIT):
        return
    page = reverse("admin:retention_policy_changelist")
    yield Need(
        text="disposals wait for an owner",
        one="disposal waits for an owner",
        count=selectors.runs(organization.pk).filter(state=Run.State.ASKS).count(),
        url=page,
    )
    policy = rules.newest(organization.pk)
    yield Need(
        text="retention policies of which no owner was told yet",
        one="retention policy of which no owner was told yet",
        count=int(policy is not None and policy.is_untold),
        url=page,
    )
    yield Need(
        text="records disposed of that could not be removed everywhere yet",
        one="record disposed of that could not be removed everywhere yet",
        count=capped_count(selectors.failing_disposals(organization.pk)),
        url=reverse("admin:custody_disposal_changelist") + "?state=failing",
        urgent=True,
    )


def panel(request: HttpRequest, decision: Decision) -> Panel:
    policy, verdict = selectors.standing(decision)
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
