"""Lists that stay fast however many rows there are: capped counts, and filters that read no more than they show."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, time, timedelta
from math import ceil
from typing import Any

from django.contrib.admin import FieldListFilter, SimpleListFilter
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ERROR_FLAG, PAGE_VAR
from django.core.paginator import Paginator
from django.db import connection
from django.db.models import QuerySet
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.utils import timezone
from django.utils.dateparse import parse_date
from django.utils.functional import cached_property

from config import lookups  # noqa: F401  it registers `begins`

MOST = 1000
_CHOICES = 12


def capped_count(rows: QuerySet[Any]) -> int:
    """How many rows there are; MOST + 1 stands for any more than MOST. One query, which reads no further."""
    return rows.order_by().values("pk")[: MOST + 1].count()


def capped_counts(lists: Iterable[QuerySet[Any]], most: int) -> list[int]:
    """How many rows there are in each of several lists, in one query that reads no more than `most` + 1 of each;
    `most` + 1 stands for any more."""
    limited = [rows.order_by().values("pk")[: most + 1].query.sql_with_params() for rows in lists]
    counts = ", ".join(f"(SELECT COUNT(*) FROM ({sql}) AS counted)" for sql, _ in limited)  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {counts}", [each for _, parameters in limited for each in parameters])
        return list(cursor.fetchone())


def beginning(rows: QuerySet[Any], columns: Iterable[str], text: str, *keys: Any) -> QuerySet[Any]:
    """The rows in which one of the columns begins with a text, in the order of `rows`; of more than MOST in a column,
    the last by spelling.

    One query for each column, which an index of it answers. As alternatives in one query they would read every row.

    Args:
        rows: ordered by columns.
        keys: those of rows to be found anyway.
    """
    found = {*keys}
    for column in columns:
        begun = rows.filter(**{f"{column}__begins": text}).order_by(f"-{column}")
        found |= {*begun.values_list("pk", flat=True)[: MOST + 1]}
    first, *others = map(str, rows.query.order_by)
    # By an expression: by the column itself PostgreSQL would walk along its index until it has met enough of them.
    order = Coalesce(first.lstrip("-"), first.lstrip("-"))
    return rows.filter(pk__in=found).order_by(order.desc() if first.startswith("-") else order.asc(), *others)


class CappedPaginator(Paginator):
    """Counts, and leads to, the first MOST rows. Whoever looks for another filters or searches."""

    @cached_property
    def count(self) -> int:
        return capped_count(self.object_list)  # type: ignore[arg-type]

    @property
    def has_more(self) -> bool:
        return self.count > MOST

    @cached_property
    def num_pages(self) -> int:
        return max(1, ceil(min(self.count, MOST) / self.per_page))


class _Filter(FieldListFilter):
    """A filter with a small form beside its links. `hidden` keeps what else is asked for."""

    def __init__(self, field: Any, request: HttpRequest, params: Any, model: Any, model_admin: Any, field_path: str):
        super().__init__(field, request, params, model, model_admin, field_path)
        self.title = model_admin.labels.get(field_path, self.title)
        forgotten = (*self.expected_parameters(), PAGE_VAR, ERROR_FLAG)
        self.hidden = [(name, value) for name, value in request.GET.items() if name not in forgotten]

    def _asked(self, name: str) -> str:
        """The last value given for a parameter."""
        given: Any = self.used_parameters.get(name)
        return given[-1] if given else ""

    def has_output(self) -> bool:
        return True


class ExactValue(_Filter):
    """One value of a column, which is entered in a field. Use it in `list_filter` as `("column", ExactValue)`."""

    template = "admin/filter_values.html"
    known: Sequence[str] = ()

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
            "display": "All",
        }
        for value in self.known:
            link = changelist.get_query_string({self.field_path: value})
            yield {"selected": value == self.value, "query_string": link, "display": value}


class RecentValues(ExactValue):
    """Exact values of a column: the most frequent of the newest MOST rows as links, and a field for any other.

    Use it in `list_filter` as `("column", RecentValues)`. It costs one query that ends after MOST rows.
    """

    def __init__(self, field: Any, request: HttpRequest, params: Any, model: Any, model_admin: Any, field_path: str):
        super().__init__(field, request, params, model, model_admin, field_path)
        newest = model_admin.get_queryset(request).order_by(*model_admin.ordering)
        found = Counter(newest.values_list(field_path, flat=True)[:MOST])
        self.known = sorted(str(value) for value, _ in found.most_common(_CHOICES) if value)


class TimeRange(_Filter):
    """A column's time: today, the last days, or from one day to another, both included; days are those of UTC.

    Use it in `list_filter` as `("column", TimeRange)`.
    """

    template = "admin/filter_time.html"
    _LAST = {"1": "Today", "7": "Last 7 days", "30": "Last 30 days"}

    def __init__(self, field: Any, request: HttpRequest, params: Any, model: Any, model_admin: Any, field_path: str):
        self.names = {part: f"{field_path}__{part}" for part in ("days", "from", "to")}
        super().__init__(field, request, params, model, model_admin, field_path)
        self.title = str(self.title).removesuffix(" at")
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
            "display": "Any time",
        }
        for number, display in self._LAST.items():
            link = changelist.get_query_string({**nothing, self.names["days"]: number})
            yield {"selected": number == self.days, "query_string": link, "display": display}


class View(SimpleListFilter):
    """A choice between views of a list, of which the first, named by `usual`, is shown where none is chosen."""

    usual: str

    def choices(self, changelist: Any) -> Iterator[Any]:
        first, *others = super().choices(changelist)
        yield {**first, "display": self.usual}
        yield from others


def _midnight() -> datetime:
    return datetime.combine(timezone.now().astimezone(UTC), time(), UTC)


def _day(text: str) -> datetime | None:
    """The beginning of a day written as a date field writes it. Raises IncorrectLookupParameters."""
    if not text:
        return None
    try:
        found = parse_date(text)
        if found is None or found.year > 9998:
            raise ValueError
        return datetime.combine(found, time(), UTC)
    except ValueError:
        raise IncorrectLookupParameters(text) from None
