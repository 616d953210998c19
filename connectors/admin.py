import json
from collections.abc import Callable, Collection
from typing import Any

from django.contrib import admin, messages
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.utils.timesince import timesince
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from accounts.back_office import NextStep, caller, label_of, refusal
from accounts.callers import Caller
from config.errors import DomainError
from connectors import services
from connectors.back_office.connector_pages import EditingPages
from connectors.back_office.filters import KindOf, State
from connectors.back_office.forms import setting_text
from connectors.models import Connector, PollRun, Quarantined
from connectors.services import Changes

_NEWEST_RUNS = 20
_NEWEST_ITEMS = 50

Action = Callable[..., str]


def _poll(who: Caller, row: Connector) -> str:
    services.request_poll(caller=who, connector=row)
    return gettext("It will be polled within a few seconds.")


def _enable(who: Caller, row: Connector) -> str:
    services.change_connector(caller=who, connector=row, changes=Changes(enabled=True))
    return gettext("Enabled.")


def _disable(who: Caller, row: Connector) -> str:
    services.change_connector(caller=who, connector=row, changes=Changes(enabled=False))
    return gettext("Disabled. A poll under way stops at its next batch.")


def _reset(who: Caller, row: Connector) -> str:
    services.change_connector(caller=who, connector=row, changes=Changes(reset_cursor=True))
    return gettext("It reads from the beginning. Records already in custody are not created twice.")


def _delete(who: Caller, row: Connector) -> str:
    services.delete_connector(caller=who, connector=row)
    return gettext("Deleted. Its records stay in custody.")


def _retry(who: Caller, row: Connector, items: Collection[int] | None = None) -> str:
    count = services.retry_quarantined(caller=who, connector=row, items=items)
    return ngettext("%(count)s item will be read again.", "%(count)s items will be read again.", count) % {
        "count": count
    }


def _dismiss(who: Caller, row: Connector, items: Collection[int] | None = None) -> str:
    count = services.dismiss_quarantined(caller=who, connector=row, items=items)
    return ngettext("%(count)s item dismissed.", "%(count)s items dismissed.", count) % {"count": count}


_ACTIONS: dict[str, Action] = {
    "poll": _poll,
    "enable": _enable,
    "disable": _disable,
    "reset": _reset,
    "delete": _delete,
    "retry": _retry,
    "dismiss": _dismiss,
}
_OF_ITEMS = ("retry", "dismiss")


@admin.register(Connector)
class ConnectorAdmin(EditingPages):
    one, many = _("connector"), _("connectors")
    nothing = _("No connectors yet. They fetch decision records from other systems.")
    next_step = NextStep(_("Create a connector"), "admin:choose-connector-kind")
    list_display = ("name", "titled_kind", "condition", "last_run", "new", "waiting", "lag", "next_poll_at")
    list_filter = (State, KindOf)
    search_fields = ("name",)
    ordering = ("-created_at", "-pk")
    fields = (
        "condition", "source_id", "titled_kind", "schedule_seconds", "secret_ref", "next_poll_at", "lag", "seen", "new",
        "repeated", "quarantined", "last_new_at", "position", "creator", "created_at",
    )  # fmt: skip
    labels = {
        "name": _("name"),
        "source_id": _("source ID"),
        "created_at": _("created"),
        "schedule_seconds": _("seconds between polls"),
        "secret_ref": _("secret reference"),
        "next_poll_at": _("next poll"),
        "seen": _("items seen"),
        "new": _("new records"),
        "repeated": _("repeated records"),
        "quarantined": _("items ever quarantined"),
        "last_new_at": _("last new record"),
    }
    row_template = "connectors/connector.html"
    change_list_template = "connectors/list.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        newest = PollRun.objects.unscoped("of each connector shown").filter(connector=OuterRef("pk")).order_by("-pk")
        items = Quarantined.objects.unscoped("of each connector shown").filter(connector=OuterRef("pk")).order_by()
        counted = items.values("connector").annotate(count=Count("pk")).values("count")
        rows: QuerySet[Any] = super().get_queryset(request)
        annotated: QuerySet[Any] = rows.annotate(
            last_outcome=Subquery(newest.values("outcome")[:1]),
            last_started=Subquery(newest.values("started_at")[:1]),
            in_quarantine=Coalesce(Subquery(counted), 0),
        )
        return annotated

    @admin.display(description=_("kind"), ordering="kind")
    def titled_kind(self, row: Connector) -> str:
        return row.get_kind_display()

    @admin.display(description=_("state"))
    def condition(self, row: Connector) -> str:
        return gettext("%(state)s, silent") % {"state": row.state} if row.is_silent else row.state

    @admin.display(description=_("read up to"))
    def position(self, row: Connector) -> str:
        if row.cursor:
            return json.dumps(row.cursor, ensure_ascii=False)
        if row.caught_up_at is None:
            return gettext("nothing yet")
        return (
            gettext("everything, at the last complete poll")
            if row.failures
            else gettext("everything, at the last poll")
        )

    @admin.display(description=_("last run"))
    def last_run(self, row: Any) -> str:
        if not row.last_outcome:
            return "-"
        return gettext("%(outcome)s, %(time)s ago") % {"outcome": row.last_outcome, "time": timesince(row.last_started)}

    @admin.display(description=_("in quarantine"), ordering="in_quarantine")
    def waiting(self, row: Any) -> int:
        return int(row.in_quarantine)

    @admin.display(description=_("lag"))
    def lag(self, row: Connector) -> str:
        return "-" if row.lag_seconds is None else f"{row.lag_seconds:,} s"

    @admin.display(description=_("created by"))
    def creator(self, row: Connector) -> str:
        return label_of(row.created_by)

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        return [
            *super().get_urls(),
            path("<int:pk>/test/", wrap(require_POST(self.test)), name="test-connector"),
            path("<int:pk>/actions/<slug:action>/", wrap(require_POST(self.act)), name="connector-action"),
            path("<int:pk>/actions/<slug:action>/<int:item>/", wrap(require_POST(self.act)), name="quarantine-action"),
        ]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return super().changelist_view(request, {"reason": refusal(request, self.needed)})

    def row_context(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        return {
            "reason": refusal(request, self.needed),
            "not_polled": row.why_not_polled,
            "settings": [(name, setting_text(value)) for name, value in row.config.items()],
            "runs": row.runs.order_by("-pk")[:_NEWEST_RUNS],
            "items": row.quarantine.order_by("-created_at", "-pk")[:_NEWEST_ITEMS],
        }

    def test(self, request: HttpRequest, pk: int) -> HttpResponse:
        row = self.get_row(request, pk)
        context = self.tested(request, row.kind, row.config, row.secret_ref)
        return self.page(request, "connectors/tested.html", _("Test of %(row)s") % {"row": row}, row=row, **context)

    def act(self, request: HttpRequest, pk: int, action: str, item: int | None = None) -> HttpResponse:
        row, who = self.get_row(request, pk), caller(request, self.needed)
        if action not in _ACTIONS or (item is not None and action not in _OF_ITEMS):
            raise Http404
        chosen = {} if item is None else {"items": [item]}
        try:
            messages.success(request, _ACTIONS[action](who, row, **chosen))
        except DomainError as refused:
            messages.error(request, refused.sentence)
        if action == "delete":
            return self.back_to_list(request)
        return redirect("admin:connectors_connector_change", pk)
