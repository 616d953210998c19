"""The writer of CSV files. Their cells come from untrusted records and names."""

import csv
from collections.abc import Iterable, Sequence

from django.http import HttpResponse

_FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")


def csv_answer(filename: str, rows: Iterable[Sequence[object]]) -> HttpResponse:
    """Return rows as a CSV file.

    Every cell is quoted, because some spreadsheets also split cells at other characters than commas, and a formula
    could follow one.
    """
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{filename}"'
    csv.writer(response, quoting=csv.QUOTE_ALL).writerows(map(_cell, row) for row in rows)
    return response


def _cell(value: object) -> object:
    """Return a value, with an apostrophe before a text that a spreadsheet would take for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
