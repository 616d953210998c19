"""Filters of the connector list."""

from collections.abc import Callable
from typing import Any

from django.contrib.admin import SimpleListFilter
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from connectors.models import Kind, Quarantined

_QUARANTINED = Quarantined.objects.unscoped("of each connector shown").filter(connector=OuterRef("pk"))
_STATES: dict[str, tuple[str | Promise, Callable[[Any], Any]]] = {
    "stopped": (_("Stopped"), lambda rows: rows.exclude(stopped_at=None)),
    "silent": (_("Silent"), lambda rows: rows.silent()),
    "failing": (_("Failing"), lambda rows: rows.filter(failures__gt=0, stopped_at=None)),
    "quarantine": (_("With items in quarantine"), lambda rows: rows.filter(Exists(_QUARANTINED))),
    "problems": (_("Not configured"), lambda rows: rows.exclude(problems=[])),
    "disabled": (_("Disabled"), lambda rows: rows.filter(enabled=False)),
}


class State(SimpleListFilter):
    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [(name, title) for name, (title, _) in _STATES.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        chosen = self.value()
        return _STATES[chosen][1](queryset) if chosen in _STATES else queryset


class KindOf(SimpleListFilter):
    title = _("kind")
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [(kind.value, kind.label) for kind in Kind]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(kind=self.value()) if self.value() in Kind.values else queryset
