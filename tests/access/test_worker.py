"""A real server and a real Celery worker: the queue wakes the worker, and secrets are only in the mail."""

import re
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
import redis as redis_client

from tests.smtp_server import mail_server
from tests.system.live import Server, server, wait_until, worker
from tests.throwaway import redis

pytestmark = pytest.mark.boots

OWNER = "owner@live.example"
GUEST = "guest@live.example"


@pytest.fixture(params=["filesystem", "redis"])
def live(request: pytest.FixtureRequest) -> Iterator[Server]:
    """Start a service with a verbose log and without a worker, for each kind of queue."""
    with (
        redis() if request.param == "redis" else nullcontext("") as url,
        server(REDIS_URL=url, LOG_LEVEL="DEBUG") as running,
    ):
        yield running


def queued(live: Server) -> str:
    """Return all messages in the queue."""
    url = live.environment["REDIS_URL"]
    if not url:
        return "\n".join(path.read_text() for path in (live.data_dir / "broker").rglob("*") if path.is_file())
    with redis_client.Redis.from_url(url, decode_responses=True) as queue:
        lists = [key for key in queue.scan_iter() if queue.type(key) == "list"]
        return "\n".join(message for key in lists for message in queue.lrange(key, 0, -1))


def stored(live: Server) -> str:
    """Return every value of every table, without fractions of seconds."""
    tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
    if live.environment["DATABASE_URL"].startswith("sqlite"):
        tables = "SELECT name FROM sqlite_master WHERE type = 'table'"
    rows = [row for (table,) in live.sql(tables) for row in live.sql(f'SELECT * FROM "{table}"')]
    return re.sub(r"(:\d\d)\.\d+", r"\1", "\n".join(" ".join(map(str, row)) for row in rows))


def mails(live: Server) -> list[Path]:
    return sorted((live.data_dir / "mail").glob("*"), key=lambda path: path.stat().st_mtime)


def logged(live: Server) -> str:
    return re.sub(r'"timestamp": "[^"]+"|"milliseconds": [\d.]+|"request_id": "\w+"', "", live.log.read_text())


def mail_to(live: Server, address: str) -> str:
    texts = [text for text in (path.read_text() for path in mails(live)) if f"To: {address}" in text]
    return texts[-1] if texts else ""


def test_the_queue_wakes_the_worker_and_secrets_are_only_in_the_mails(live):
    with live.client() as client:
        asked = client.request("POST", "/v1/auth/otp/request", b'{"email": "%s"}' % OWNER.encode())
        invited = client.request("POST", "/v1/auth/invites", b'{"email": "%s", "role": "editor"}' % GUEST.encode())
        assert (asked.status, invited.status) == (200, 201)
        wait_until(lambda: queued(live).count("accounts.tasks.deliver_mail") >= 2, "both wake-ups are queued")
        assert OWNER not in queued(live)
        assert GUEST not in queued(live)
        assert mails(live) == []
        with worker(live, live.log):
            written = wait_until(lambda: mail_to(live, OWNER) and mail_to(live, GUEST), "both mails are written")
        code = re.search(r"^    (\d{6})$", mail_to(live, OWNER), re.MULTILINE).group(1)
        secret = re.search(r"/invites/\d+-([0-9a-f]{64})/", written).group(1)
        for place in (stored(live), logged(live), queued(live)):
            assert not re.search(rf"(?<!\d){code}(?!\d)", place)
            assert secret not in place
        assert OWNER not in logged(live)
        cookie = asked.headers["Set-Cookie"].partition(";")[0]
        body = b'{"email": "%s", "code": "%s"}' % (OWNER.encode(), code.encode())
        verified = client.request("POST", "/v1/auth/otp/verify", body, Cookie=cookie)
        assert verified.json() == {"status": "signed_in"}


def test_a_refused_mail_is_logged_without_its_address_and_the_worker_goes_on():
    with mail_server() as smtp, server(EMAIL_URL=f"smtp://127.0.0.1:{smtp.port}", LOG_LEVEL="DEBUG") as live:
        smtp.refused = {GUEST}
        with live.client() as client, worker(live, live.log):
            client.request("POST", "/v1/auth/invites", b'{"email": "%s", "role": "editor"}' % GUEST.encode())
            wait_until(lambda: "mail not taken" in logged(live), "the refusal is logged")
            client.request("POST", "/v1/auth/otp/request", b'{"email": "%s"}' % OWNER.encode())
            wait_until(smtp.recipients, "the other mail is taken")
        code = re.search(r"\b\d{6}\b", str(smtp.taken[0][1].get_body(["plain"]))).group()
        assert smtp.recipients() == [OWNER]
        assert not re.search(rf"(?<!\d){code}(?!\d)|{GUEST}|{OWNER}", logged(live))
