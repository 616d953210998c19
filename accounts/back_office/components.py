"""A page with every component of the pages in each state. It has no data: the tests of looks read it."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.functional import Promise

from accounts.back_office.flows import Column, CountedFlow, Flow
from accounts.back_office.navigation import Link, Menu
from accounts.back_office.start_page import Bar, Chart, Need
from accounts.models import Organization

_FIRST_DAY = date(2026, 11, 2)
_COUNTS = (3, 0, 12, 48, 7)
_TREE = [
    {"key": "decision_id", "path": "decision_id", "value": "loan-1", "is_text": True},
    {
        "key": "outcome",
        "path": "outcome",
        "count": 2,
        "is_open": True,
        "children": [
            {"stem": "outcome.", "key": "action", "path": "outcome.action", "value": "denied", "is_text": True},
            {"stem": "outcome.", "key": "score", "path": "outcome.score", "value": "0.42"},
        ],
    },
    {"key": "events", "path": "events", "count": 4000},
]


def components(request: HttpRequest) -> HttpResponse:
    """Show the page."""
    return render(request, "components.html", _context())


def _context() -> dict[str, Any]:
    page = "#navigation"
    groups: Mapping[str | Promise, Sequence[tuple[Link, int]]] = {
        "Work": [(Link("To do", page, is_current=True), 12), (Link("Requests", page, is_current=False), 0)],
        "": [(Link("Decisions", page, is_current=False), 100)],
    }
    rows = Organization.objects.none()
    received = Flow("Decisions received", rows, "created_at", "#charts")
    sent = Flow("Letters sent", rows, "created_at", "#charts")
    days = [Column(_FIRST_DAY + timedelta(days=number), count) for number, count in enumerate(_COUNTS)]
    return {
        "menu": Menu(groups),
        "needs": [
            Need("notices past their deadline", "notice past its deadline", 1, "#needs", urgent=True),
            Need("notices due soon", "notice due soon", 1001, "#needs"),
        ],
        "flows": [CountedFlow(received, days, has_rows=True), CountedFlow(sent, [], has_rows=False)],
        "chart": Chart("Decisions changed on review", [Bar("Scorecard", 25, "% of 8")], "#charts", "By system.", 100),
        "nodes": _TREE,
    }
