"""The numbers of "Your work" on the start page: each opens the list of exactly the rows it counts."""

import html
import re
from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.roles import Role
from notices.models import Notice, ReviewRequest
from tests.notices.conftest import RECORD, approved, done, edit, notice, send, step
from tests.notices.test_loop import asked
from tests.notices.test_review_requests import offering

__all__ = ["approved", "asked", "notice", "offering"]
pytestmark = pytest.mark.django_db


def work(browser):
    """Return the numbers of "Your work" by their words, and the lengths of the lists they open."""
    page = browser.get("/admin/").content.decode()
    section = page.partition('<section class="needs work"')[2].partition("</section>")[0]
    links = re.findall(r'href="(.*?)".*?<strong>(.*?)</strong>\s*<span>(.*?)</span>', section, re.DOTALL)
    opened = {text: browser.get(html.unescape(url)).context["cl"].result_count for url, _, text in links}
    return {text: int(count) for _, count, text in links}, opened


def draft_by(browser, api, number):
    done(api.ingest(RECORD | {"decision_id": f"draft-{number}"}))
    return done(send(browser, "POST", f"decisions/draft-{number}/notices"))


def test_each_number_of_your_work_opens_exactly_its_list(api, asked, signed_in):
    writer, colleague = signed_in(Role.EDITOR), signed_in(Role.EDITOR, "colleague@bank.example")
    due_soon, sent_back, in_review, resubmitted = (draft_by(writer, api, number) for number in range(4))
    for draft in (sent_back, in_review, resubmitted):
        done(step(writer, draft, "submit"))
    for draft in (sent_back, resubmitted):
        done(step(api, draft, "request-changes", {"reason": "Say it simpler."}))
    done(step(writer, resubmitted, "submit"))
    now = timezone.now()
    Notice.objects.filter(pk=due_soon["notice_id"]).update(due_at=now + timedelta(days=1))
    Notice.objects.filter(pk=sent_back["notice_id"]).update(due_at=now - timedelta(days=1))
    ReviewRequest.objects.update(due_at=now - timedelta(days=1))
    numbers, opened = work(writer)
    assert (
        numbers
        == opened
        == {
            "answer to a person is late": 1,
            "notice past its deadline": 1,
            "notice due soon": 1,
            "notice sent back to you": 1,
            "notices waiting for review": 2,
            "person asked for a review": 1,
            "notice to deliver": 1,
        }
    )
    assert "notice sent back to you" not in work(colleague)[0]
    assert edit(writer, sent_back, title="Simpler").status_code == 200
    assert work(writer)[0]["notice sent back to you"] == 1, "it is sent back until it is submitted again"
    done(step(writer, sent_back, "submit"))
    assert "notice sent back to you" not in work(writer)[0]


def test_a_letter_counts_as_sent_on_the_day_it_went_out(api, approved, signed_in):
    done(step(api, approved, "deliveries", {"channel": "post"}))
    page = signed_in(Role.AUDITOR).get("/admin/").content.decode()
    assert "1 today." in page.partition("Letters sent")[2]
