"""Queries of the back office's pages: at most twelve each, and as many with many rows as with few."""

import re
from collections import deque
from collections.abc import Iterator
from datetime import timedelta
from urllib.parse import urljoin, urlsplit

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.roles import Role
from accounts.services import sessions
from bench.growth_rows import fill
from config import changes
from notices.models import Notice
from tests.accounts.belongings import Belongings

pytestmark = pytest.mark.django_db
MAX_QUERIES = 12
KINDS = (
    "decision", "reconsideration", "notice", "submitted", "approved", "delivery", "connector", "grant", "hold",
    "review_request", "key", "invite", "member", "session",
)  # fmt: skip
_LINK = re.compile('href="([^"#]+)')
_ID = re.compile(r"/([0-9a-f]{8}-[0-9a-f-]{27}|\d+)(?=/)")


@pytest.fixture(autouse=True)
def _no_interval_ends(monkeypatch):
    """Serve keys from memory, and note no use of the session, as between two requests of the same second."""
    monkeypatch.setattr(changes, "SECONDS", 3600)
    monkeypatch.setattr(sessions, "_SEEN_STEP", timedelta(days=1))


def walk(browser) -> Iterator[tuple[str, bytes]]:
    """Yield the address and content of one page of each shape that the links reach, and of each filter of a list."""
    waiting, known = deque(["/admin/"]), {"/admin/"}
    while waiting:
        path = waiting.popleft()
        answer = browser.get(path)
        if answer.headers["Content-Type"].startswith("text/html"):
            yield path, answer.content
            for link in _LINK.findall(answer.content.decode()):
                link = urljoin(path, link.replace("&amp;", "&"))
                if link.startswith("/admin/") and "_changelist_filters" not in link and _shape(link) not in known:
                    known.add(_shape(link))
                    waiting.append(link)


def _shape(link: str) -> str:
    """Return an address without ids and without the values of its query. Combinations of filters count once."""
    address = urlsplit(link)
    names = sorted(pair.partition("=")[0] for pair in address.query.split("&") if pair)
    return f"{_ID.sub('/N', address.path)}?{'&'.join(names[:1])}"


def queries(browser, path: str) -> int:
    """Return the number of queries of a page that was opened before, so that the check of a notice is stored."""
    browser.get(path)
    with CaptureQueriesContext(connection) as captured:
        assert browser.get(path).status_code in (200, 302), path
    return len(captured)


def notices_in_each_state() -> Iterator[str]:
    for state in Notice.State.values:
        for row in Notice.objects.unscoped("a test").filter(state=state).order_by("-created_at")[:2]:
            yield f"/admin/notices/notice/{row.pk}/change/"


def test_a_page_takes_at_most_twelve_queries_however_many_rows_there_are(api, organization, signed_in):
    browser, belongings = signed_in(Role.OWNER), Belongings(api)
    for kind in KINDS:
        getattr(belongings, kind)()
    real = fill(organization, decisions=1, notices=1)
    pages = [path for path, _ in walk(browser)]
    pages += [f"/admin/decisions/decision/?q={real.decision.decision_id}", *notices_in_each_state()]
    few = {path: queries(browser, path) for path in pages}
    assert {path: count for path, count in few.items() if count > MAX_QUERIES} == {}
    for kind in KINDS:
        for _ in range(3):
            getattr(belongings, kind)()
    fill(organization, decisions=60, notices=30)
    many = {path: queries(browser, path) for path in pages}
    assert {path: (few[path], count) for path, count in many.items() if count > few[path]} == {}
