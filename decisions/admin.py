import json
import re
import uuid
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.views.main import SEARCH_VAR
from django.core.exceptions import PermissionDenied
from django.db.models import F, Prefetch, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_post_parameters

from accounts import selectors
from accounts.back_office import (
    AllCodes,
    AllValues,
    NextStep,
    TimeRange,
    caller,
    is_filtered,
    moment,
    periods,
    refusal,
    starting_with,
)
from accounts.roles import Permission
from config.errors import Fault
from config.http.json_responses import JSON
from config.words import in_words
from custody import selectors as custody
from custody.back_office.disposal_pages import OrDisposed, disposal_named, page_of
from custody.models import Disposal
from custody.selectors import Disposed
from decisions import presenters, record_summary, record_tree, records, review_records, review_reports, services
from decisions.back_office import panels, review_prompt, source_of
from decisions.forms import ReviewForm
from decisions.mapping.back_office import mapping_lists  # noqa: F401 - importing it registers its pages
from decisions.models import MAX_DECISION_ID, Decision, Reconsideration
from decisions.report_csv import report_csv
from decisions.review_records import ReviewRecord
from decisions.selectors import disposals, history, of_kind, record_of, with_chain

_NUMBER = re.compile("[0-9]{1,9}")
_REVIEWS = Prefetch(
    "reconsiderations",
    Decision.objects.unscoped("those of a decision, in its organization")
    .only("first", "decision_id", "action", "review_outcome")
    .order_by("received_at", "pk"),
)


class Kind(admin.SimpleListFilter):
    title = _("kind")
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(records.KIND, gettext("Decisions")), (review_records.KIND, gettext("Reconsiderations"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Decision]) -> QuerySet[Decision]:
        kind = self.value()
        return of_kind(queryset, kind) if kind else queryset


@admin.display(description=_("decision"), ordering="decision_id")
def decision_id(row: Decision) -> str:
    """Return a list's column with the decision's name, and below it the ID of a reconsideration."""
    return format_html("{}<br><code>{}</code>", row.title, row.decision_id) if row.first else row.decision_id


