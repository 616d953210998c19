"""The writer of CSV files. Their cells come from untrusted records and names."""

import csv
from collections.abc import Iterable, Iterator, Sequence

from django.http import HttpResponse, StreamingHttpResponse

_FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")


class _Line:
    """A file for the writer, which returns what is written."""

    def write(self, text: str) -> str:
        return text


def csv_answer(filename: str, rows: Iterable[Sequence[object]]) -> HttpResponse:
    """Return rows as a CSV file."""
    return HttpResponse(_lines(rows), headers=_headers(filename))


def csv_stream(filename: str, rows: Iterable[Sequence[object]]) -> StreamingHttpResponse:
    """Return rows as a CSV file that is sent while the rows are read."""
    return StreamingHttpResponse(_lines(rows), headers=_headers(filename))


def _headers(filename: str) -> dict[str, str]:
    return {
        "Content-Type": "text/csv; charset=utf-8",
        "Content-Disposition": f'attachment; filename="{filename}"',
    }


def _lines(rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Yield lines. Every cell is quoted, because some spreadsheets also split cells at other characters than commas,
    and a formula could follow one."""
    writer = csv.writer(_Line(), quoting=csv.QUOTE_ALL)
    return (writer.writerow([_cell(value) for value in row]) for row in rows)


def _cell(value: object) -> object:
    """Return a value, with an apostrophe before a text that a spreadsheet would take for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
