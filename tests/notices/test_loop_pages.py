"""The review loop in the back office: waiting requests, prefilled forms, pages and the report."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from accounts.roles import Role
from config.http.timestamps import day_in_words
from notices import selectors, tasks
from notices.back_office import notice_report
from notices.models import Notice, ReviewRequest
from tests.notices.conftest import (
    RECORD,
    acting,
    done,
    drafted,
)
from tests.notices.test_back_office_review import text
from tests.notices.test_loop import WORDS, asked, offered, tell
from tests.notices.test_review_requests import ask, offering, reconsider
from tests.reconsiderations.conftest import REVIEW, SENT_ONCE

__all__ = ["asked", "offering"]
pytestmark = pytest.mark.django_db


def test_recording_a_reconsideration_leads_to_the_letter_form(asked, signed_in):
    browser = signed_in(Role.EDITOR)
    page = reverse("admin:decisions_decision_change", args=[asked.notice.decision_id])
    form = {**REVIEW, "evidence_considered": "", **SENT_ONCE}
    answer = browser.submit(page, reverse("admin:reconsider", args=[asked.notice.decision_id]), **form)
    page_text = text(answer)
    headline = f"R-{asked.pk} is answered: write the letter"
    assert 0 < page_text.index(headline) < page_text.index("Keep these salts")
    assert "Recipient: Example Person , 2 Example Street , person@home.example , person 7 ." in page_text
    assert f"{day_in_words(asked.due_at)}" in page_text
    assert headline in text(browser.get(page)), "also for later visitors"


def test_the_form_is_prefilled_from_the_request_with_words_and_letter_beside_it(asked, signed_in):
    page = reverse("admin:reconsider", args=[asked.notice.decision_id])
    shown_to = {role: signed_in(role).get(page) for role in (Role.EDITOR, Role.AUDITOR)}
    body = shown_to[Role.EDITOR].content.decode()
    assert f'value="Example Person (R-{asked.pk})"' in body
    content = asked.notice.approval.revision.content
    for words in (WORDS, content["title"], content["main_factors"][0]["statement"]):
        assert words in text(shown_to[Role.EDITOR])
    assert WORDS not in shown_to[Role.AUDITOR].content.decode()


def test_the_form_is_empty_when_no_request_waits(api, asked, signed_in):
    reconsider(api)
    page = reverse("admin:reconsider", args=[asked.notice.decision_id])
    body = signed_in(Role.EDITOR).get(page).content.decode()
    assert f"(R-{asked.pk})" not in body
    assert WORDS not in body


def test_markup_of_a_person_stays_text_beside_the_form(api, signed_in):
    done(api.ingest(RECORD))
    request = ask(api, offered(api, recipient={"name": "<b>P</b>"}), message="<script>alert(1)</script>")
    page = reverse("admin:reconsider", args=[request.notice.decision_id])
    body = signed_in(Role.EDITOR).get(page).content.decode()
    assert "<script>alert" not in body
    assert "<b>P" not in body


def test_the_start_page_shows_waiting_and_late_requests(api, asked, signed_in):
    browser = signed_in(Role.EDITOR)
    assert "1 person asked for a review" in text(browser.get("/admin/"))
    answer = reconsider(api)
    page_text = text(browser.get("/admin/"))
    assert "1 review decided, outcome letter not sent" in page_text
    assert "asked for a review" not in page_text
    ReviewRequest.objects.update(due_at=timezone.now() - timedelta(days=1))
    assert "answer to a person is late" in text(browser.get("/admin/"))
    tell(api, answer)
    page_text = text(browser.get("/admin/"))
    assert "outcome letter not sent" not in page_text
    assert "is late" not in page_text


def test_members_are_reminded_of_waiting_requests(api, asked, mailoutbox, organization):
    acting(organization, Role.EDITOR, "writer@bank.example")
    ReviewRequest.objects.update(due_at=timezone.now() + timedelta(days=1), handled_at=timezone.now())
    reconsider(api)
    assert selectors.attention(organization.pk).requests.count() == 1
    tasks.remind()
    bodies = [body for message in mailoutbox for body in (message.body, message.alternatives[0].content)]
    assert bodies
    assert all(f"R-{asked.pk}" in body and "answered: write the letter" in body for body in bodies)
    assert not [body for body in bodies if WORDS in body]


def test_the_page_of_a_letter_names_the_request_it_answers(api, asked, signed_in):
    letter = drafted(api, reconsider(api)["decision_id"])
    address = reverse("admin:notices_notice_change", args=[letter["notice_id"]])
    page_text = text(signed_in(Role.EDITOR).get(address))
    assert f"R-{asked.pk} : outcome not sent, due {day_in_words(asked.due_at)}: deliver this letter" in page_text
    assert "Notice about the review of loan-1" in page_text
    assert "To Example Person , 2 Example Street , person@home.example , person 7 " in page_text


def test_the_page_of_a_letter_without_recipient_says_so(api, signed_in):
    done(api.ingest(RECORD))
    address = reverse("admin:notices_notice_change", args=[drafted(api)["notice_id"]])
    assert "No recipient yet: save one" in text(signed_in(Role.EDITOR).get(address))


def test_the_page_of_an_answered_request_names_the_letter_and_has_no_actions(api, asked, signed_in):
    tell(api, reconsider(api))
    page = reverse("admin:notices_reviewrequest_change", args=[asked.pk])
    body = signed_in(Role.EDITOR).get(page).content.decode()
    assert str(ReviewRequest.objects.get().told_by_id) in body
    assert reverse("admin:close-review-request", args=[asked.pk]) not in body
    assert "Draft the letter" not in body


def test_the_report_counts_ninety_days_unless_the_address_names_another_period(api, asked, signed_in):
    browser, page = signed_in(Role.EDITOR), reverse("admin:notice-report")
    old = timezone.now() - timedelta(days=100)
    assert "Not looked at yet" in text(browser.get(page))
    ReviewRequest.objects.update(received_at=old)
    assert "Not looked at yet" not in text(browser.get(page))
    Notice.objects.update(created_at=old)
    assert "No notices in this period." in text(browser.get(page))
    for days in ("365", "all"):
        assert "Not looked at yet" in text(browser.get(page, {"days": days}))
    assert browser.get(page, {"days": "0"}).status_code == 404


def test_the_report_counts_what_became_of_requests(api, asked, organization):
    def counted() -> dict[str, int]:
        return {bar.label: bar.value for bar in notice_report.notices(organization)["charts"][1].bars if bar.value}

    assert counted() == {"Not looked at yet": 1}
    answer = reconsider(api)
    ReviewRequest.objects.update(due_at=timezone.now() - timedelta(days=1))
    assert counted() == {"To be told": 1, "Of the last two, late": 1}
    tell(api, answer)
    assert counted() == {"Told late": 1}
    ReviewRequest.objects.update(due_at=None)
    assert counted() == {"Told the outcome in time": 1}
