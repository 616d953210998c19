"""Disposals in the back office: a list, and what pages show of a record that was disposed of."""

import uuid
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect

from accounts import selectors
from accounts.back_office import ReadOnlyAdmin, TimeRange, moment
from accounts.roles import Permission
from custody import disposals
from custody.models import Disposal
from custody.selectors import Disposed


def page_of(disposed: Disposed) -> HttpResponse:
    """To the page of the record that was disposed of, which tells of its disposal."""
    return redirect("admin:custody_entry_change", disposed.disposal.pk)


def disposal_named(request: HttpRequest, record_id: object) -> Disposal | None:
    """The disposal of a record of the operator's organization, if an address or a search names one that has it."""
    organization = selectors.current_organization(request)
    try:
        wanted = uuid.UUID(str(record_id))
    except ValueError:
        return None
    if organization is None:
        return None
    return Disposal.objects.for_organization(organization).select_related("record").filter(pk=wanted).first()


class OrDisposed(ReadOnlyAdmin):
    """Pages of what goes when a record is disposed of: then that page of the record is shown which tells of it."""

    def disposal_of(self, request: HttpRequest, pk: object) -> Disposal | None:
        """The disposal with which the row went."""
        return disposal_named(request, pk)

    def found(self, request: HttpRequest, pk: object) -> Any:
        """Raises Disposed, and as for all pages."""
        try:
            return super().found(request, pk)
        except Http404:
            if disposal := self.disposal_of(request, pk):
                raise Disposed(disposal) from None
            raise


class State(admin.SimpleListFilter):
    title = parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(state, state.capitalize()) for state in ("finished", "under way", "problem")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Disposal]) -> QuerySet[Disposal]:
        match self.value():
            case "finished":
                return queryset.exclude(finished_at=None)
            case "under way":
                return queryset.filter(finished_at=None, problem="")
            case "problem":
                return queryset.filter(finished_at=None).exclude(problem="")
            case _:
                return queryset


@admin.register(Disposal)
class DisposalAdmin(ReadOnlyAdmin):
    needed = Permission.READ_DECISIONS
    organization_field = "record__organization"
    nothing = "Nothing was disposed of. Records are, once there is a retention policy and their time is over."
    list_display = ("record_id", "kind", "policy", "state", moment("disposed_at", "disposed of"))
    list_select_related = ("record",)
    list_filter = (State, ("disposed_at", TimeRange))
    labels = {
        "disposed_at": "disposed of", "finished_at": "finished", "kept_until": "object locked by its storage until",
        "recoverable_until": "recoverable by whoever runs the storage until",
    }  # fmt: skip
    fields = (
        "record_id", "kind", "policy", "reason", "disposed_at", "state", "finished_at", "problem", "kept_until",
        "recoverable_until", "key_id",
    )  # fmt: skip
    sortable_by = ()
    ordering = ("-disposed_at", "-pk")

    @admin.display(description="kind")
    def kind(self, row: Disposal) -> str:
        return row.record.kind

    @admin.display(description="state")
    def state(self, row: Disposal) -> str:
        return disposals.state(row)

    @admin.display(description="reason")
    def reason(self, row: Disposal) -> str:
        return disposals.reason(row)
