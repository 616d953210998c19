"""Growth: pages and lists read no more rows when there are more decisions and notices, and scan no large table."""

import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import psycopg
import pytest
from django.contrib import admin
from django.db import connection
from django.urls import reverse

from accounts.back_office import flows, lists
from accounts.roles import Role
from bench.growth_rows import fill
from decisions import back_office
from tests.people import linked
from tests.query_plans import plans
from tests.rows_read import rows_read

pytestmark = pytest.mark.django_db
SMALL, TIMES = 400, 5
TOLERATED, NOISE = 1.3, 500  # a page has 50 rows, each with its own small queries
DECISIONS, QUEUE = "/admin/decisions/decision/", "/admin/notices/notice/"
AUDIT = "/admin/accounts/auditevent/"
REPORTS = (f"{DECISIONS}reports/", "/admin/notices/noticesettings/report/")
DISPOSALS = "/admin/custody/disposal/"
OPENAPI = Path(__file__).parents[2] / "docs/openapi.json"
_SMALL_TABLES = {"config_changemark", "custody_installation", "accounts_organization"}
_SCANS = {"sqlite": re.compile(r"SCAN (\w+)"), "postgresql": re.compile(r"Seq Scan on (\w+)")}
_DERIVED = {"CONSTANT", "counted", "subquery", "known", "systems", "part_0", "part_1", "matching"}
"""Names that SQLite scans besides tables: subqueries that count, and values read one by one, which a LIMIT bounds."""


def pages(notice) -> Iterator[str]:
    yield "/admin/"
    yield f"{DECISIONS}{notice.decision_id}/change/"
    yield f"{QUEUE}{notice.pk}/change/"
    for query in (
        "", "kind=decision", "kind=reconsideration", "action=approved", "action=none", "system_name=System 3",
        "received_at__days=30", "decided_at__days=30", "decided_at__to=2020-01-01",
        "q=loan-1", "q=loan-1200", "q=person 7", "q=none", f"q={notice.decision_id}",
    ):  # fmt: skip
        yield f"{DECISIONS}?{query}"
    for order in ("decision_id", "received_at", "decided_at"):
        yield from (f"{DECISIONS}?o={sign}{order}" for sign in ("", "-"))
    for query in (
        "",
        "queue=in_review",
        "queue=delivered",
        "queue=all",
        "q=real-1",
        "queue=all&q=none",
    ):
        yield f"{QUEUE}?{query}"
    for query in ("", "q=none"):
        yield f"/admin/decisions/reconsideration/?{query}"
    for query in ("", "verb=bench.3", "actor_label=bench", "object_kind=notice"):
        yield f"{AUDIT}?{query}"
    for query in ("review_outcome=upheld", "reviewer=Reviewer 4", "reviewer_authority=credit officer"):
        yield f"/admin/decisions/reconsideration/?{query}"
    yield DISPOSALS
    for query in ("state=stored", "state=waiting", "state=disposed"):
        yield f"/admin/custody/entry/?{query}"


def resources(notice) -> Iterator[str]:
    yield from (f"/v1/decisions/real-1{part}" for part in ("", "/record", "/receipt"))
    yield "/v1/decisions/none"
    yield "/v1/retention/disposals"
    for query in (
        "", "kind=reconsideration", "action=approved", "action=none", "system=System 3", "source=api",
        "received_to=2020-01-01T00:00:00Z",
    ):  # fmt: skip
        yield f"/v1/decisions?{query}"
    for query in ("", "state=in_review", "decision_id=real-1"):
        yield f"/v1/notices?{query}"


def changelists() -> Iterator[str]:
    """Yield every list of the back office."""
    for model in admin.site._registry:
        yield reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")


def listed_resources() -> Iterator[str]:
    """Yield every GET of the API without an id in its path, for a key."""
    for path, operations in json.loads(OPENAPI.read_text())["paths"].items():
        if "get" in operations and not re.search("{|/auth/", path):
            yield path


