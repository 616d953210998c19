"""The back office with 100,000 decisions and 20,000 notices: time to the first byte of its pages, for one member."""

import statistics
from collections.abc import Iterator

from accounts import audit, services
from bench.growth_rows import fill
from bench.pages import TimedClient, percentile, signed_in
from bench.report import Figure
from bench.rounds import sized
from bench.server import WebServer
from config.progress import progress
from notices.models import Notice

DECISIONS, NOTICES = sized(100_000), sized(20_000)
REQUESTS = 30
MAX_MILLISECONDS = 150
OWNER = "owner@back-office.example"


def measure() -> Iterator[Figure]:
    """Fill an organization and request each page."""
    organization = services.create_organization(name="Back Office", owner_email=OWNER, actor=audit.SYSTEM)
    notice = fill(organization, decisions=DECISIONS, notices=min(NOTICES, DECISIONS // 2))
    pages = dict(_pages(notice))
    with WebServer() as server, progress("Pages", len(pages)) as advance:
        client = TimedClient(server.port, signed_in(OWNER))
        for name, path in pages.items():
            client.warm(path)
            times = [client.milliseconds(path) for _ in range(REQUESTS)]
            yield Figure(name, statistics.median(times), "ms", at_most=MAX_MILLISECONDS)
            yield Figure(f"{name}: 95 of 100", percentile(times, 0.95), "ms")
            advance(1)


def _pages(notice: Notice) -> Iterator[tuple[str, str]]:
    decisions, queue = "/admin/decisions/decision/", "/admin/notices/notice/"
    yield "start page", "/admin/"
    yield "decisions", decisions
    yield "decisions, one by its id", f"{decisions}?q={notice.decision.decision_id}"
    yield "decisions, by the beginning of an id", f"{decisions}?q=loan-77"
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
    yield "report on reconsiderations", f"{decisions}reports/"
    yield "requests for review", "/admin/notices/reviewrequest/"
    yield "audit trail", "/admin/accounts/auditevent/"
