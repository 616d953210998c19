from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path

from accounts.back_office import ReadOnlyAdmin, View, caller, refusal
from accounts.roles import Permission
from notices import services
from notices.models import ReviewRequest, ReviewRequestQuerySet


class Waiting(View):
    """Those that wait for an answer, unless another view is chosen."""

    title = parameter_name = "state"
    usual = "Waiting"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("answered", "Answered"), ("closed", "Closed"), ("all", "All")]

    def queryset(self, request: HttpRequest, rows: Any) -> Any:
        match self.value():
            case "answered":
                return rows.answered()
            case "closed":
                return rows.exclude(closed_at=None)
            case "all":
                return rows
            case _:
                return rows.waiting()


@admin.register(ReviewRequest)
class ReviewRequestAdmin(ReadOnlyAdmin):
    """What affected persons asked for. Only those who may reconsider read their words."""

    needed = Permission.RECONSIDER
    nothing = "Nobody waits for an answer."
    list_display = ("reference", "decision", "received_at", "due_at", "state")
    list_filter = (Waiting,)
    ordering = ("due_at", "-received_at", "-pk")
    list_select_related = ("notice__decision",)

    def get_queryset(self, request: HttpRequest) -> ReviewRequestQuerySet:
        return super().get_queryset(request).with_answer()  # type: ignore[attr-defined, no-any-return]

    @admin.display(description="request")
    def reference(self, row: ReviewRequest) -> str:
        return f"R-{row.pk}"

    def decision(self, row: ReviewRequest) -> str:
        return row.notice.decision.decision_id

    def state(self, row: ReviewRequest) -> str:
        return "closed" if row.closed_at else "answered" if row.answered_at else "waiting"

    def get_urls(self) -> list[URLPattern]:
        return [
            path("<int:pk>/close/", self.admin_site.admin_view(self.close), name="close-review-request"),
            *super().get_urls(),
        ]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return self._page(request, self.found(request, object_id))

    def close(self, request: HttpRequest, pk: int) -> HttpResponse:
        found = self.found(request, pk)
        address = redirect("admin:notices_reviewrequest_change", pk)
        if request.method != "POST":
            return address
        who = caller(request, Permission.RECONSIDER)
        try:
            services.close_request(request=found, reason=request.POST.get("reason", ""), caller=who)
        except services.Refused as refused:
            return self._page(request, found, str(refused))
        messages.success(request, "Closed.")
        return address

    def _page(self, request: HttpRequest, found: ReviewRequest, problem: str = "") -> HttpResponse:
        return self.page(
            request,
            "notices/review_request.html",
            f"Request for review R-{found.pk}",
            status=409 if problem else 200,
            row=found,
            state=self.state(found),
            problem=problem,
            reason=refusal(request, Permission.RECONSIDER),
            entered=request.POST.get("reason", ""),
        )
