from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.utils.timesince import timesince

from accounts.back_office import ReadOnlyAdmin, caller, label_of, moment, refusal
from accounts.callers import Caller
from accounts.roles import Permission
from config.errors import DomainError
from connectors import services
from connectors.models import Connector, PollRun
from connectors.services import Changes

_NEWEST_RUNS = 20
_NEWEST_ITEMS = 50

Action = Callable[[Caller, Connector], str]


def _poll(who: Caller, row: Connector) -> str:
    services.request_poll(caller=who, connector=row)
    return "It is polled within a few seconds."


def _enable(who: Caller, row: Connector) -> str:
    services.change_connector(caller=who, connector=row, changes=Changes(enabled=True))
    return "Enabled."


def _disable(who: Caller, row: Connector) -> str:
    services.change_connector(caller=who, connector=row, changes=Changes(enabled=False))
    return "Disabled. A poll under way stops at its next batch."


def _reset(who: Caller, row: Connector) -> str:
    services.change_connector(caller=who, connector=row, changes=Changes(reset_cursor=True))
    return "It reads from the beginning. What is in custody already makes no second record."


def _retry(who: Caller, row: Connector) -> str:
    count = services.retry_quarantined(caller=who, connector=row)
    return f"{count} items are read again."


def _dismiss(who: Caller, row: Connector) -> str:
    return f"{services.dismiss_quarantined(caller=who, connector=row)} items dismissed."


_ACTIONS: dict[str, Action] = {
    "poll": _poll,
    "enable": _enable,
    "disable": _disable,
    "reset": _reset,
    "retry": _retry,
    "dismiss": _dismiss,
}


@admin.register(Connector)
class ConnectorAdmin(ReadOnlyAdmin):
    needed = Permission.MANAGE_CONNECTORS
    nothing = "No connectors yet. Create one over the API."
    list_display = ("name", "kind", "state", "last_run", "new", "waiting", "lag", moment("next_poll_at", "next poll"))
    list_filter = ("kind", "enabled")
    search_fields = ("name",)
    ordering = ("-created_at", "-pk")
    fields = (
        "state", "source_id", "kind", "schedule_seconds", "secret_ref", "next_poll_at", "lag", "seen", "new",
        "repeated", "quarantined", "last_new_at", "creator", "created_at",
    )  # fmt: skip
    labels = {
        "schedule_seconds": "seconds between polls",
        "secret_ref": "secret",
        "next_poll_at": "next poll",
        "seen": "items seen",
        "new": "new records",
        "repeated": "repeated records",
        "quarantined": "items ever quarantined",
        "last_new_at": "last new record",
    }
    row_template = "connectors/connector.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        newest = PollRun.objects.unscoped("of each connector shown").filter(connector=OuterRef("pk")).order_by("-pk")
        rows: QuerySet[Any] = super().get_queryset(request)
        annotated: QuerySet[Any] = rows.annotate(
            last_outcome=Subquery(newest.values("outcome")[:1]),
            last_started=Subquery(newest.values("started_at")[:1]),
            in_quarantine=Count("quarantine"),
        )
        return annotated

    @admin.display(description="last run")
    def last_run(self, row: Any) -> str:
        return f"{row.last_outcome}, {timesince(row.last_started)} ago" if row.last_outcome else "-"

    @admin.display(description="in quarantine", ordering="in_quarantine")
    def waiting(self, row: Any) -> int:
        return int(row.in_quarantine)

    @admin.display(description="behind")
    def lag(self, row: Connector) -> str:
        return "-" if row.lag_seconds is None else f"{row.lag_seconds:,} s"

    @admin.display(description="created by")
    def creator(self, row: Connector) -> str:
        return label_of(row.created_by)

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        return [*super().get_urls(), path("<int:pk>/<slug:action>/", wrap(self.act), name="connector-action")]

    def more(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        return {
            "reason": refusal(request, Permission.MANAGE_CONNECTORS),
            "runs": row.runs.order_by("-pk")[:_NEWEST_RUNS],
            "items": row.quarantine.order_by("-created_at", "-pk")[:_NEWEST_ITEMS],
        }

    def act(self, request: HttpRequest, pk: int, action: str) -> HttpResponse:
        row = self.found(request, pk)
        if action not in _ACTIONS or request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        try:
            messages.success(request, _ACTIONS[action](caller(request, Permission.MANAGE_CONNECTORS), row))
        except DomainError as refused:
            messages.error(request, refused.sentence)
        return redirect("admin:connectors_connector_change", pk)
