"""Mails about notices, the letter and the reminder: in their language, without details of the decision."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from notices.models import Notice
from notices.selectors import letter
from notices.services import deliver_letters, remind, request_review, send_reminders
from tests.notices.conftest import RECORD, approve, done, drafted, edit, step, stored, warnings_of

pytestmark = pytest.mark.django_db

NOW = datetime(2030, 1, 8, 12, tzinfo=UTC)
RECIPIENT = {"name": "Avery Canary", "email": "avery@home.example"}


@pytest.mark.parametrize(
    ("language", "subject"),
    [("en", "The letter is attached"), ("de", "Der Brief ist als PDF angehängt"), ("fr", "La lettre est jointe")],
)
def test_a_letter_s_mail_is_in_its_language_without_details_of_the_decision(api, mailoutbox, language, subject):
    api.ingest(RECORD)
    draft = drafted(api, recipient={**RECIPIENT, "language": language})
    notice = done(approve(api, draft, acknowledge=warnings_of(api, draft)))
    done(step(api, notice, "deliveries", {"channel": "email"}))
    assert deliver_letters() == 1
    (mail,) = mailoutbox
    html = mail.alternatives[0].content
    assert mail.to == ["avery@home.example"]
    assert f'<html lang="{language}">' in html
    assert [attached[0] for attached in mail.attachments] == ["letter.pdf"]
    for text in (mail.body, html):
        assert subject in text
        assert notice["public_address"] in text
        assert not any(private in text for private in ("Avery", "loan-1", "denied", "0.92"))


def test_a_reminder_links_late_and_soon_due_notices_and_names_no_person(api, mailoutbox, settings):
    review = {"human_review_available": True, "how_to_request_review": "Write to us."}
    rows = []
    for decision_id, days in (("loan-late", -3), ("loan-soon", 5), ("loan-asked", 100)):
        api.ingest({**RECORD, "decision_id": decision_id})
        draft = drafted(api, decision_id, recipient=RECIPIENT)
        rows.append(stored(api, draft))
        Notice.objects.filter(pk=draft["notice_id"]).update(due_at=NOW + timedelta(days=days, minutes=1))
    done(edit(api, {"notice_id": rows[2].pk}, **review))
    asked = stored(api, done(approve(api, {"notice_id": rows[2].pk})))
    request = request_review(notice=asked, code=letter(asked).review_code, message="canary-message")
    type(request).objects.update(due_at=NOW + timedelta(days=2, minutes=1))
    with time_machine.travel(NOW, tick=False):
        assert (remind(), send_reminders()) == (1, 1)
    (mail,) = mailoutbox
    expected = [("2 days, 23 hours late", rows[0]), ("5 days left", rows[1]), ("2 days left", asked)]
    for text in (mail.body, mail.alternatives[0].content):
        text = text.replace("\N{NO-BREAK SPACE}", " ").replace("&nbsp;", " ")
        for words, row in expected:
            assert words in text
            assert f"{settings.BASE_URL}/admin/notices/notice/{row.pk}/change/" in text
        assert not any(private in text for private in ("Avery", "avery", "loan-", "canary"))
