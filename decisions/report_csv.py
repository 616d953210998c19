from collections.abc import Sequence

from django.http import HttpResponse

from config.spreadsheets import csv_answer
from decisions.review_reports import GROUPINGS, Group


def report_csv(grouping: str, groups: Sequence[Group]) -> HttpResponse:
    """Return a report as a CSV file."""
    head = [GROUPINGS[grouping][0], "reviews", "overturned or modified", "rate", "mean days"]
    rows = [
        [
            group.name,
            group.reviews,
            group.overturned,
            f"{group.overturn_rate:.4f}",
            "" if group.mean_days is None else f"{group.mean_days:.2f}",
        ]
        for group in groups
    ]
    return csv_answer(f"reconsiderations-by-{grouping}.csv", [head, *rows])