@admin.register(Decision)
class DecisionAdmin(OrDisposed):
    needed = Permission.READ_DECISIONS
    one, many = _("decision"), _("decisions")
    labels = {
        "received_at": _("received"), "decided_at": _("decided"), "action": _("action"),
        "system_name": _("system name"),
    }  # fmt: skip
    nothing = _("No decision has come in yet.")
    next_step = NextStep(_("Send a first record"), "docs")
    list_display = (
        decision_id, "current", "system", "subject", moment("received_at", _("received")),
        moment("decided_at", _("decided")),
    )  # fmt: skip
    list_filter = (
        Kind, ("received_at", TimeRange), ("decided_at", TimeRange), ("action", AllCodes),
        ("system_name", AllValues),
    )  # fmt: skip
    search_fields = ("decision_id", "subject_reference")
    search_help_text = _(
        "Start of a decision ID or reference (case-sensitive), or a full record ID. If too many match, the last in "
        "alphabetical order are shown."
    )
    list_select_related = ("first",)
    ordering = ("-received_at", "-pk")

    def rows_of_values(self, request: HttpRequest) -> QuerySet[Decision]:
        """Include disposed records, which an index does not tell from others."""
        return _with_disposed(request)

    def get_sortable_by(self, request: HttpRequest) -> tuple[str, ...]:
        """Return the columns that an index sorts. With a filter, another order would read all rows."""
        if _is_by_decision(request):
            return ("decided_at",)
        return ("received_at",) if is_filtered(request) else ("decision_id", "received_at", "decided_at")

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        """Order newest first, by the time that the filter uses."""
        return ("-decided_at", "-pk") if _is_by_decision(request) else self.ordering

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Decision | None:
        """Return a decision with the rows that its page shows."""
        wanted = _uuid(object_id)
        return with_chain(self.get_queryset(request), wanted) if wanted else None

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Decision], search_term: str
    ) -> tuple[QuerySet[Decision], bool]:
        """Add the reconsiderations of a page's rows to every list, and search if there is a search term.

        The query of `with_current` would read those of every match, before it sorts them.
        """
        rows, term = queryset.prefetch_related(_REVIEWS), search_term.strip()
        if not term:
            return rows, False
        record_id = _uuid(term)
        return starting_with(rows, self.search_fields, term, *([record_id] if record_id else [])), False

    @admin.display(description=_("system"))
    def system(self, row: Decision) -> str:
        return row.system_name or "-"

    @admin.display(description=_("subject"))
    def subject(self, row: Decision) -> str:
        return row.subject_reference or "-"

    @admin.display(description=_("current action"))
    def current(self, row: Decision) -> str:
        row.take_current(row.reconsiderations.all())  # type: ignore[arg-type]
        return in_words(row.current_action or "-")

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        return [
            path("reports/", wrap(self.report), name="reconsideration-report"),
            path("<path:pk>/reconsider/", sensitive_post_parameters()(wrap(self.reconsider)), name="reconsider"),
            path("<path:pk>/record/", wrap(self.record), name="decision-record"),
            path("<path:pk>/receipt/", wrap(self.receipt), name="decision-receipt"),
            *super().get_urls(),
        ]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        try:
            return self._page(request, self.get_row(request, object_id))
        except Disposed as gone:
            return page_of(gone)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Show the list. A search for the id of a disposed record shows its disposal instead."""
        term = request.GET.get(SEARCH_VAR, "").strip()
        if self.has_view_permission(request) and (disposal := self._disposal(request, term)):
            return page_of(Disposed(disposal))
        return super().changelist_view(request, extra_context)

    def _disposal(self, request: HttpRequest, term: str) -> Disposal | None:
        organization = selectors.current_organization(request)
        if organization is None or not 0 < len(term) <= MAX_DECISION_ID:
            return None
        return disposal_named(request, term) or disposals(organization.pk, [term]).get(term)

    def reconsider(self, request: HttpRequest, pk: str) -> HttpResponse:
        """Show the form. Record a review, and show the decision with the salts of the reviewer's texts."""
        decision = self.get_row(request, pk)
        if request.method != "POST":
            return self._form_page(request, decision)
        operator = caller(request, Permission.RECONSIDER)
        form = ReviewForm(request.POST)
        if not form.is_valid():
            return self._form_page(request, decision, form, status=422)
        try:
            record = services.reconsider(
                caller=operator,
                decision=decision,
                review=form.review(),
                source="back office",
                idempotency_key=form.cleaned_data["idempotency_key"],
            )
        except services.AlreadyRecorded as earlier:
            messages.info(request, _("%(sentence)s Here it is.") % {"sentence": earlier.sentence})
            return redirect("admin:decisions_decision_change", earlier.record_id)
        except Fault as error:  # the page keeps the operator's entries
            form.add_error(None, error.sentence)
            return self._form_page(request, decision, form, status=error.status)
        return self._page(request, self.get_row(request, pk), record)

    def record(self, request: HttpRequest, pk: str) -> HttpResponse:
        """Download the record, byte for byte as it was received."""
        decision = self.get_row(request, pk)
        return _download(f"record-{decision.pk}.json", custody.opened(record_of(decision)).payload)

    def receipt(self, request: HttpRequest, pk: str) -> HttpResponse:
        decision = self.get_row(request, pk)
        shown = presenters.receipt(decision.decision_id, custody.receipt(record_of(decision)))
        return _download(f"receipt-{decision.pk}.json", json.dumps(shown, ensure_ascii=False).encode())

    def report(self, request: HttpRequest) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        grouping = request.GET.get("by", "system")
        if grouping not in review_reports.GROUPINGS:
            raise Http404
        organization = selectors.current_organization(request)
        if organization is None:
            return redirect("admin:index")
        period = periods.chosen(request.GET)
        groups = review_reports.reconsiderations(organization.pk, grouping, period.begins)
        if request.GET.get("format") == "csv":
            return report_csv(grouping, groups)
        return self.page(
            request,
            "decisions/report.html",
            _("Report on reconsiderations"),
            groups=groups,
            grouping=grouping,
            groupings=review_reports.GROUPINGS,
            period=period,
            periods=periods.all_periods(),
            bars=[{"group": g, "y": 34 * n, "width": round(400 * g.overturn_rate)} for n, g in enumerate(groups)],
            height=max(34 * len(groups), 1),
        )

    def _page(
        self, request: HttpRequest, decision: Decision, review_record: ReviewRecord | None = None
    ) -> HttpResponse:
        chain, payload = history(decision), self._payload(request, decision)
        decision.take_current(chain)
        return self.page(
            request,
            "decisions/decision.html",
            decision.title,
            decision=decision,
            is_review=decision.kind == review_records.KIND,
            summary=record_summary.summary(payload) if payload else None,
            source=source_of(request, decision),
            part=_part(request, payload) if payload else None,
            history=chain,
            panels=panels(request, decision),
            review_record=review_record,
            refusal=refusal(request, Permission.RECONSIDER),
        )

    def _form_page(
        self, request: HttpRequest, decision: Decision, form: ReviewForm | None = None, *, status: int = 200
    ) -> HttpResponse:
        against = refusal(request, Permission.RECONSIDER)
        prompt = None if against else review_prompt(request, decision)
        return self.page(
            request,
            "decisions/reconsider.html",
            _("Record a reconsideration"),
            status=status,
            decision=decision,
            form=form or ReviewForm(initial=prompt.initial if prompt else None),
            review_prompt=prompt,
            refusal=against,
        )

    def _payload(self, request: HttpRequest, decision: Decision) -> bytes | None:
        """Return the record. If it cannot be read, add a message that says why."""
        try:
            decision.fetched = custody.fetched(record_of(decision))
            return decision.fetched.open().payload
        except Fault as error:
            messages.error(request, error.sentence)
            return None


