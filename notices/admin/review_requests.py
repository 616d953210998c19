from typing import Any

from django.contrib import admin, messages
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.utils.translation import gettext_lazy as _

from accounts.back_office import NextStep, ReadOnlyAdmin, View, caller, label_of, moment, refusal
from accounts.roles import Permission
from config.errors import Fault
from notices import deadlines, selectors, services
from notices.back_office.formatting import deadline
from notices.back_office.refusals import Reason
from notices.back_office.requests import letter
from notices.forms import ReasonForm
from notices.models import ReviewRequest, ReviewRequestQuerySet
from notices.packs import packs


class Waiting(View):
    """The view of review requests; the default shows those in which a person waits for the review or its outcome."""

    title = _("state")
    parameter_name = "state"
    usual = _("Waiting")

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [
            ("late", _("Late")),
            ("open", _("Waiting for a review")),
            ("to_be_told", _("To be told")),
            ("answered", _("Answered")),
            ("closed", _("Closed")),
            ("all", _("All")),
        ]

    def queryset(self, request: HttpRequest, rows: Any) -> Any:
        match self.value():
            case "late":
                return rows.late()
            case "open":
                return rows.waiting()
            case "to_be_told":
                return rows.to_be_told()
            case "answered":
                return rows.answered()
            case "closed":
                return rows.exclude(closed_at=None)
            case "all":
                return rows
            case _:
                return rows.unfinished()


@admin.register(ReviewRequest)
class ReviewRequestAdmin(ReadOnlyAdmin):
    """Review requests of affected persons. Only members who may reconsider can read their words."""

    needed = Permission.RECONSIDER
    nothing = _("No person is waiting for an answer.")
    next_step = NextStep(_("See the letters to deliver"), "admin:notices_notice_changelist", query="queue=approved")
    one, many = _("request"), _("requests")
    list_display = ("reference", "due", "standing", "decision", moment("received_at", _("received")))
    list_filter = (Waiting,)
    sortable_by = ()
    list_select_related = ("notice__decision",)
    change_list_template = "notices/list.html"

    def get_ordering(self, request: HttpRequest) -> Any:
        """Return the order: by deadline, or newest first for views of finished requests. Both are indexed."""
        newest_first = ("-received_at", "-pk")
        if request.GET.get(Waiting.parameter_name) in ("answered", "closed", "all"):
            return newest_first
        return (F("due_at").asc(nulls_last=True), *newest_first)

    def get_queryset(self, request: HttpRequest) -> ReviewRequestQuerySet:
        return super().get_queryset(request).with_answer()  # type: ignore[attr-defined, no-any-return]

    @admin.display(description=_("request"))
    def reference(self, row: ReviewRequest) -> str:
        return f"R-{row.pk}"

    @admin.display(description=_("due"))
    def due(self, row: ReviewRequest) -> str:
        return deadline(row.due_at) if row.due_at and row.is_unfinished else "-"

    @admin.display(description=_("state"))
    def standing(self, row: ReviewRequest) -> str:
        return row.standing

    @admin.display(description=_("decision"))
    def decision(self, row: ReviewRequest) -> str:
        return row.notice.decision.decision_id

    def get_urls(self) -> list[URLPattern]:
        return [
            path("<int:pk>/close/", self.admin_site.admin_view(self.close), name="close-review-request"),
            *super().get_urls(),
        ]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return self._page(request, self.get_row(request, object_id))

    def close(self, request: HttpRequest, pk: int) -> HttpResponse:
        review_request = self.get_row(request, pk)
        address = redirect("admin:notices_reviewrequest_change", pk)
        if request.method != "POST":
            return address
        reviewer = caller(request, Permission.RECONSIDER)
        form = ReasonForm(request.POST)
        if not form.is_valid():
            return self._page(request, review_request, str(form.errors["reason"][0]), 422)
        with Reason() as reason:
            services.close_request(caller=reviewer, request=review_request, reason=form.cleaned_data["reason"])
            messages.success(request, _("Closed."))
            return address
        return self._page(request, review_request, reason.sentence, reason.status)

    def _page(self, request: HttpRequest, row: ReviewRequest, problem: str = "", status: int = 200) -> HttpResponse:
        return self.page(
            request,
            "notices/review_request.html",
            _("Request for review R-%(pk)s") % {"pk": row.pk},
            status=status,
            row=row,
            closed_by=label_of(row.closed_by),
            deadlines=_deadlines(row),
            letter=letter(row),
            problem=problem,
            reason=refusal(request, Permission.RECONSIDER),
            reason_against_draft=refusal(request, Permission.DRAFT_NOTICES),
            entered=request.POST.get("reason", ""),
        )


def _deadlines(row: ReviewRequest) -> list[tuple[str, deadlines.Deadline]]:
    """Return the purpose and deadline of each answer due to the person by law; none if the record cannot be read."""
    try:
        return [(packs()[due.pack].clock(due.clock).what, due) for due in selectors.request_deadlines(row)]
    except Fault:
        return []
