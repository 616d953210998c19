"""The queue of notices: its order, views, search and columns."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Member
from accounts.roles import Role
from config.http.timestamps import day_in_words
from notices.models import Notice
from tests.notices.conftest import (
    RECORD,
    acting,
    approve,
    done,
    drafted,
    edit,
    step,
)
from tests.notices.test_back_office_review import text
from tests.statements import statements
from tests.support.kept_rows import make_once

pytestmark = pytest.mark.django_db


QUEUE = "/admin/notices/notice/"


@pytest.fixture
def queue(api) -> dict[str, str]:
    """Make a notice in each state and place of the queue. Return them by decision."""

    def make() -> dict[str, str]:
        made = {}
        for word in ("late", "soon", "later", "open", "reviewed", "approved", "delivered", "withdrawn"):
            done(api.ingest({**RECORD, "decision_id": word, "subject": {"reference": f"person {word}"}}))
            made[word] = drafted(api, word)
        for word, days in (("late", -1), ("soon", 3), ("later", 30), ("delivered", -9)):
            rows = Notice.objects.filter(pk=made[word]["notice_id"])
            rows.update(due_at=timezone.now() + timedelta(days=days))
        done(step(api, made["reviewed"], "submit"))
        for word in ("approved", "delivered"):
            done(approve(api, made[word]))
        done(step(api, made["delivered"], "deliveries", {"channel": "hand"}))
        done(step(api, made["withdrawn"], "withdraw"))
        return made

    return make_once("queue", make)


def shown_in(browser, query: str = "") -> list[str]:
    return re.findall(r'/change/[^"]*">([\w-]+)<br>', browser.get(f"{QUEUE}{query}").content.decode())


def test_late_notices_come_first_and_views_and_search_filter(queue, signed_in):
    browser = signed_in(Role.APPROVER)
    expected = {
        "": ["late", "soon", "later", "approved", "reviewed", "open"],  # notices without a deadline come last
        "?queue=overdue": ["late"],
        "?queue=at_risk": ["soon"],
        "?queue=in_review": ["reviewed"],
        "?queue=approved": ["approved"],
        "?queue=delivered": ["delivered"],
        "?queue=withdrawn": ["withdrawn"],
        "?queue=mine": [],
        "?q=person+so": ["soon"],
        "?q=lat": ["late", "later"],
        "?pack=gdpr_22": [],
    }
    assert {query: shown_in(browser, query) for query in expected} == expected
    assert shown_in(browser, "?queue=all")[0] == "withdrawn", "the newest"
    assert len(shown_in(browser, "?pack=general&language=en")) == 6
    assert browser.get(f"{QUEUE}?recipient__name=x").status_code == 400


@pytest.mark.once
def test_the_queue_shows_days_problems_and_holders(queue, signed_in):
    browser = signed_in(Role.APPROVER)
    done(edit(browser, queue["soon"], inputs_used=[{"statement": "No source.", "source": "nowhere"}]))
    page_text = text(browser.get(QUEUE))
    days = [timezone.now() + timedelta(days=left) for left in (-1, 3)]
    law = "Own policy English"
    assert f"late Denied · person late 1 day late {day_in_words(days[0])} draft {law} -" in page_text
    soon = f"soon Denied · person soon in 3 days {day_in_words(days[1])} draft 1 problem {law} approver@example-bank"
    assert soon in page_text
    assert shown_in(browser, "?queue=mine") == ["soon"]


def test_the_queue_runs_as_many_queries_for_ten_rows_as_for_one(api, notice, signed_in):
    browser = signed_in(Role.APPROVER)
    acting(api.organization, Role.EDITOR, "holder@bank.example")

    browser.get(QUEUE)  # the first page of a session stores its time
    with statements() as one:
        assert len(shown_in(browser)) == 1
    for number in range(9):
        done(api.ingest({**RECORD, "decision_id": f"more-{number}"}))
        drafted(api, f"more-{number}")
    Notice.objects.update(holder=Member.objects.get(user__email="holder@bank.example"))
    with statements() as ten:
        assert len(shown_in(browser)) == 10
    assert len(ten) == len(one)
