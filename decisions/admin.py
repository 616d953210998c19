import json
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.views.decorators.debug import sensitive_post_parameters

from accounts import roles, selectors
from accounts.back_office import ReadOnlyAdmin
from accounts.roles import Permission, Role
from config.faults import Fault
from custody import fields
from custody import selectors as custody
from decisions import reconsiderations, reports
from decisions.forms import ReviewForm
from decisions.models import Decision
from decisions.selectors import history
from decisions.views import report_csv


@admin.register(Decision)
class DecisionAdmin(ReadOnlyAdmin):
    needed = Permission.READ_DECISIONS
    list_display = ("decision_id", "current", "kind", "system_name", "subject_reference", "decided_at", "received_at")
    list_filter = ("kind",)
    search_fields = ("decision_id", "subject_reference")
    ordering = ("-received_at", "-pk")
    change_form_template = "decisions/decision.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Decision]:
        return super().get_queryset(request).with_current()  # type: ignore[attr-defined, no-any-return]

    @admin.display(description="current action")
    def current(self, row: Decision) -> str:
        return row.current_action or "-"

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        return [
            path("reports/", wrap(self.report), name="reconsideration-report"),
            path("<path:pk>/reconsider/", sensitive_post_parameters()(wrap(self.reconsider)), name="reconsider"),
            *super().get_urls(),
        ]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        found = self._decision(request, object_id)
        return self._page(request, found, ReviewForm())

    def reconsider(self, request: HttpRequest, pk: str) -> HttpResponse:
        found = self._decision(request, pk)
        if request.method != "POST":
            return redirect(_address(found))
        if not self._may_reconsider(request):
            raise Http404
        form = ReviewForm(request.POST)
        if not form.is_valid():
            return self._page(request, found, form, status=422)
        try:
            recorded = reconsiderations.reconsider(
                decision=found, review=form.review(), source="back office", actor=selectors.actor(request)
            )
        except Fault as error:
            form.add_error(None, error.sentence)
            return self._page(request, found, form, status=503)
        return self._page(request, found, ReviewForm(), recorded=recorded)

    def report(self, request: HttpRequest) -> HttpResponse:
        if not self.has_view_permission(request):
            raise Http404
        grouping = request.GET.get("by", "system")
        if grouping not in reports.GROUPINGS:
            raise Http404
        member = selectors.current_member(request)
        groups = reports.reconsiderations(member.organization_id if member else None, grouping)
        if request.GET.get("format") == "csv":
            return report_csv(grouping, groups)
        context = {
            **self.admin_site.each_context(request),
            "title": "Reconsiderations",
            "groups": groups,
            "grouping": grouping,
            "groupings": reports.GROUPINGS,
            "bars": [{"group": g, "y": 34 * n, "width": round(400 * g.overturn_rate)} for n, g in enumerate(groups)],
            "height": max(34 * len(groups), 1),
        }
        return TemplateResponse(request, "decisions/report.html", context)

    def _decision(self, request: HttpRequest, pk: str) -> Decision:
        found = self.get_object(request, pk)
        if found is None or not self.has_view_permission(request, found):
            raise Http404
        return Decision.objects.select_related("record", "reconsiders", "first").with_current().get(pk=found.pk)

    def _may_reconsider(self, request: HttpRequest) -> bool:
        member = selectors.current_member(request)
        return member is not None and roles.allows(Role(member.role), Permission.RECONSIDER)

    def _page(
        self,
        request: HttpRequest,
        found: Decision,
        form: ReviewForm,
        recorded: reconsiderations.Recorded | None = None,
        status: int = 200,
    ) -> HttpResponse:
        leaves: list[fields.Leaf] = []
        try:
            leaves = fields.leaves(custody.opened(found.record).payload)
        except Fault as error:
            messages.error(request, error.sentence)
        context = {
            **self.admin_site.each_context(request),
            "title": found.decision_id,
            "opts": self.opts,
            "decision": found,
            "leaves": [(path, _as_text(scalar)) for path, scalar in leaves],
            "history": history(found),
            "form": form,
            "recorded": recorded,
            "may_reconsider": self._may_reconsider(request),
        }
        return TemplateResponse(request, "decisions/decision.html", context, status=status)


def _as_text(scalar: str) -> str:
    """A text as people read it; anything else as the record spells it, digit by digit."""
    return json.loads(scalar) if scalar.startswith('"') else scalar


def _address(decision: Decision) -> str:
    return reverse("admin:decisions_decision_change", args=[decision.pk])
