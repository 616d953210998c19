"""Pages of lists: the rows after or before a row, sorted by one column, without empty columns."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.utils import label_for_field, lookup_field
from django.contrib.admin.views.main import ERROR_FLAG, ORDER_VAR, PAGE_VAR, SEARCH_VAR, ChangeList
from django.core.exceptions import ValidationError
from django.core.signing import BadSignature, Signer
from django.http import HttpRequest

from accounts.back_office import lists
from config.key_sets import KeySet

ROWS_VAR = "rows"
SIZES = (25, 50, 100)
"""Rows a page."""
MAX_CSV_ROWS = 10_000
_NO_FILTERS = (ROWS_VAR, ERROR_FLAG, ORDER_VAR, PAGE_VAR, SEARCH_VAR)


class Choice(NamedTuple):
    label: str
    url: str
    is_current: bool


class Header(NamedTuple):
    """The heading of a column. `url` sorts by the column, if it can. `sort` is the value of `aria-sort`."""

    label: str
    name: str
    url: str
    sort: str


class ListPage(ChangeList):
    """A page of a list.

    Its parameters: `o` names the column to sort by, after `-` for the opposite order. `rows` is the size of the page,
    and `p` its place.
    """

    MIN_ROWS = SIZES[0]
    """Rows of a list that fits on the smallest page."""
    before = after = ""  # addresses of the pages beside this one

    @property
    def is_sorted(self) -> bool:
        return self.params.get(ORDER_VAR, "").removeprefix("-") in self.sortable

    @property
    def sortable(self) -> Mapping[str, str]:
        """Return the field of each column that the list may be sorted by."""
        fields = {column_name(column): self.get_ordering_field(column) for column in self.list_display}
        return {name: field for name, field in fields.items() if isinstance(field, str) and self._may_sort(name)}

    def _may_sort(self, name: str) -> bool:
        return self.sortable_by is None or name in self.sortable_by

    def get_filters_params(self, params: Any = None) -> dict[str, Any]:
        asked = super().get_filters_params(params)
        asked.pop(ROWS_VAR, None)
        return asked

    def get_ordering(self, request: HttpRequest, queryset: Any) -> list[Any]:
        if self.is_sorted:
            asked = self.params[ORDER_VAR]
            sign = "-" if asked.startswith("-") else ""
            # The same direction for both, so that an index serves them forwards or backwards.
            return [f"{sign}{self.sortable[asked.removeprefix('-')]}", f"{sign}pk"]
        ordering = [*self.model_admin.get_ordering(request)]
        return ordering if "-pk" in ordering else [*ordering, "-pk"]

    def get_results(self, request: HttpRequest) -> None:
        """Read the page. A place that has no rows any more is replaced by the first page."""
        self.key_set = KeySet(self.queryset)
        self.place = request.GET.get(PAGE_VAR, "")
        self.size = next((size for size in SIZES if str(size) == request.GET.get(ROWS_VAR)), self.list_per_page)
        self.result_count = lists.capped_count(self.queryset)
        way, position = self._read_place()
        rows, has_before, has_after = self._rows(way, position)
        self.result_list = rows
        if has_before:
            self.before = self._url("before", rows[0])
        if has_after:
            self.after = self._url("after", rows[-1])
        self.all_columns = self.list_display
        first, *others = self.all_columns
        self.list_display = [first, *filter(self._has_values, others)]

    def _rows(self, way: str, position: Any) -> tuple[list[Any], bool, bool]:
        """Return the rows, whether there are some before them, and whether there are some after them."""
        wanted = self.size + 1
        if way == "before":
            rows = self.key_set.before(position, wanted)
            if len(rows) == wanted:
                return rows[1:], True, True
        elif way == "after" and (rows := self.key_set.after(position, wanted)):
            return rows[: self.size], True, len(rows) == wanted
        rows = self.key_set.after(None, wanted) if self.result_count else []
        return rows[: self.size], False, len(rows) == wanted

    def _read_place(self) -> tuple[str, Any]:
        """Return whether the page is before or after a position, and the position. Raises IncorrectLookupParameters."""
        if not self.place:
            return "", None
        try:
            way, *position = self._signer.unsign_object(self.place)
            return way, self.key_set.read(position)
        except (BadSignature, ValidationError, ValueError):
            raise IncorrectLookupParameters(self.place) from None

    def _url(self, way: str, row: Any) -> str:
        place = self._signer.sign_object([way, *self.key_set.position(row)])
        return self.get_query_string({PAGE_VAR: place})

    @property
    def csv(self) -> str:
        """Return the address of the file with these rows."""
        return f"csv/{self.get_query_string()}"

    @property
    def csv_limit(self) -> str:
        """Return the number of rows in the file, if the list may have more."""
        return f"{MAX_CSV_ROWS:,}" if self.result_count > lists.MAX_ROWS else ""

    @property
    def first(self) -> str:
        """Return the address of the first page."""
        return self.get_query_string()

    @property
    def _signer(self) -> Signer:
        """Return the signer of places in this list and order: databases compare no values of other sources."""
        order = [f"{key.is_descending}{key.name}" for key in self.key_set.keys]
        return Signer(salt=":".join(["list", self.opts.label, *order]))

    def _has_values(self, column: Any) -> bool:
        values = (lookup_field(column, row, self.model_admin)[2] for row in self.result_list)
        return any(value not in (None, "", "-") for value in values)

    def headers(self) -> Iterator[Header]:
        current = self.key_set.keys[0]
        sortable = self.sortable
        for column in self.list_display:
            name, sort, sign = column_name(column), "", ""
            if sortable.get(name) == current.name:
                sort, sign = ("descending", "") if current.is_descending else ("ascending", "-")
            url = self.get_query_string({ORDER_VAR: f"{sign}{name}"}) if name in sortable else ""
            yield Header(self._label(column), name, url, sort)

    def _label(self, column: Any) -> str:
        labels: Mapping[Any, str] = getattr(self.model_admin, "labels", {})
        label = labels.get(column) or label_for_field(column, self.model, self.model_admin)
        return str(label)

    def sizes(self) -> Iterator[Choice]:
        place = {PAGE_VAR: self.place or None}
        for size in SIZES:
            yield Choice(str(size), self.get_query_string({ROWS_VAR: size, **place}), size == self.size)


def is_filtered(request: HttpRequest) -> bool:
    """Whether a list's address names a filter."""
    return any(value for name, value in request.GET.items() if name not in _NO_FILTERS)


def column_name(column: Any) -> str:
    """Return the name of a column, which is a name or a function."""
    return column if isinstance(column, str) else column.__name__
