"""The page of the retention policy: its current version, due decisions, the history, and the form to change it."""

import uuid
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from accounts import selectors as accounts
from accounts.back_office import Bar, Chart, caller, refusal
from accounts.roles import Permission
from config import db
from config.errors import DomainError
from custody.disposal import families
from retention import rules, selectors, services
from retention.back_office.forms import PolicyForm
from retention.back_office.subject_pages import SubjectPages
from retention.models import Policy, Run
from retention.preview import MAX_FAMILIES, Preview, preview

PAGE = "admin:retention_policy_changelist"
_NEWEST_RUNS = 20


class PolicyPages(SubjectPages):
    needed = Permission.READ_AUDIT

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        return [
            path("", wrap(self.policy), name="retention_policy_changelist"),
            path("set/", wrap(self.set), name="set-retention"),
            path(
                "runs/<int:pk>/confirm/<int:candidates>/",
                wrap(require_POST(self.confirm)),
                name="confirm-retention-run",
            ),
            *super().get_urls(),
        ]

    def policy(self, request: HttpRequest) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        organization = accounts.current_organization(request)
        return self._page(request, organization.pk, None) if organization else redirect("admin:index")

    def set(self, request: HttpRequest) -> HttpResponse:
        """Show a preview of the entered policy. Save it when the operator confirms the preview."""
        if request.method != "POST":
            return redirect(PAGE)
        owner = caller(request, Permission.MANAGE_RETENTION)
        organization_id = owner.organization_id
        current = rules.newest(organization_id)
        form = PolicyForm(request.POST)
        if not form.is_valid():
            return self._page(request, organization_id, form)
        if "save" in request.POST:
            made = services.set_policy(caller=owner, **form.cleaned_data)
            messages.success(request, _saved(made) if made != current else _("This is the current policy already."))
            return redirect(PAGE)
        figures = preview(organization_id, Policy(days=form.cleaned_data["days"]), instead_of=current)
        return self.page(
            request,
            "retention/preview.html",
            _("Keep decisions for %(days)s days") % {"days": form.cleaned_data["days"]},
            form=form,
            current=current,
            in_force=rules.policy_in_force(organization_id, daily=True),
            preview=figures,
            charts=[_chart(figures)],
            limit=MAX_FAMILIES,
        )

    def confirm(self, request: HttpRequest, pk: int, candidates: int) -> HttpResponse:
        owner = caller(request, Permission.DISPOSE)
        run = db.only(selectors.runs(owner.organization_id).filter(pk=pk))
        if run is None:
            raise Http404
        try:
            services.confirm_run(caller=owner, run=run, candidates=candidates)
            messages.success(request, _("Confirmed. The run goes on within minutes."))
        except DomainError as refused:
            messages.error(request, refused.sentence)
        return redirect(PAGE)

    def _page(self, request: HttpRequest, organization_id: uuid.UUID, form: PolicyForm | None) -> HttpResponse:
        history = selectors.history(organization_id)
        current = history[0] if history else None
        runs = list(selectors.runs(organization_id)[:_NEWEST_RUNS])
        return self.page(
            request,
            "retention/policy.html",
            _("Retention"),
            status=422 if form else 200,
            current=current,
            history=history,
            in_force=rules.policy_in_force(organization_id, daily=True),
            form=form or PolicyForm(current=current),
            asking=next((run for run in runs if run.state == Run.State.ASKS), None),
            runs=runs,
            floors=families.all_floors(),
            journal=selectors.journal_is_kept(organization_id),
            held=selectors.count_held(organization_id),
            reason=refusal(request, Permission.MANAGE_RETENTION),
            disposal_reason=refusal(request, Permission.DISPOSE),
            limit=MAX_FAMILIES,
            **_due(organization_id, current),
        )


def _due(organization_id: uuid.UUID, current: Policy | None) -> dict[str, Any]:
    if current is None:
        return {}
    figures = preview(organization_id, current)
    return {"preview": figures, "charts": [_chart(figures)]}


def _chart(figures: Preview) -> Chart:
    return Chart(
        title=_("Decisions past the policy's days"),
        bars=[
            Bar(_("would be disposed of"), figures.due),
            Bar(_("kept by a law"), figures.kept_by_floor),
            Bar(_("held"), figures.held),
            Bar(_("unfinished"), figures.with_obstacle),
        ],
        description=_("At least: only the first %(count)s were checked.") % {"count": f"{MAX_FAMILIES:,}"}
        if figures.is_capped
        else "",
    )


def _saved(policy: Policy) -> str:
    if policy.shortens:
        return _("Saved. Owners get an email, and a week later the daily run begins under it.")
    return _("Saved. It is in force.")
