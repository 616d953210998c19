"""The base of the back office's pages: an operator sees one organization, and what their role allows."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any, ClassVar

from django.contrib import admin
from django.contrib.admin.utils import display_for_field, display_for_value, label_for_field, lookup_field
from django.contrib.admin.views.main import ERROR_FLAG, SEARCH_VAR
from django.core.exceptions import PermissionDenied
from django.db.models import Field, Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, reverse
from django.utils.html import format_html
from django.utils.text import capfirst

from accounts import selectors
from accounts.back_office.lists import CappedPaginator
from accounts.back_office.permissions import may_look
from accounts.roles import Permission
from config.http.timestamps import rfc3339

_LONGEST_SEARCH = 256


class ReadOnlyAdmin(admin.ModelAdmin):
    """Rows of the operator's organization, to look at. Changes are made by services, through pages of their own.

    `needed` is the permission to look; `organization_field` leads from a row to its organization; `nothing` is what
    the list says while it has no rows; `fields` are what a row's page shows; `labels` are what list, page and filters
    call the columns whose names are not for people.
    """

    needed: ClassVar[Permission]
    organization_field = "organization"
    nothing = "Nothing yet."
    labels: ClassVar[Mapping[Any, str]] = {}
    row_template = "admin/row.html"
    actions = None
    paginator = CappedPaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    list_per_page = 50

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request)
        organization = selectors.current_organization(request)
        return rows.filter(**{self.organization_field: organization}) if organization else rows.none()

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Django asks the database for each word, and none takes thousands."""
        return super().get_search_results(request, queryset, search_term[:_LONGEST_SEARCH])

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        columns = super().get_list_display(request)
        return [moment(each, self.labels[each]) if each in self.labels else each for each in columns]

    def get_urls(self) -> list[URLPattern]:
        """The list and a row's page; there is nothing to add, change or delete, and the audit trail is the history."""
        return [url for url in super().get_urls() if str(url.name).endswith(("_changelist", "_change"))]

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return may_look(request, self.needed)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """The address of a list filters by what the list offers, and by no other column."""
        offered = [each[0] if isinstance(each, tuple) else each for each in self.list_filter]
        return lookup.partition("__")[0] in [getattr(each, "parameter_name", each) for each in offered]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        asked = [value for name, value in request.GET.items() if name != SEARCH_VAR]  # whose form says so itself
        if any("\x00" in value for value in asked):  # PostgreSQL cannot be asked for it
            return HttpResponseRedirect(f"{request.path}?{ERROR_FLAG}=1")
        title = capfirst(str(self.opts.verbose_name_plural))
        return super().changelist_view(request, {"title": title, "nothing": self.nothing, **(extra_context or {})})

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        row = self.get_row(request, object_id)
        if request.method not in ("GET", "HEAD"):
            return HttpResponseNotAllowed(["GET", "HEAD"])
        context = {"row": row, "facts": self.facts(row), **self.row_context(request, row)}
        return self.page(request, self.row_template, str(row), **context)

    def row_context(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        """What `row_template` shows beyond the facts."""
        return {}

    def get_row(self, request: HttpRequest, pk: object) -> Any:
        """A row of the organization. Raises Http404 for any other, PermissionDenied for a role that may not look."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        row = self.get_object(request, str(pk))
        if row is None:
            raise Http404
        return row

    def facts(self, row: Model) -> list[tuple[str, Any]]:
        """The label and value of each of `fields`."""
        names = map(str, self.fields or ())
        return [
            (self.labels.get(name) or str(label_for_field(name, self.model, self)), self._fact(name, row))
            for name in names
        ]

    def _fact(self, name: str, row: Model) -> Any:
        field, _, value = lookup_field(name, row, self)
        if isinstance(value, datetime):
            return format_html("{} UTC", _time(value))
        if isinstance(field, Field) and not field.is_relation:
            return display_for_field(value, field, "-")
        return display_for_value(value, "-")

    def page(
        self, request: HttpRequest, template: str, title: str, *, status: int = 200, **context: Any
    ) -> TemplateResponse:
        """A page of one's own, made from a template that extends `admin/page.html`.

        Raises:
            PermissionDenied: the operator's role may not look.
        """
        if not self.has_view_permission(request):
            raise PermissionDenied
        common = {**self.admin_site.each_context(request), "opts": self.opts, "title": title}
        return TemplateResponse(request, template, {**common, **context}, status=status)


@cache  # lists tell columns apart by identity
def moment(field: str, description: str = "") -> Callable[[Model], str]:
    """A column of a list under another name, sortable as the field is. It shows a time as the pages do."""

    @admin.display(description=description or field.replace("_", " "), ordering=field)
    def shown(row: Model) -> Any:
        value = getattr(row, field)
        if isinstance(value, datetime):
            return _time(value)
        choice = getattr(row, f"get_{field}_display", None)
        return display_for_value(choice() if choice else value, "-")

    return shown


def label_of(actor: str) -> str:
    """The name of an actor that a column keeps as `str(Actor)`, without its kind, which is the first word."""
    return actor.partition(" ")[2]


_PAGES: dict[str, tuple[type[Model], str]] = {}


def register_page(kind: str, model: type[Model], column: str = "pk") -> None:
    """Say which rows are meant where the audit trail names something by its kind and an id; apps call this from their
    `ready()`.

    Args:
        column: the one that holds the id, as for `filter`.
    """
    _PAGES[kind] = (model, column)


def object_url(request: HttpRequest, kind: str, row_id: object) -> str:
    """The address of the page of what the audit trail names; "" as for `row_url`, and for other kinds."""
    if kind not in _PAGES:
        return ""
    model, column = _PAGES[kind]
    return row_url(request, model, **{column: row_id})


def row_url(request: HttpRequest, model: type[Model], **lookup: object) -> str:
    """The address of the page of one row; "" if there is none, or none that the operator may look at."""
    pages = admin.site._registry[model]
    if not pages.has_view_permission(request):
        return ""
    found = pages.get_queryset(request).filter(**lookup).first()
    return reverse(f"admin:{pages.opts.app_label}_{pages.opts.model_name}_change", args=[found.pk]) if found else ""


def _time(value: datetime) -> str:
    """To the minute, in UTC."""
    return format_html('<time datetime="{}">{}</time>', rfc3339(value), f"{value.astimezone(UTC):%Y-%m-%d %H:%M}")
