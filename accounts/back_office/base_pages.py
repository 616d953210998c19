"""The base of the back office's pages. An operator sees the rows of one organization, if their role allows it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from typing import Any, ClassVar, cast

from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.utils import display_for_field, display_for_value, label_for_field, lookup_field
from django.contrib.admin.views.main import ERROR_FLAG, SEARCH_VAR
from django.core.exceptions import PermissionDenied
from django.db.models import DateTimeField, Field, Model, QuerySet, UUIDField
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from accounts import selectors
from accounts.back_office import places
from accounts.back_office.identifiers import copyable_id, is_long_id, short_id
from accounts.back_office.list_csv import list_csv
from accounts.back_office.list_pages import ListPage
from accounts.back_office.permissions import may_look, refusal
from accounts.back_office.times import time_tag
from accounts.roles import Permission
from config.http.timestamps import day_in_words
from config.words import codes_marked

_MAX_SEARCH = 256  # characters


@dataclass(frozen=True, slots=True)
class NextStep:
    """A link below an empty list to what fills it.

    Attributes:
        label: the words of the link, in the imperative.
        name: the name of its URL.
        needed: the permission to follow it, by default that to look.
        query: the query string of its URL.
    """

    label: str | Promise
    name: str
    needed: Permission | None = None
    query: str = ""

    @property
    def url(self) -> str:
        return f"{reverse(self.name)}?{self.query}" if self.query else reverse(self.name)


class ReadOnlyAdmin(admin.ModelAdmin):
    """Read-only pages of the operator's organization. Changes go through services, on separate pages.

    `needed` is the permission to look. `organization_field` is the path from a row to its organization. `nothing` is
    the text of an empty list, and `next_step` the link after it. `one` and `many` name a row and several. `fields` are
    the columns on a row's page. `labels` name the columns that are fields of the model.
    """

    needed: ClassVar[Permission]
    organization_field = "organization"
    nothing: str | Promise = _("Nothing yet.")
    next_step: ClassVar[NextStep | None] = None
    one: str | Promise = ""
    many: str | Promise = ""
    labels: ClassVar[Mapping[Any, str | Promise]] = {}
    row_template = "admin/row.html"
    actions = None
    preserve_filters = False  # `places` keeps them
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    list_per_page = 50

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request)
        organization = selectors.current_organization(request)
        return rows.filter(**{self.organization_field: organization}) if organization else rows.none()

    def rows_of_values(self, request: HttpRequest) -> QuerySet[Any]:
        """Return the rows whose values the filters offer. Their conditions must be those of an index."""
        return self.get_queryset(request)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Shorten the search term: Django adds a condition for each word, and no database takes thousands."""
        return super().get_search_results(request, queryset, search_term[:_MAX_SEARCH])

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        columns = super().get_list_display(request)
        return [moment(column, self.labels[column]) if self._is_moment(column) else column for column in columns]

    def _is_moment(self, column: Any) -> bool:
        return column in self.labels and isinstance(self.opts.get_field(column), DateTimeField | UUIDField)

    def get_changelist(self, request: HttpRequest, **options: Any) -> type[ListPage]:
        return ListPage

    def get_urls(self) -> list[URLPattern]:
        """Keep the list and the row's page, and add the list's file. The audit trail replaces Django's history."""
        name = f"{self.opts.app_label}_{self.opts.model_name}_csv"
        pages = [url for url in super().get_urls() if str(url.name).endswith(("_changelist", "_change"))]
        return [path("csv/", self.admin_site.admin_view(self.csv_view), name=name), *pages]

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return may_look(request, self.needed)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """Whether a list's address may filter by a column: only by those that the list offers."""
        offered = [item[0] if isinstance(item, tuple) else item for item in self.list_filter]
        return lookup.partition("__")[0] in [getattr(item, "parameter_name", item) for item in offered]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        if _has_nul(request):
            return HttpResponseRedirect(f"{request.path}?{ERROR_FLAG}=1")
        title = capfirst(str(self.many))
        page = super().changelist_view(
            request, {"title": title, "nothing": self._nothing(request), **(extra_context or {})}
        )
        if page.status_code == 200:
            places.remember(request, page)
        return page

    def csv_view(self, request: HttpRequest) -> HttpResponseBase:
        """Download the rows of the list at the same query.

        Raises:
            PermissionDenied: the operator's role may not look.
            Http404: the address is not that of a list.
        """
        if not self.has_view_permission(request):
            raise PermissionDenied
        if request.method not in ("GET", "HEAD"):
            return HttpResponseNotAllowed(["GET", "HEAD"])
        if _has_nul(request):
            raise Http404
        try:
            page = cast(ListPage, self.get_changelist_instance(request))
        except IncorrectLookupParameters:
            raise Http404 from None
        return list_csv(request, page, str(self.many))

    def back_to_list(self, request: HttpRequest) -> HttpResponseRedirect:
        """Redirect to the list as the person left it."""
        path = reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist")
        return HttpResponseRedirect(places.left_at(request, path))

    def _nothing(self, request: HttpRequest) -> str | Promise:
        """Return the text of an empty list, with the next step if the operator may take it."""
        step = self.next_step
        if step is None or (step.needed and refusal(request, step.needed)):
            return self.nothing
        return format_html('{} <a href="{}">{}</a>', self.nothing, step.url, step.label)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        row = self.get_row(request, object_id)
        if request.method not in ("GET", "HEAD"):
            return HttpResponseNotAllowed(["GET", "HEAD"])
        context = {"row": row, "facts": self.facts(row), **self.row_context(request, row)}
        return self.page(request, self.row_template, self.title(row), **context)

    def title(self, row: Any) -> str:
        """Return the title of a row's page."""
        return str(row)

    def row_context(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        """Return further context for `row_template`, beyond the facts."""
        return {}

    def get_row(self, request: HttpRequest, pk: object) -> Any:
        """Return a row of the organization.

        Raises:
            PermissionDenied: the operator's role may not look.
            Http404: the organization has no such row.
        """
        if not self.has_view_permission(request):
            raise PermissionDenied
        row = self.get_object(request, str(pk))
        if row is None:
            raise Http404
        return row

    def facts(self, row: Model) -> list[tuple[str, Any]]:
        """Return the label and value of each of `fields`."""
        names = map(str, self.fields or ())
        return [
            (str(self.labels.get(name) or label_for_field(name, self.model, self)), self._fact(name, row))
            for name in names
        ]

    def _fact(self, name: str, row: Model) -> Any:
        field, _, value = lookup_field(name, row, self)
        if isinstance(value, datetime):
            return time_tag(value)
        if isinstance(value, date):
            return day_in_words(value)
        if is_long_id(value):
            return copyable_id(value)
        if isinstance(field, Field) and not field.is_relation:
            return codes_marked(display_for_field(value, field, "-"))
        return codes_marked(display_for_value(value, "-"))

    def page(
        self, request: HttpRequest, template: str, title: str | Promise, *, status: int = 200, **context: Any
    ) -> TemplateResponse:
        """Render a template that extends `admin/page.html`.

        Raises:
            PermissionDenied: the operator's role may not look.
        """
        if not self.has_view_permission(request):
            raise PermissionDenied
        common = {**self.admin_site.each_context(request), "opts": self.opts, "title": title}
        return TemplateResponse(request, template, {**common, **context}, status=status)


@cache  # lists compare columns by identity
def moment(field: str, description: str | Promise) -> Callable[[Model], str]:
    """Return a list column under another name, sortable by its field. Times look as on the pages."""

    @admin.display(description=description, ordering=field)  # type: ignore[arg-type]
    def shown(row: Model) -> Any:
        value = getattr(row, field)
        if isinstance(value, datetime):
            return time_tag(value)
        if is_long_id(value):
            return short_id(value)
        choice = getattr(row, f"get_{field}_display", None)
        return codes_marked(display_for_value(choice() if choice else value, "-"))

    shown.__name__ = field  # a list's address and its cells name columns
    return shown


def label_of(actor: str) -> str:
    """Return the label of an actor stored as `str(Actor)`: all but the first word, the kind."""
    return actor.partition(" ")[2]


def _has_nul(request: HttpRequest) -> bool:
    """Whether a filter has a NUL, for which PostgreSQL raises an error. The search form refuses it."""
    return any("\x00" in value for name, value in request.GET.items() if name != SEARCH_VAR)


_PAGES: dict[str, tuple[type[Model], str]] = {}


def register_page(kind: str, model: type[Model], column: str = "pk") -> None:
    """Link audit events about objects of this kind to the rows of a model. Apps call this from their `ready()`.

    Args:
        column: the lookup for the object's id, as for `filter`.
    """
    _PAGES[kind] = (model, column)


def object_url(request: HttpRequest, kind: str, row_id: object) -> str:
    """Return the URL of the page of an audited object, or "" for unregistered kinds and as in `row_url`."""
    if kind not in _PAGES:
        return ""
    model, column = _PAGES[kind]
    return row_url(request, model, **{column: row_id})


def row_url(request: HttpRequest, model: type[Model], **lookup: object) -> str:
    """Return the URL of a row's page, or "" if the operator may not see such a row."""
    pages = admin.site._registry[model]
    if not pages.has_view_permission(request):
        return ""
    row = pages.get_queryset(request).filter(**lookup).first()
    return reverse(f"admin:{pages.opts.app_label}_{pages.opts.model_name}_change", args=[row.pk]) if row else ""
