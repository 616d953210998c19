"""The queue of notices: its views, filters and order."""

from typing import Any

from django.contrib import admin
from django.db.models import F, QuerySet
from django.http import HttpRequest
from django.utils.translation import get_language_info
from django.utils.translation import gettext_lazy as _

from accounts import selectors as accounts
from accounts.back_office import View
from notices import selectors
from notices.models import Notice, languages
from notices.packs import packs

State = Notice.State
_STATES = {
    State.DRAFT: _("Drafts"),
    State.IN_REVIEW: _("Waiting for review"),
    State.APPROVED: _("Approved, not delivered"),
    State.DELIVERED: _("Delivered"),
    State.WITHDRAWN: _("Withdrawn"),
}
_NEWEST_FIRST = ("all", State.DELIVERED, State.WITHDRAWN)


def order(request: HttpRequest) -> list[Any]:
    """Return the order of the queue: by deadline, or newest first for views of finished notices. Both are indexed."""
    newest_first = ["-created_at", "-pk"]
    if request.GET.get(Queue.parameter_name) in _NEWEST_FIRST:
        return newest_first
    return [F("due_at").asc(nulls_last=True), *newest_first]


class Queue(View):
    """The view of the queue; the default shows notices that need work."""

    title = _("queue")
    parameter_name = "queue"
    usual = _("To do")

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [
            ("overdue", _("Overdue")),
            ("at_risk", _("Due soon")),
            ("mine", _("Assigned to me")),
            ("sent_back", _("Sent back to me")),
            *((state.value, label) for state, label in _STATES.items()),
            ("all", _("All")),
        ]

    def queryset(self, request: HttpRequest, rows: QuerySet[Notice]) -> QuerySet[Notice]:
        chosen = self.value()
        if chosen in State.values:
            return rows.filter(state=chosen)
        match chosen:
            case "overdue":
                return selectors.overdue(rows)
            case "at_risk":
                organization = accounts.current_organization(request)
                days = selectors.settings_of(organization.pk).at_risk_days if organization else 0
                return selectors.at_risk(rows, days)
            case "mine":
                member = accounts.current_member(request)
                return rows.filter(state__in=Notice.UNSENT, holder=member) if member else rows.none()
            case "sent_back":
                member = accounts.current_member(request)
                return selectors.sent_back(rows, member.user.email) if member else rows.none()
            case "all":
                return rows
            case _:
                return rows.filter(state__among=Notice.UNSENT)


class _Exactly(admin.SimpleListFilter):
    """A filter by a column with values from the packs, so that no rows are read to list them."""

    def queryset(self, request: HttpRequest, rows: QuerySet[Notice]) -> QuerySet[Notice]:
        return rows.filter(**{str(self.parameter_name): self.value()}) if self.value() else rows


class ByPack(_Exactly):
    title = _("pack")
    parameter_name = "pack"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(pack.id, pack.short_name) for pack in packs().values()]


class ByLanguage(_Exactly):
    title = _("language")
    parameter_name = "language"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(language, get_language_info(language)["name"]) for language in languages()]
