"""The CSV file of a list: the rows of its filter and search, in its order, with the words of its cells."""

import re
from collections.abc import Iterable, Iterator
from html import unescape
from itertools import chain

from django.contrib.admin.templatetags.admin_list import items_for_result
from django.http import HttpRequest, StreamingHttpResponse
from django.utils.html import strip_tags
from django.utils.text import capfirst, slugify

from accounts import audit, selectors
from accounts.back_office.list_pages import MAX_CSV_ROWS, ListPage
from config.spreadsheets import csv_stream

_BATCH_ROWS = 500
_TIME = re.compile(r'<time datetime="([^"]{0,40})"[^>]{0,60}>[^<]{0,40}</time>')


def list_csv(request: HttpRequest, page: ListPage, name: str) -> StreamingHttpResponse:
    """Return the file, and record in the audit trail who took it. It has MAX_CSV_ROWS rows at most.

    A HEAD request gets no rows, and is not recorded.

    Args:
        name: names the rows, for people.
    """
    page.list_display = page.all_columns
    head = [capfirst(header.label) for header in page.headers()]
    rows: Iterable[list[str]] = ()
    if request.method == "GET":
        _record(request, page, name)
        rows = _rows(page)
    return csv_stream(f"{slugify(name)}.csv", chain([head], rows))


def _record(request: HttpRequest, page: ListPage, name: str) -> None:
    organization = selectors.current_organization(request)
    audit.record(
        "list.exported",
        actor=selectors.actor(request),
        organization_id=organization.pk if organization else None,
        object_kind="list",
        object_id=name,
        filters=sorted(page.get_filters_params()),
        searched=bool(page.query),
    )


def _rows(page: ListPage) -> Iterator[list[str]]:
    """Yield the cells of each row, read in batches: a cursor of the database would stay open for a slow reader."""
    position, left = None, MAX_CSV_ROWS
    while rows := page.key_set.after(position, min(_BATCH_ROWS, left)):
        yield from ([_text(cell) for cell in items_for_result(page, row, None)] for row in rows)
        position = page.key_set.read(page.key_set.position(rows[-1]))
        left -= len(rows)


def _text(cell: str) -> str:
    """Return the words of a cell. Times have their zone, and an empty cell has nothing."""
    text = unescape(strip_tags(_TIME.sub(r"\1", cell).replace("<br>", " · "))).strip()
    return "" if text == "-" else text
