"""The back office with 100,000 decisions, 20,000 notices and a million audit events: the time to the first byte and the
queries of its pages, for one member."""

import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts import audit, services
from accounts.models import Organization
from bench import row_copies
from bench.growth_rows import add_audit_events, fill
from bench.pages import TimedClient, percentile, signed_in
from bench.report import Figure
from bench.rounds import sized
from bench.server import WebServer
from config.progress import progress
from notices.models import Notice

DECISIONS, NOTICES, AUDIT_EVENTS = sized(100_000), sized(20_000), sized(1_000_000)
REQUESTS = 30
MAX_MILLISECONDS, MAX_QUERIES = 150, 12
OWNER = "owner@back-office.example"


def measure() -> Iterator[Figure]:
    yield from with_rows(Rows(DECISIONS, NOTICES))


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of an organization: `copies` more of each decision, by SQL, on SQLite alone."""

    decisions: int
    notices: int
    copies: int = 0

    def fill(self, organization: Organization) -> Notice:
        """Add the rows, and return a notice about a decision in custody."""
        notice = fill(organization, decisions=self.decisions, notices=min(self.notices, self.decisions // 2))
        if self.copies:
            row_copies.copy_decisions(organization, self.copies)
            row_copies.add_audit_events(organization, AUDIT_EVENTS)
        else:
            add_audit_events(notice, AUDIT_EVENTS - 3 * self.notices)  # `fill` adds three for each notice
        return notice


def with_rows(rows: Rows) -> Iterator[Figure]:
    """Fill an organization and request each page."""
    organization = services.create_organization(name="Back Office", owner_email=OWNER, actor=audit.SYSTEM)
    notice = rows.fill(organization)
    pages = dict(_pages(notice))
    with WebServer() as server, progress("Pages", len(pages)) as advance:
        browser = signed_in(OWNER)
        client = TimedClient(server.port, browser)
        for name, path in pages.items():
            client.warm(path)
            times = [client.milliseconds(path) for _ in range(REQUESTS)]
            yield Figure(name, statistics.median(times), "ms")
            yield Figure(f"{name}: 95 of 100", percentile(times, 0.95), "ms", at_most=MAX_MILLISECONDS)
            yield Figure(f"{name}: queries", _queries(path, browser), at_most=MAX_QUERIES)
            advance(1)


def _queries(path: str, headers: Mapping[str, str]) -> int:
    """Return the number of queries of a page that was requested before."""
    client = Client(headers={"Host": "127.0.0.1", **headers})
    client.get(path)
    with CaptureQueriesContext(connection) as queries:
        client.get(path)
    return len(queries)


def _pages(notice: Notice) -> Iterator[tuple[str, str]]:
    decisions, queue = "/admin/decisions/decision/", "/admin/notices/notice/"
    yield "start page", "/admin/"
    yield "decisions", decisions
    yield "decisions, one by its id", f"{decisions}?q={notice.decision.decision_id}"
    yield "decisions, by the beginning of an id", f"{decisions}?q=loan-77"
    yield "decisions, by the beginning of most ids", f"{decisions}?q=loan"
    yield "decisions, of an action", f"{decisions}?action=approved"
    yield "a decision with its record", f"{decisions}{notice.decision_id}/change/"
    yield "queue of notices", queue
    for view in ("overdue", "at_risk", "mine", "in_review", "delivered", "all"):
        yield f"queue, {view.replace('_', ' ')}", f"{queue}?queue={view}"
    yield "queue, of one pack", f"{queue}?pack=gdpr_22"
    yield "queue, one by its decision", f"{queue}?q={notice.decision.decision_id}"
    yield "review of a notice", f"{queue}{notice.pk}/change/"
    yield "edit of a notice", f"{queue}{notice.pk}/edit/"
    yield "report on notices", "/admin/notices/noticesettings/report/"
    yield "report on notices, everything", "/admin/notices/noticesettings/report/?days=all"
    yield "report on reconsiderations", f"{decisions}reports/"
    yield "report on reconsiderations, everything", f"{decisions}reports/?days=all"
    yield "requests for review", "/admin/notices/reviewrequest/"
    yield "audit trail", "/admin/accounts/auditevent/"