@admin.register(Reconsideration)
class ReconsiderationAdmin(OrDisposed):
    needed = Permission.READ_DECISIONS
    one, many = _("reconsideration"), _("reconsiderations")
    labels = {
        "review_outcome": _("review outcome"), "reviewer": _("reviewer"), "reviewer_authority": _("reviewer authority"),
        "received_at": _("received"),
    }  # fmt: skip
    nothing = _("No reconsideration yet. They are recorded on a decision's page.")
    next_step = NextStep(_("Choose a decision"), "admin:decisions_decision_changelist")
    list_display = (
        decision_id, "outcome", "new_action", "reviewer", "reviewer_authority", "time_to_decision",
        moment("received_at", _("recorded")),
    )  # fmt: skip
    list_filter = (
        ("review_outcome", AllCodes), ("reviewer", AllValues), ("reviewer_authority", AllValues),
        ("received_at", TimeRange),
    )  # fmt: skip
    list_select_related = ("first", "reconsiders")
    search_fields = ("decision_id", "first__decision_id")
    search_help_text = _("Start of the ID of the reconsideration or of the first decision (case-sensitive).")
    sortable_by = ("received_at",)
    ordering = ("-received_at", "-pk")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Reconsideration], search_term: str
    ) -> tuple[QuerySet[Reconsideration], bool]:
        term = search_term.strip()
        rows = queryset.filter(first__organization=F("organization"))  # the first column of the index
        return starting_with(rows, self.search_fields, term) if term else queryset, False

    def rows_of_values(self, request: HttpRequest) -> QuerySet[Decision]:
        """Include disposed records, as for decisions."""
        return _with_disposed(request).filter(first__isnull=False)

    @admin.display(description=_("outcome"))
    def outcome(self, row: Reconsideration) -> str:
        return in_words(row.review_outcome)

    @admin.display(description=_("new action"))
    def new_action(self, row: Reconsideration) -> str:
        return in_words(row.action or "-")

    @admin.display(description=_("time to decision"))
    def time_to_decision(self, row: Reconsideration) -> str:
        days = row.time_taken.total_seconds() / 86400
        if days >= 1:
            return gettext("%(count)s days") % {"count": f"{days:,.1f}"}
        return gettext("%(count)s hours") % {"count": f"{24 * days:.1f}"}

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        try:
            return redirect(_address(self.get_row(request, object_id)))
        except Disposed as gone:
            return page_of(gone)


def _is_by_decision(request: HttpRequest) -> bool:
    """Whether the list is filtered by the time of the decision."""
    return any(name.startswith("decided_at__") and value for name, value in request.GET.items())


def _with_disposed(request: HttpRequest) -> QuerySet[Decision]:
    organization = selectors.current_organization(request)
    if organization is None:
        return Decision.with_disposed.unscoped("none, because no organization is chosen").none()
    return Decision.with_disposed.for_organization(organization)


def _part(request: HttpRequest, payload: bytes) -> record_tree.Part:
    """Return the part of the record that the address names, or the whole record. Raises Http404."""
    start = request.GET.get("from", "")
    try:
        return record_tree.part(payload, request.GET.get("at", ""), int(start) if _NUMBER.fullmatch(start) else 0)
    except KeyError:
        raise Http404 from None


def _uuid(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text)
    except ValueError:
        return None


def _download(name: str, body: bytes) -> HttpResponse:
    return HttpResponse(body, content_type=JSON, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def _address(decision: Decision) -> str:
    return reverse("admin:decisions_decision_change", args=[decision.pk])
