"""Filters of lists: by values, by time, and by views."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, time, timedelta
from typing import Any

from django.contrib.admin import FieldListFilter, SimpleListFilter
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ERROR_FLAG, PAGE_VAR
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.dateparse import parse_date
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from config.distinct_values import distinct_values
from config.words import in_words

MAX_VALUES = 200


class _Filter(FieldListFilter):
    """A filter with a small form beside its links. `hidden` holds the other parameters of the request."""

    def __init__(self, field: Any, request: HttpRequest, params: Any, model: Any, model_admin: Any, field_path: str):
        super().__init__(field, request, params, model, model_admin, field_path)
        self.title = model_admin.labels.get(field_path, self.title)
        forgotten = (*self.expected_parameters(), PAGE_VAR, ERROR_FLAG)
        self.hidden = [(name, value) for name, value in request.GET.items() if name not in forgotten]

    def _asked(self, name: str) -> str:
        """Return the last value given for a parameter."""
        given: Any = self.used_parameters.get(name)
        return given[-1] if given else ""

    def has_output(self) -> bool:
        return True


class ExactValue(_Filter):
    """One value of a column, entered in a field. Use it in `list_filter` as `("column", ExactValue)`."""

    template = "admin/filter_values.html"
    known: Sequence[str] = ()
    is_choice = False
    words: Callable[[str], str] = str

    def __init__(self, field: Any, request: HttpRequest, params: Any, model: Any, model_admin: Any, field_path: str):
        super().__init__(field, request, params, model, model_admin, field_path)
        self.value = self._asked(field_path)

    def expected_parameters(self) -> list[str | None]:
        return [self.field_path]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(**{self.field_path: self.value}) if self.value else queryset

    def choices(self, changelist: Any) -> Iterator[Any]:
        yield {
            "selected": not self.value,
            "query_string": changelist.get_query_string({self.field_path: None}),
            "display": _("All"),
        }
        for value in self.known:
            link = changelist.get_query_string({self.field_path: value})
            display = self.words(value)
            yield {"selected": value == self.value, "query_string": link, "display": display, "value": value}


class AllValues(ExactValue):
    """Exact values of a column: a choice of all, or a field if there are more than MAX_VALUES.

    Use it in `list_filter` as `("column", AllValues)`. It costs one query. An index must begin with the organization
    and the column.
    """

    def __init__(self, field: Any, request: HttpRequest, params: Any, model: Any, model_admin: Any, field_path: str):
        super().__init__(field, request, params, model, model_admin, field_path)
        values = distinct_values(model_admin.rows_of_values(request), field_path, MAX_VALUES + 1)
        self.is_choice = len(values) <= MAX_VALUES
        if self.is_choice:
            chosen = [self.value] if self.value and self.value not in values else []
            self.known = sorted([*values, *chosen], key=lambda value: self.words(value).casefold())


class AllCodes(AllValues):
    """All values of a column of codes, shown in words. Names of systems and people stay as they are written."""

    words = staticmethod(in_words)


class TimeRange(_Filter):
    """A range of a column's time: today, the last days, or from one day to another, both included. Days are UTC.

    Use it in `list_filter` as `("column", TimeRange)`.
    """

    template = "admin/filter_time.html"
    _LAST = {"1": _("Today"), "7": _("Last 7 days"), "30": _("Last 30 days")}

    def __init__(self, field: Any, request: HttpRequest, params: Any, model: Any, model_admin: Any, field_path: str):
        self.names = {part: f"{field_path}__{part}" for part in ("days", "from", "to")}
        super().__init__(field, request, params, model, model_admin, field_path)
        self.days, self.first, self.last = map(self._asked, self.names.values())

    def expected_parameters(self) -> list[str | None]:
        return list(self.names.values())

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        begins, ends = _day(self.first), _day(self.last)
        if self.days in self._LAST:
            begins = _midnight() - timedelta(days=int(self.days) - 1)
        limits = {"gte": begins, "lt": ends and ends + timedelta(days=1)}
        return queryset.filter(**{f"{self.field_path}__{name}": limit for name, limit in limits.items() if limit})

    def choices(self, changelist: Any) -> Iterator[Any]:
        nothing: dict[str, str | None] = dict.fromkeys(self.names.values())
        yield {
            "selected": not (self.days or self.first or self.last),
            "query_string": changelist.get_query_string(nothing),
            "display": _("Any time"),
        }
        for number, display in self._LAST.items():
            link = changelist.get_query_string({**nothing, self.names["days"]: number})
            yield {"selected": number == self.days, "query_string": link, "display": display}


class View(SimpleListFilter):
    """A choice between views of a list. The first, named by `usual`, is the default."""

    usual: str | Promise

    def choices(self, changelist: Any) -> Iterator[Any]:
        first, *others = super().choices(changelist)
        yield {**first, "display": self.usual}
        yield from others


def _midnight() -> datetime:
    return datetime.combine(timezone.now().astimezone(UTC), time(), UTC)


def _day(text: str) -> datetime | None:
    """Return the start of a day in the format of a date field. Raises IncorrectLookupParameters."""
    if not text:
        return None
    try:
        day = parse_date(text)
        if day is None or day.year > 9998:
            raise ValueError
        return datetime.combine(day, time(), UTC)
    except ValueError:
        raise IncorrectLookupParameters(text) from None
