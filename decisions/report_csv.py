import csv
from collections.abc import Sequence

from django.http import HttpResponse

from decisions.reports import GROUPINGS, Group


def report_csv(grouping: str, groups: Sequence[Group]) -> HttpResponse:
    """A report as a file for a spreadsheet."""
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="reconsiderations-by-{grouping}.csv"'
    lines = csv.writer(response)
    lines.writerow([GROUPINGS[grouping][0], "reviews", "overturned or modified", "rate", "mean days"])
    for group in groups:
        days = "" if group.mean_days is None else f"{group.mean_days:.2f}"
        lines.writerow([_as_text(group.name), group.reviews, group.overturned, f"{group.overturn_rate:.4f}", days])
    return response


def _as_text(value: str) -> str:
    """A name that a spreadsheet would take for a formula is quoted, for it comes from a record that others wrote."""
    return f"'{value}" if value.startswith(tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")) else value