@pytest.fixture
def no_dead_rows(db: None) -> None:
    """Remove the dead rows of earlier tests, as autovacuum does: the first query to meet dead rows counts them.

    Name this fixture before fixtures that read tables, because it waits for open transactions.
    """
    if connection.vendor == "postgresql":
        with psycopg.connect(**connection.get_connection_params(), autocommit=True) as vacuum:
            vacuum.execute("VACUUM")


def test_pages_and_lists_read_no_more_rows_of_a_larger_table(
    no_dead_rows, api_for, organization, signed_in, monkeypatch
):
    for module, name in ((lists, "MAX_ROWS"), (flows, "_MAX_TODAY"), (back_office, "_NEWEST")):
        monkeypatch.setattr(module, name, 60)  # more than a page, but fewer than the rows of the table
    api, browser = api_for(organization, Role.EDITOR), signed_in(Role.OWNER)

    def read(decisions: int) -> dict[str, int]:
        notice = fill(organization, decisions=decisions, notices=decisions // 2)
        asked = [(browser, path) for path in pages(notice)] + [(api.client, path) for path in resources(notice)]
        return {path: rows_read(partial(answered, client, path)) for client, path in asked}

    small, great = read(SMALL), read(SMALL * (TIMES - 1))
    assert {path: (small[path], rows) for path, rows in great.items() if rows > TOLERATED * small[path] + NOISE} == {}


LATER_PAGES = (
    "", "action=approved", "system_name=System 3", "received_at__days=300", "decided_at__days=300", "o=decision_id",
    "o=received_at", "o=-decided_at",
)  # fmt: skip


def test_a_later_page_reads_no_more_rows_than_the_first(no_dead_rows, organization, signed_in, monkeypatch):
    monkeypatch.setattr(lists, "MAX_ROWS", 60)
    fill(organization, decisions=SMALL * TIMES, notices=SMALL)
    browser = signed_in(Role.OWNER)
    addresses = [f"{DECISIONS}?{query}" for query in LATER_PAGES] + [f"{QUEUE}?queue=all", f"{QUEUE}?", AUDIT]
    costs = {}
    for first in addresses:
        later = first
        for _ in range(5):
            later = linked(browser.get(later), "next") or later
        costs[first] = [rows_read(partial(answered, browser, address)) for address in (first, later)]
    assert {first: cost for first, cost in costs.items() if cost[1] > TOLERATED * cost[0] + NOISE} == {}


def test_no_page_or_list_scans_a_large_table(no_dead_rows, api_for, organization, signed_in):
    api, browser = api_for(organization, Role.OWNER), signed_in(Role.OWNER)
    notice = fill(organization, decisions=60, notices=30)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL enable_seqscan = off")  # then it scans only where no index serves
    asked = [(browser, path) for path in (*pages(notice), *changelists(), *REPORTS)]
    asked += [(api.client, path) for path in (*resources(notice), *listed_resources())]
    scans = {}
    for client, path in asked:
        for sql, plan in plans(partial(answered, client, path)):
            names = {name for line in plan for name in _SCANS[connection.vendor].findall(line)}
            if names - _DERIVED - _SMALL_TABLES:
                scans[path] = sql, plan
    assert scans == {}


@pytest.mark.sqlite
def test_the_start_page_counts_the_letters_of_a_day_from_their_index(organization, signed_in):
    flows.forget()
    fill(organization, decisions=60, notices=30)
    ((_, plan),) = [
        (sql, plan) for sql, plan in plans(partial(answered, signed_in(Role.OWNER), "/admin/")) if "handled_at" in sql
    ]
    starts = [line for line in plan if "notices_delivery" in line and "letters_by_day" in line]
    assert len(starts) == flows.DAYS


def answered(client, path):
    assert client.get(path).status_code == (404 if path.endswith("/none") else 200), path
