"""The list of mappings and the page of one."""

from typing import Any

from django.contrib import admin
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.back_office import NextStep, refusal
from decisions.mapping.back_office.pages import MappingPages
from decisions.mapping.models import Mapping, MappingProposal, MappingVersion


@admin.register(Mapping)
class MappingAdmin(MappingPages):
    """The mappings of an organization, each with its confirmed and its waiting version."""

    one, many = gettext_lazy("mapping"), gettext_lazy("mappings")
    nothing = gettext_lazy("No mappings yet: letters only tell fields of the published profile.")
    next_step = NextStep(gettext_lazy("Propose a mapping"), "admin:propose-mapping", MappingPages.editing)
    list_display = ("name", "records", "confirmed", "waiting", "unexplained")
    search_fields = ("name", "system_name")
    sortable_by = ()
    ordering = ("name", "pk")
    fields = ("records", "confirmed", "waiting", "unexplained", "created_at")
    labels = {"name": gettext_lazy("name"), "created_at": gettext_lazy("created")}
    row_template = "mappings/mapping.html"
    change_list_template = "mappings/list.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        versions = MappingVersion.objects.unscoped("of each mapping shown").filter(mapping=OuterRef("pk"))
        newest = versions.order_by("-number")
        proposals = MappingProposal.objects.unscoped("of each mapping shown").filter(mapping=OuterRef("pk"))
        rows: QuerySet[Any] = super().get_queryset(request)
        annotated: QuerySet[Any] = rows.annotate(
            newest_number=Subquery(newest.values("number")[:1]),
            confirmed_number=Subquery(newest.exclude(confirmed_at=None).values("number")[:1]),
            open_fields=Subquery(proposals.order_by("-pk").values("unexplained")[:1]),
        )
        return annotated

    @admin.display(description=gettext_lazy("records of"))
    def records(self, row: Mapping) -> Any:
        if row.system_name:
            return f"{row.system_name} {row.system_versions}".strip()
        if row.source:
            return _("records from %(source)s") % {"source": row.source}
        return format_html("<code>{}</code> = {}", row.field_path, row.field_value)

    @admin.display(description=gettext_lazy("confirmed version"))
    def confirmed(self, row: Any) -> str:
        return str(row.confirmed_number or "-")

    @admin.display(description=gettext_lazy("waiting version"))
    def waiting(self, row: Any) -> str:
        return str(row.newest_number) if row.newest_number != row.confirmed_number else "-"

    @admin.display(description=gettext_lazy("fields no one explained"))
    def unexplained(self, row: Any) -> str:
        return "-" if row.open_fields is None else str(row.open_fields)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return super().changelist_view(request, {"reason": refusal(request, self.editing)})
