from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.back_office import NextStep, ReadOnlyAdmin, View, caller, label_of, moment, refusal
from accounts.roles import Permission
from config import db
from config.errors import DomainError
from custody.models import Disposal
from decisions.models import Decision
from retention import rules, selectors, services
from retention.back_office.forms import FilterHoldForm, HoldForm, LiftForm
from retention.back_office.policy_pages import PolicyPages
from retention.models import Hold, Policy

admin.site.register(Policy, PolicyPages)

_HOLD = "admin:retention_hold_change"


class HoldState(View):
    title = _("state")
    parameter_name = "state"
    usual = _("In force")

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("lifted", _("Lifted")), ("all", _("All"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Hold]) -> QuerySet[Hold]:
        return queryset if self.value() == "all" else queryset.filter(lifted_at__isnull=self.value() != "lifted")


@admin.register(Hold)
class HoldAdmin(ReadOnlyAdmin):
    needed = Permission.READ_AUDIT
    one, many = _("hold"), _("holds")
    nothing = _("No holds. A hold protects decisions from disposal.")
    next_step = NextStep(_("Place a hold"), "admin:place-hold", Permission.MANAGE_HOLDS)
    list_display = (
        "number",
        "matter",
        "covers",
        "placer",
        moment("placed_at", _("placed")),
        moment("lifted_at", _("lifted")),
    )
    list_filter = (HoldState,)
    ordering = ("-number", "-pk")
    sortable_by = ("number",)
    fields = (
        "matter", "reason", "covers", "placer", "placed_at", "lifted_at", "lifter", "lifted_because",
    )  # fmt: skip
    labels = {
        "number": _("number"), "matter": _("matter"), "reason": _("reason"), "placed_at": _("placed"),
        "lifted_at": _("lifted"), "lifted_because": _("reason for lifting"),
    }  # fmt: skip
    change_list_template = "retention/holds.html"
    row_template = "retention/hold.html"

    @admin.display(description=_("covers"))
    def covers(self, row: Hold) -> str:
        return selectors.description(row)

    @admin.display(description=_("placed by"))
    def placer(self, row: Hold) -> str:
        return label_of(row.placed_by)

    @admin.display(description=_("lifted by"))
    def lifter(self, row: Hold) -> str:
        return label_of(row.lifted_by) or "-"

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        return [
            path("place/", wrap(self.place), name="place-hold"),
            path("place/<uuid:record_id>/", wrap(self.place_on), name="hold-decision"),
            path("<int:pk>/lift/", wrap(self.lift), name="lift-hold"),
            *super().get_urls(),
        ]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return super().changelist_view(request, {"reason": refusal(request, Permission.MANAGE_HOLDS)})

    def row_context(self, request: HttpRequest, row: Hold) -> dict[str, Any]:
        rows = Decision.objects.for_organization(row.organization_id)
        return {
            "decision": db.only(rows.filter(pk=row.root)) if row.root else None,
            "families": 0 if row.lifted_at else selectors.count_covered(row),
            "form": LiftForm(),
            "reason": refusal(request, Permission.MANAGE_HOLDS),
        }

    def place(self, request: HttpRequest) -> HttpResponse:
        """Place a hold by a filter. Shows first how many decisions it would cover."""
        operator = caller(request, Permission.MANAGE_HOLDS)
        form, count = FilterHoldForm(request.POST or None), None
        if form.is_valid():
            if "place" in request.POST:
                words = {name: form.cleaned_data[name] for name in ("matter", "reason")}
                return self._placed(request, services.place_hold(caller=operator, filter=form.filter, **words))
            count = selectors.count_families(operator.organization_id, rules.condition(form.filter))
        return self._form(request, gettext("Place a hold"), form, count=count, by_filter=True)

    def place_on(self, request: HttpRequest, record_id: Any) -> HttpResponse:
        """Place a hold on one decision and its family."""
        operator = caller(request, Permission.MANAGE_HOLDS)
        decision = db.only(Decision.objects.for_organization(operator.organization_id).filter(pk=record_id))
        if decision is None:
            raise Http404
        form = HoldForm(request.POST or None)
        if form.is_valid():
            try:
                hold = services.place_hold(caller=operator, decision=decision, **form.cleaned_data)
                return self._placed(request, hold)
            except DomainError as refused:
                form.add_error(None, refused.sentence)
        return self._form(
            request, gettext("Hold %(decision)s") % {"decision": decision.decision_id}, form, decision=decision
        )

    def lift(self, request: HttpRequest, pk: int) -> HttpResponse:
        row: Hold = self.get_row(request, pk)
        if request.method != "POST":
            return redirect(_HOLD, pk)
        operator, form = caller(request, Permission.MANAGE_HOLDS), LiftForm(request.POST)
        if not form.is_valid():
            context = {"row": row, "facts": self.facts(row), **self.row_context(request, row), "form": form}
            return self.page(request, self.row_template, str(row), status=422, **context)
        try:
            services.lift_hold(caller=operator, hold=row, because=form.cleaned_data["because"])
            messages.success(
                request, _("Lifted. The decisions it covered are disposed of once their retention period is over.")
            )
        except DomainError as refused:
            messages.error(request, refused.sentence)
        return redirect(_HOLD, pk)

    def _placed(self, request: HttpRequest, hold: Hold) -> HttpResponse:
        messages.success(request, _("Placed. The decisions it covers are kept until you lift it."))
        return redirect(_HOLD, hold.pk)

    def _form(self, request: HttpRequest, title: str, form: HoldForm, **context: Any) -> HttpResponse:
        status = 422 if form.errors else 200
        return self.page(request, "retention/place_hold.html", title, status=status, form=form, **context)


class DisposalState(admin.SimpleListFilter):
    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [
            ("failing", gettext("Not finished, with a problem")),
            ("unfinished", gettext("Not finished")),
            ("finished", gettext("Finished")),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Disposal]) -> QuerySet[Disposal]:
        if self.value() == "failing":
            return selectors.failing(queryset)
        return queryset.filter(finished_at__isnull=self.value() == "unfinished") if self.value() else queryset


@admin.register(Disposal)
class DisposalAdmin(ReadOnlyAdmin):
    """Destroyed records, and the progress of their disposal."""

    needed = Permission.READ_AUDIT
    organization_field = "record__organization"
    one, many = _("disposal"), _("disposals")
    nothing = _("No disposals yet.")
    next_step = NextStep(_("See the retention policy"), "admin:retention_policy_changelist")
    list_display = (
        "record_id", "policy", moment("disposed_at", _("disposed of")), moment("finished_at", _("finished")),
        moment("recoverable_until", _("recoverable until")), "problem",
    )  # fmt: skip
    list_filter = (DisposalState,)
    fields = ("record_id", "root", "policy", "disposed_at", "finished_at", "kept_until", "recoverable_until", "problem")
    labels = {
        "record_id": _("record ID"),
        "policy": _("policy"),
        "disposed_at": _("disposed of"),
        "finished_at": _("finished"),
        "problem": _("problem"),
        "root": _("first record of its family"),
        "kept_until": _("object locked until"),
        "recoverable_until": _("recoverable until"),
    }
    row_template = "retention/disposal.html"
    ordering = ("-disposed_at", "-pk")
    sortable_by = ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Disposal]:
        return selectors.of_disposed(super().get_queryset(request)).defer("statement", "signature")
