"""Filters of the connector list."""

from collections.abc import Callable
from typing import Any

from django.contrib.admin import SimpleListFilter
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from connectors.models import Kind, Quarantined

_QUARANTINED = Quarantined.objects.unscoped("of each connector shown").filter(connector=OuterRef("pk"))
_STATES: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "stopped": ("Stopped", lambda rows: rows.exclude(stopped_at=None)),
    "silent": ("Silent", lambda rows: rows.silent()),
    "failing": ("Failing", lambda rows: rows.filter(failures__gt=0, stopped_at=None)),
    "quarantine": ("With items in quarantine", lambda rows: rows.filter(Exists(_QUARANTINED))),
    "problems": ("Not configured", lambda rows: rows.exclude(problems=[])),
    "disabled": ("Disabled", lambda rows: rows.filter(enabled=False)),
}


class State(SimpleListFilter):
    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, title) for name, (title, _) in _STATES.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        chosen = self.value()
        return _STATES[chosen][1](queryset) if chosen in _STATES else queryset


class KindOf(SimpleListFilter):
    title = _("kind")
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(kind.value, str(kind.label)) for kind in Kind]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(kind=self.value()) if self.value() in Kind.values else queryset
