"""The one writer of CSV files. What stands in them comes from records and names that others wrote."""

import csv
from collections.abc import Iterable, Sequence

from django.http import HttpResponse

_FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")


def csv_answer(filename: str, rows: Iterable[Sequence[object]]) -> HttpResponse:
    """Rows as a file for a spreadsheet.

    Every cell is quoted: some spreadsheets divide cells at other characters than commas, and what begins after such a
    one could be a formula.
    """
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{filename}"'
    csv.writer(response, quoting=csv.QUOTE_ALL).writerows(map(_cell, row) for row in rows)
    return response


def _cell(value: object) -> object:
    """A text that a spreadsheet would take for a formula begins with an apostrophe; numbers are what they are."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
