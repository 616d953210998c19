"""The queue and the review page: contents, verdicts, and forms that keep the entered text after a refusal."""

import re
from datetime import timedelta
from html import unescape

import pytest
from django.utils import timezone

from accounts.roles import Role
from config.http.timestamps import day_in_words
from custody import vaults
from custody.models import object_key
from decisions.models import Decision
from notices.letters.html import style_hash
from notices.models import Approval, Notice, NoticeRevision
from tests.notices.conftest import (
    RECORD,
    done,
    drafted,
    edit,
    exempt,
    fill_in_names,
    guard,
    step,
)
from tests.notices.test_back_office import do, page
from tests.notices.test_review_requests import ask, offering
from tests.statements import statements
from tests.support.unguarded import unguarded

__all__ = ["offering"]
pytestmark = pytest.mark.django_db
MANY = [{"statement": f"Sentence {n}.", "source": "outcome.action"} for n in range(100)]


def text(answer) -> str:
    """Return the text of a page in one line."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())).split())


def state(notice) -> str:
    return Notice.objects.get(pk=notice["notice_id"]).state


def reason_at(answer, label: str) -> str:
    """Return why a button is disabled, or ""."""
    pattern = rf"<button([^>]*)>{label}</button>\s*(?:<span class=\"why\"[^>]*>([^<]*))?"
    attributes, reason = re.search(pattern, answer.content.decode()).groups()
    assert ("disabled" in attributes) == bool(reason)
    return unescape(reason or "")


# ── the review page ──


def test_each_sentence_is_shown_with_its_source_and_value(api, notice, signed_in):
    content = [
        {"statement": "The loan is too large.", "source": "events.application.loan_to_value"},
        {"statement": "You are <b>self</b>-employed.", "source": "events.application.self_employed"},
        {"statement": "The moon was full.", "source": "events.moon"},
    ]
    done(edit(api, notice, main_factors=content))
    with unguarded():
        NoticeRevision.objects.filter(number=2).update(cited={"events.application.loan_to_value": "0.85"})
    answer = signed_in(Role.AUDITOR).get(page(notice))
    page_text = text(answer)
    loan = "The loan is too large. Application, loan to value changed : it was 0.85 , now it is 0.92"
    assert f"{loan} events.application.loan_to_value Copy" in page_text
    assert "Application, self employed : false events.application.self_employed Copy" in page_text
    assert "The moon was full. Moon not in the record events.moon Copy" in page_text
    assert "You are &lt;b&gt;self&lt;/b&gt;-employed." in answer.content.decode()


def test_blocking_problems_are_shown_first(api, notice, signed_in):
    done(edit(api, notice, main_factors=[{"statement": "The moon was full.", "source": "events.moon"}]))
    answer = signed_in(Role.APPROVER).get(page(notice))
    assert "Blocking approval The source events.moon leads nowhere in the record." in text(answer)
    assert reason_at(answer, "Approve") == "Fix the blocking problem first."


def in_order(answer, *passages: str) -> bool:
    """Whether a page contains these passages in this order."""
    positions = [answer.content.decode().find(passage) for passage in passages]
    return min(positions) >= 0 and positions == sorted(positions)


def test_the_next_step_comes_first_then_what_blocks_and_the_open_elements(api, notice, signed_in):
    done(edit(api, notice, main_factors=[{"statement": "The moon was full.", "source": "events.moon"}]))
    answer = signed_in(Role.APPROVER).get(page(notice))
    assert in_order(answer, 'id="verdict-title"', "Blocking approval", ">Approve<", ">Checklist<", " present</summary>")


def test_a_value_that_its_sentence_says_is_not_repeated(api, notice, signed_in):
    content = [
        {"statement": "The loan is 0.92 of the value.", "source": "events.application.loan_to_value"},
        {"statement": "It is 10.92 and 0.921.", "source": "events.application.loan_to_value"},
    ]
    done(edit(api, notice, main_factors=content))
    page_text = text(signed_in(Role.AUDITOR).get(page(notice)))
    assert "The loan is 0.92 of the value. Application, loan to value events.application" in page_text
    assert "It is 10.92 and 0.921. Application, loan to value : 0.92 events.application" in page_text


def test_other_actions_are_folded_below_the_verdicts(api, notice, signed_in):
    done(edit(api, notice, main_factors=[{"statement": "The moon was full.", "source": "events.moon"}]))
    done(step(api, notice, "submit"))
    answer = signed_in(Role.APPROVER).get(page(notice))
    assert in_order(answer, ">Approve<", ">Request changes<", ">Withdraw</summary>", ">Not possible now<", ">Deliver<")


def test_the_main_verdict_is_visible_even_when_disabled(api, notice, signed_in):
    done(step(api, notice, "submit"))
    answer = signed_in(Role.AUDITOR).get(page(notice))
    assert in_order(answer, 'id="verdict-title"', ">Approve<", "may not approve", ">Not possible now<", ">Withdraw<")


def test_inapplicable_elements_are_folded_unless_a_member_waived_them(api, signed_in):
    fill_in_names(api, "us_ecoa_fcra")
    done(api.ingest(RECORD))
    draft = drafted(api)
    browser = signed_in(Role.APPROVER)
    assert in_order(browser.get(page(draft)), ">Checklist<", " not applicable</summary>", "Gives the credit score")
    done(exempt(api, draft, specific_reasons="They were told on the telephone."))
    answer = browser.get(page(draft))
    assert in_order(answer, "They were told on the telephone.", " not applicable</summary>")


def test_a_finished_notice_shows_approver_and_delivery_and_no_due_date(api, approved, signed_in):
    Notice.objects.update(due_at=timezone.now() + timedelta(days=9))
    browser = signed_in(Role.EDITOR)
    page_text = text(browser.get(page(approved)))
    assert re.search(
        r"Approved by Reviewer 7 as credit officer \(asserted by key \w+, no second person, without a grant\)",
        page_text,
    )
    assert f"on {day_in_words(timezone.now())}" in page_text
    assert f"Due {day_in_words(timezone.now() + timedelta(days=9))}, in 9 days" in page_text
    assert reason_at(browser.get(page(approved)), "Deliver") == ""
    done(step(api, approved, "deliveries", {"channel": "hand"}))
    answer = browser.get(page(approved))
    assert f"Delivered on {day_in_words(timezone.now())}" in text(answer)
    assert "Due " not in text(answer)
    (again,) = re.findall(r"<button[^>]*>Deliver again</button>", answer.content.decode())
    assert "default" not in again
    assert in_order(answer, 'id="verdict-title"', ">Deliver again</summary>")


def test_a_writer_cannot_approve_and_the_button_says_why(notice, signed_in):
    browser = signed_in(Role.OWNER)
    done(edit(browser, notice, title="Mine"))
    assert reason_at(browser.get(page(notice)), "Approve").startswith("You wrote or edited this notice")
    answer = do(browser, notice, "approve", comment="It is fine.")
    assert answer.status_code == 409
    assert "You wrote or edited this notice. Ask another person to approve it." in text(answer)
    assert (state(notice), Approval.objects.count()) == ("draft", 0)


def test_where_grants_are_required_the_button_says_that_one_is_missing(api, notice, signed_in):
    guard(api.organization, require_grants=True)
    answer = signed_in(Role.APPROVER).get(page(notice))
    assert reason_at(answer, "Approve").startswith("You hold no authority grant")


def test_an_approval_keeps_comment_and_authority(notice, signed_in):
    browser = signed_in(Role.APPROVER)
    answer = do(browser, notice, "approve", comment="Checked.", authority="credit officer")
    assert answer.status_code == 302
    approval = Approval.objects.get()
    assert (approval.comment, approval.authority, approval.basis) == ("Checked.", "credit officer", "signed in")
    page_text = text(browser.get(page(notice)))
    assert "approved it as credit officer (signed in, without a grant) Checked." in page_text
    assert "Once approved" not in page_text


@pytest.mark.parametrize(("name", "field"), [("approve", "comment"), ("request-changes", "reason")])
def test_a_verdict_about_an_older_revision_is_refused(api, notice, signed_in, name, field):
    browser = signed_in(Role.APPROVER)
    browser.get(page(notice))
    done(edit(api, notice, title="Another title"))
    done(step(api, notice, "submit"))
    answer = do(browser, notice, name, revision="1", **{field: "Typed before the change."})
    assert answer.status_code == 409
    assert "The notice has changed" in text(answer)
    assert "Typed before the change.</textarea>" in answer.content.decode()
    assert "Another title" in text(answer), "the page shows what the notice says now"
    assert (state(notice), Approval.objects.count()) == ("in_review", 0)
    assert do(browser, notice, name, **{field: "Seen."}).status_code == 302


def test_a_form_without_its_revision_is_refused(notice, signed_in):
    browser = signed_in(Role.APPROVER)
    for revision in ("", "x", "-1", "9" * 5000, "1.5"):
        answer = do(browser, notice, "approve", revision=revision, comment="Kept.")
        assert answer.status_code in (409, 422), revision
        assert "Kept.</textarea>" in answer.content.decode(), revision
    assert not Approval.objects.exists()


def test_requesting_changes_without_a_reason_shows_the_error_at_its_field(api, notice, signed_in):
    browser = signed_in(Role.APPROVER)
    done(step(api, notice, "submit"))
    answer = do(browser, notice, "request-changes", reason="  ")
    assert answer.status_code == 422
    body = answer.content.decode()
    (field,) = re.findall(r'<textarea[^>]*id="request-changes-reason"[^>]*>', body)
    assert 'aria-invalid="true"' in field
    assert 'aria-describedby="request-changes-reason_error"' in field
    assert 'id="request-changes-reason_error">Say what has to be changed.' in body
    assert do(browser, notice, "request-changes", reason="Say it simpler.").status_code == 302
    assert "asked for changes Say it simpler." in text(browser.get(page(notice)))


def test_an_impossible_action_says_why_and_is_refused(notice, signed_in):
    browser = signed_in(Role.OWNER)
    impossible = {"deliver": "Deliver", "new-version": "New version", "request-changes": "Request changes"}
    for name, label in impossible.items():
        assert reason_at(browser.get(page(notice)), label) == "The notice is still a draft."
        answer = do(browser, notice, name, channel="post", reason="Simpler.")
        assert answer.status_code == 409
        assert "The notice is still a draft." in text(answer)
    assert do(browser, notice, "submit").status_code == 302
    assert reason_at(browser.get(page(notice)), "Send for review") == "The notice is in review."
    assert do(browser, notice, "submit").status_code == 409


def test_a_member_assigns_a_notice_to_themselves_and_releases_it(notice, signed_in):
    browser = signed_in(Role.EDITOR)
    for label, holder in (("Assign to me", "editor@example-bank.example"), ("Unassign", None)):
        assert reason_at(browser.get(page(notice)), label) == ""
        for _ in range(2):  # a second click on a stale page changes nothing
            do(browser, notice, "hold", take=str(label == "Assign to me"))
        row = Notice.objects.select_related("holder__user").get()
        assert (row.holder and row.holder.user.email) == holder


def test_releasing_a_notice_that_another_member_holds_changes_nothing(notice, signed_in):
    for role, take in ((Role.EDITOR, True), (Role.APPROVER, True), (Role.EDITOR, False)):
        do(signed_in(role), notice, "hold", take=str(take))
    assert Notice.objects.select_related("holder__user").get().holder.user.email == "approver@example-bank.example"


# ── letters ──


def test_the_preview_is_a_draft_with_a_strict_content_policy(notice, signed_in):
    answer = signed_in(Role.AUDITOR).get(page(notice, "notice-letter"))
    policy = answer["Content-Security-Policy"]
    assert style_hash() in policy
    assert "unsafe" not in policy
    assert "script-src" not in policy
    assert "DRAFT" in answer.content.decode().upper()


def test_a_draft_has_no_proof_and_an_unknown_format_is_not_found(notice, approved, api, signed_in):
    browser = signed_in(Role.AUDITOR)
    draft = drafted(api)
    answer = browser.get(page(draft, "notice-letter"), {"format": "proof"})
    assert (answer.status_code, "nothing to prove" in text(answer)) == (409, True)
    assert browser.get(page(approved, "notice-letter"), {"format": "proof"}).json()["type"]
    assert browser.get(page(draft, "notice-letter"), {"format": "docx"}).status_code == 404


# ── records that cannot be read ──


def test_a_notice_about_a_destroyed_record_is_shown_and_can_be_withdrawn(notice, signed_in):
    record = Decision.objects.get().record
    with unguarded():
        vaults.current().delete(object_key(record.organization_id, record.pk))
    browser = signed_in(Role.OWNER)
    answer = browser.get(page(notice))
    assert answer.status_code == 200
    fault = reason_at(answer, "Approve")
    assert fault
    assert notice["content"]["main_factors"][0]["statement"] in text(answer)
    assert "not in the record" not in text(answer)
    assert do(browser, notice, "approve").status_code == 500
    assert not Approval.objects.exists()
    assert browser.get(page(notice, "edit-notice")).status_code == 200
    assert do(browser, notice, "withdraw", reason="The record is gone.").status_code == 302
    assert state(notice) == "withdrawn"


# ── large notices ──


def test_the_review_page_runs_as_many_queries_for_100_sentences_as_for_5(api, notice, signed_in):
    browser = signed_in(Role.APPROVER)
    browser.get(page(notice))
    done(edit(api, notice, main_factors=MANY[:5]))
    with statements() as five:
        browser.get(page(notice))
    done(edit(api, notice, main_factors=MANY))
    with statements() as hundred:
        assert "Sentence 99." in browser.get(page(notice)).content.decode()
    assert len(hundred) == len(five)


def test_a_request_for_review_is_on_the_page_of_its_notice(api, offering, signed_in):
    request = ask(api, offering)
    assert f"/admin/notices/reviewrequest/{request.pk}/change/" in signed_in().get(page(offering)).content.decode()
