"""Deliveries, new versions and drafts on the pages of a notice."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.roles import Role
from decisions.models import Decision
from notices.models import Approval, Delivery, Notice
from tests.cases import each_case
from tests.notices.conftest import RECORD, approve, done, drafted, exempt, warnings_of
from tests.notices.test_back_office import do, page
from tests.notices.test_back_office_review import state, text
from tests.notices.test_review_requests import offering, reconsider
from tests.people import Browser
from tests.support.unguarded import unguarded

__all__ = ["offering"]
pytestmark = pytest.mark.django_db


# ── deliveries and new versions ──


def test_a_delivery_is_recorded_as_it_happened(approved, signed_in):
    with unguarded():
        Approval.objects.update(created_at=timezone.now() - timedelta(days=2))
    yesterday = timezone.now() - timedelta(days=1)
    entered = {"channel": "post", "address": "1 Example Street", "reference": "RR 1"}
    answer = do(signed_in(Role.EDITOR), approved, "deliver", **entered, delivered_at=f"{yesterday:%Y-%m-%dT%H:%M}")
    assert answer.status_code == 302
    made = Delivery.objects.get()
    assert {name: getattr(made, name) for name in entered} == entered
    assert abs(made.delivered_at - yesterday) < timedelta(minutes=1)
    assert state(approved) == "delivered"


def test_a_recipient_entered_on_the_page_is_in_the_letter(approved, signed_in):
    browser = signed_in(Role.EDITOR)
    entered = {"recipient_name": "Example Person", "recipient_address": " 2 Example Street \r\n\r\nExample City"}
    assert do(browser, approved, "recipient", **entered).status_code == 302
    assert Notice.objects.get().recipient == {
        "name": "Example Person",
        "address": ["2 Example Street", "Example City"],
    }
    assert "2 Example Street" in browser.get(page(approved, "notice-letter")).content.decode()
    shown = browser.get(page(approved)).content.decode()
    assert 'value="Example Person"' in shown
    assert "2 Example Street\nExample City</textarea>" in shown


def test_the_reference_is_shown_and_cannot_be_entered_once_the_notice_is_approved(api, notice, signed_in):
    browser = signed_in(Role.EDITOR)
    reference = r'<input[^>]* name="recipient_reference"[^>]*>'
    assert do(browser, notice, "recipient", recipient_reference="Ref 7").status_code == 302
    [entry] = re.findall(reference, browser.get(page(notice)).content.decode())
    assert 'value="Ref 7"' in entry
    assert "disabled" not in entry
    done(approve(api, notice))
    [entry] = re.findall(reference, browser.get(page(notice)).content.decode())
    assert 'value="Ref 7"' in entry
    assert "disabled" in entry
    assert do(browser, notice, "recipient", recipient_name="A. Person").status_code == 302  # as browsers send it
    assert Notice.objects.get().recipient == {"name": "A. Person", "reference": "Ref 7"}


def test_the_approved_reference_stays(approved, signed_in):
    answer = do(signed_in(Role.EDITOR), approved, "recipient", recipient_reference="another", recipient_name="Kept")
    assert answer.status_code == 409
    assert 'value="Kept"' in answer.content.decode()
    assert Notice.objects.get().recipient == {}


@pytest.fixture
def editor(signed_in) -> Browser:
    return signed_in(Role.EDITOR)


@each_case(
    ("entered", "status", "message"),
    [
        ({"channel": "pigeon"}, 422, "not one of the available choices"),
        ({"channel": "post", "delivered_at": "2020-01-01T00:00"}, 409, "cannot be before the approval of the notice"),
        ({"channel": "post", "delivered_at": "soon"}, 422, "Enter a valid date/time."),
        ({"channel": "email"}, 409, "No e-mail address is known."),
        ({"channel": "email", "address": "no-address"}, 409, "This is no e-mail address."),
    ],
)
def test_an_impossible_delivery_is_refused_and_stays_on_the_page(approved, editor, entered, status, message):
    answer = do(editor, approved, "deliver", **entered, reference="Kept 1")
    assert (answer.status_code, message in text(answer)) == (status, True)
    assert 'value="Kept 1"' in answer.content.decode()
    assert (state(approved), Delivery.objects.count()) == ("approved", 0)


def test_a_returned_letter_is_recorded_with_the_reason(approved, signed_in):
    browser = signed_in(Role.EDITOR)
    do(browser, approved, "deliver", channel="post")
    came_back = page(approved, "return-delivery", Delivery.objects.get().pk)
    for no_reason in (" ", "a\x00b"):
        assert browser.submit(page(approved), came_back, reason=no_reason).status_code == 422
    assert browser.submit(page(approved), came_back, reason="Moved away").status_code == 302
    assert state(approved) == "approved"
    answer = browser.get(page(approved))
    assert "The letter came back Moved away" in text(answer)
    assert came_back not in answer.content.decode()


def test_a_new_version_leads_to_the_draft_and_names_both(approved, signed_in):
    browser = signed_in(Role.EDITOR)
    answer = do(browser, approved, "new-version")
    made = Notice.objects.get(supersedes=approved["notice_id"])
    assert answer["Location"] == page({"notice_id": made.pk})
    assert "new version of an earlier notice" in text(browser.get(answer["Location"]))
    assert page({"notice_id": made.pk}) in browser.get(page(approved)).content.decode()


def test_a_draft_is_made_on_the_page_of_a_decision(api, signed_in):
    done(api.ingest({**RECORD, "subject": {"reference": "person 7"}}))
    decision = Decision.objects.get()
    browser = signed_in(Role.EDITOR)
    form = f"/admin/notices/notice/draft/{decision.pk}/"
    answer = browser.submit(f"/admin/decisions/decision/{decision.pk}/change/", form, pack="ca_qc_12_1", language="fr")
    made = Notice.objects.get()
    assert answer["Location"] == page({"notice_id": made.pk})
    assert (made.pack, made.language, made.recipient) == ("ca_qc_12_1", "fr", {"reference": "person 7"})
    assert "ca_qc_12_1" in browser.get(f"/admin/decisions/decision/{decision.pk}/change/").content.decode()
    answer = browser.post(form, {"pack": "", "csrfmiddlewaretoken": browser.csrf_token("/admin/")}, follow=True)
    assert "Choose a pack to draft under." in text(answer)
    assert Notice.objects.count() == 1


def test_a_reconsideration_draft_has_the_recipient_of_the_first_letter(api, api_for, signed_in):
    done(api.ingest(RECORD))
    person = {"name": "Example Person", "address": ["2 Example Street"], "reference": "person 7"}
    first = drafted(api, pack="ca_qc_12_1", language="fr", recipient=person)
    missing = [item["id"] for item in first["elements"] if item["result"] == "missing" and item["blocks"]]
    done(exempt(api, first, **dict.fromkeys(missing, "Told in another letter.")))
    done(approve(api_for(api.organization), first, acknowledge=warnings_of(api, first)))
    drafted(api, recipient={"name": "Another Person"})
    again = reconsider(api, reconsider(api)["decision_id"])["decision_id"]
    decision = Decision.objects.get(decision_id=again)
    form = f"/admin/notices/notice/draft/{decision.pk}/"
    page_of_it = f"/admin/decisions/decision/{decision.pk}/change/"
    signed_in(Role.EDITOR).submit(page_of_it, form, pack="ca_qc_12_1", language="")
    made = Notice.objects.get(decision=decision)
    assert (made.recipient, made.language, str(made.pk) != first["notice_id"]) == (person, "fr", True)
