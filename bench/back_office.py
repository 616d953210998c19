"""The back office with 100,000 decisions and 20,000 notices: time to the first byte of its pages, for one member.

The rows are made as rows: what the pages list is not sealed. One record and its notice are real, for the pages that
open them.
"""

import http.client
import statistics
import time
import uuid
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import cycle

from django.db import connection
from django.test import Client
from django.utils import timezone
from rich.table import Table

from accounts import audit, callers, services
from accounts.models import AuditEvent, Member, Organization, SignedInSession
from bench.server import WebServer
from bench.subject import PLACEHOLDER, record
from custody.models import Entry
from decisions.models import Decision
from decisions.services import ingest_lines
from notices import services as notices
from notices.models import Approval, Delivery, Notice, NoticeRevision
from notices.packs import packs

DECISIONS, NOTICES, EVENTS = 100_000, 20_000, 100_000
REQUESTS = 30
LIMIT_MILLISECONDS = 150
BATCH = 2000
OWNER = "owner@back-office.example"
STATES = ("draft", "draft", "draft", "in_review", "in_review", "approved", *["delivered"] * 13, "withdrawn")


def measure() -> Table:
    """Fill an organization, ask for each page, and return the table."""
    organization = services.create_organization(name="Back Office", owner_email=OWNER, actor=audit.SYSTEM)
    notice = _real_notice(organization)
    _fill(organization, notice)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    table = Table("what", "median", "95 of 100", f"share of {LIMIT_MILLISECONDS} ms")
    with WebServer() as server:
        cookie = _signed_in()
        for name, path in _pages(notice):
            table.add_row(name, *_times(server.port, path, cookie))
    return table


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


def _real_notice(organization: Organization) -> Notice:
    line = record().replace(PLACEHOLDER.encode(), b"real-1")
    shell = callers.command_line(organization.pk)
    list(ingest_lines(caller=shell, lines=[line], source="bench"))
    decision = Decision.objects.for_organization(organization).select_related("record", "organization").get()
    return notices.draft(decision=decision, pack=packs()["us_ecoa_fcra"], recipient={}, caller=shell)


def _fill(organization: Organization, real: Notice) -> None:
    member = Member.objects.for_organization(organization).get()
    revision, now = real.revisions.get(), timezone.now()
    made = [_decision(real.decision, n, now - timedelta(minutes=5 * n)) for n in range(DECISIONS)]
    for n in range(20, DECISIONS, 20):  # each 20th reconsiders the one before it
        made[n].first = made[n].reconsiders = made[n - 1]
        made[n].reviewer, made[n].review_outcome = f"Reviewer {n % 9}", ("upheld", "overturned")[n % 40 == 0]
    Entry.objects.bulk_create([each.record for each in made], BATCH)
    for some in (False, True):  # what is reconsidered goes first
        Decision.objects.bulk_create([each for each in made if bool(each.first_id) == some], BATCH)
    firsts = [each for each in made if not each.first_id]
    kinds = zip(range(NOTICES), cycle(STATES), cycle(sorted(packs())), strict=False)
    rows = [
        Notice(
            organization=organization, decision=firsts[4 * n], pack=pack, pack_version="1", pack_digest="", state=state,
            language="en", problems=n % 3, holder=member if n % 50 == 0 else None, created_by="bench",
            due_at=now + timedelta(days=90) - timedelta(minutes=20 * n) if n % 4 else None,
        )
        for n, state, pack in kinds
    ]  # fmt: skip
    Notice.objects.bulk_create(rows, BATCH)
    said = {"content": revision.content, "cited": revision.cited, "author_kind": "system", "author_label": "bench"}
    revisions = [NoticeRevision(notice=each, number=1, digest="", author_id="", **said) for each in rows]
    NoticeRevision.objects.bulk_create(revisions, BATCH)
    done = [each for each in revisions if each.notice.state in ("approved", "delivered")]
    Approval.objects.bulk_create(
        [Approval(notice=r.notice, revision=r, approver=OWNER, authority="owner", basis="signed in") for r in done],
        BATCH,
    )
    Delivery.objects.bulk_create(
        [Delivery(notice=r.notice, channel="post", recorded_by="bench", handled_at=now, delivered_at=now)
         for r in done if r.notice.state == "delivered"],
        BATCH,
    )  # fmt: skip
    AuditEvent.objects.bulk_create(
        [AuditEvent(organization=organization, verb=f"bench.{n % 30}", actor_kind="system", actor_label="bench",
                    object_kind="notice", object_id=str(n)) for n in range(EVENTS)],
        BATCH,
    )  # fmt: skip


def _decision(like: Decision, n: int, received_at: datetime) -> Decision:
    """An index row, and one of custody, of a record that is not there."""
    entry = Entry(
        record_id=uuid.uuid4(), organization_id=like.organization_id, kind="decision", received_at=received_at,
        target_id=like.record.target_id, state=like.record.state,
        key_id=like.record.key_id, statement=b"", signature=b"",
    )  # fmt: skip
    return Decision(
        record=entry, organization_id=like.organization_id, kind="decision", source="bench", received_at=received_at,
        decision_id=f"loan-{n}", decided_at=received_at, action=("denied", "approved", "")[n % 3],
        system_name=f"System {n % 20}", subject_reference=f"application {n}",
    )  # fmt: skip


def _signed_in() -> str:
    """The cookie of the owner's browser."""
    client = Client()
    user = Member.objects.unscoped("an owner of one organization alone").get(user__email=OWNER).user
    client.force_login(user)
    key, now = str(client.session.session_key), timezone.now()
    SignedInSession.objects.create(user=user, session_key=key, client="bench", created_at=now, last_seen_at=now)
    return f"sessionid={key}"


def _times(port: int, path: str, cookie: str) -> list[str]:
    """Median and 95th percentile of the milliseconds to the first byte, and the median's share of the limit."""
    server = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    taken = []
    for _ in range(REQUESTS + 2):
        begun = time.perf_counter()
        server.request("GET", path, headers={"Cookie": cookie})
        answer = server.getresponse()
        taken.append((time.perf_counter() - begun) * 1000)
        answer.read()
        if answer.status != 200:
            raise SystemExit(f"{path} was answered with {answer.status}")
    server.close()
    counted = sorted(taken[2:])  # the first are compiling templates
    median, most = statistics.median(counted), counted[int(REQUESTS * 0.95)]
    return [f"{median:.0f} ms", f"{most:.0f} ms", f"{median / LIMIT_MILLISECONDS:.2f}"]
