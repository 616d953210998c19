"""Deliveries are recorded as they happened. A letter to be mailed waits until the mail server accepts it."""

import hashlib
import json
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
import time_machine

from accounts import mail
from accounts.models import AuditEvent
from config import rests
from config.periodic import SLICE_SECONDS
from notices import tasks
from notices.models import Delivery, Notice
from notices.services import stored_pdfs
from tests.cases import each_case
from tests.notices.conftest import RECORD, approve, done, drafted, refused, send, shown, step
from tests.support.kept_rows import make_once
from tests.throwaway import free_port

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.filterwarnings("ignore:unclosed file .*sRGB2014:ResourceWarning"),  # as test_letter_pdf says
]

ADDRESS = "person@home.example"


def deliver(api, notice, channel: str = "post", **body):
    return step(api, notice, "deliveries", {"channel": channel, **body})


def take_back(api, notice, delivery: dict, reason: str = "Unknown there."):
    return step(api, notice, f"deliveries/{delivery['delivery_id']}/return", {"reason": reason})


def deliveries(api, notice) -> list[dict]:
    return shown(api, notice, "/deliveries")["items"]


@pytest.fixture
def addressed(api) -> dict:
    """Return an approved notice whose recipient has an email address."""

    def make() -> dict:
        api.ingest(RECORD)
        return done(approve(api, drafted(api, recipient={"name": "A. Person", "email": ADDRESS})))

    return make_once("addressed", make)


# ── recorded ──


@pytest.mark.parametrize("channel", ["post", "portal", "hand"])
def test_a_delivery_is_recorded_and_the_notice_is_delivered(api, approved, channel):
    made = done(deliver(api, approved, channel, address="1 Example Street", reference="EX-0001"))
    assert (made["channel"], made["address"], made["reference"]) == (channel, "1 Example Street", "EX-0001")
    assert made["recorded_by"].startswith("key ")
    notice = shown(api, approved)
    assert (notice["state"], notice["delivered_at"]) == ("delivered", made["delivered_at"])
    assert deliveries(api, approved) == [made]


def test_only_an_approved_notice_can_be_delivered(api, notice):
    for _ in ("a draft", "in review"):
        for channel in ("post", "email"):
            assert "Only an approved one" in refused(deliver(api, notice, channel, address=ADDRESS))
        step(api, notice, "submit")
    assert not Delivery.objects.exists()


def test_a_delivery_is_after_the_approval_and_not_in_the_future(api, approved):
    at = datetime.fromisoformat(approved["approval"]["approved_at"])
    for moment in (at - timedelta(seconds=1), datetime.now(UTC) + timedelta(hours=1)):
        assert "before the approval" in refused(deliver(api, approved, delivered_at=moment.isoformat()))
    assert shown(api, approved)["state"] == "approved"
    assert (
        done(deliver(api, approved, delivered_at=at.isoformat()))["delivered_at"]
        == (approved["approval"]["approved_at"])
    )


@each_case("moment", ["yesterday", "2026-11-20", "2026-11-20T10:00:00", 1795000000, "1795000000"])
def test_a_time_without_an_offset_is_refused(api, approved, moment):
    answer = deliver(api, approved, delivered_at=moment)
    assert (answer.status_code, answer.json()["detail"][0]["loc"]) == (422, ["body", "delivered_at"])


@each_case("body", [{}, {"channel": "pigeon"}, {"channel": "post", "address": "x" * 1001}])
def test_an_invalid_delivery_is_refused(api, approved, body):
    assert step(api, approved, "deliveries", body).status_code == 422


# ── returned ──


def test_a_returned_letter_is_not_delivered(api, approved):
    made = done(deliver(api, approved))
    returned = done(take_back(api, approved, made))
    assert (returned["returned_because"], returned["delivered_at"]) == ("Unknown there.", made["delivered_at"])
    notice = shown(api, approved)
    assert (notice["state"], notice["delivered_at"]) == ("approved", None)
    assert "already" in refused(take_back(api, approved, made))


def test_one_returned_letter_of_two_leaves_the_notice_delivered(api, approved):
    first, second = done(deliver(api, approved)), done(deliver(api, approved, "portal"))
    take_back(api, approved, first)
    assert shown(api, approved)["delivered_at"] == second["delivered_at"]
    take_back(api, approved, second)
    assert shown(api, approved)["state"] == "approved"
    done(deliver(api, approved))
    assert shown(api, approved)["state"] == "delivered"


def test_a_return_after_withdrawal_leaves_the_notice_withdrawn(api, approved):
    made = done(deliver(api, approved))
    step(api, approved, "withdraw")
    done(take_back(api, approved, made))
    assert shown(api, approved)["state"] == "withdrawn"


def test_a_return_has_a_reason_and_a_delivery_of_this_notice(api, approved):
    made = done(deliver(api, approved))
    assert take_back(api, approved, made, reason=" ").status_code == 422
    other = done(approve(api, drafted(api)))
    assert take_back(api, other, made).status_code == 404
    assert deliveries(api, approved)[0]["returned_at"] is None


# ── by mail ──


def test_a_letter_is_mailed_once_with_the_pdf_whose_digest_is_kept(api, addressed, mailoutbox):
    waiting = done(deliver(api, addressed, "email"))
    assert (waiting["address"], waiting["delivered_at"], shown(api, addressed)["state"]) == (ADDRESS, None, "approved")
    for _ in range(2):
        tasks.deliver_letters()
    (message,) = mailoutbox
    ((name, file, content_type),) = message.attachments
    assert (message.to, name, content_type) == ([ADDRESS], "letter.pdf", "application/pdf")
    (sent,) = deliveries(api, addressed)
    assert sent["letter_digest"] == hashlib.sha256(file).hexdigest()
    assert file == api.get(f"/v1/notices/{addressed['notice_id']}/letter", format="pdf").content
    assert (shown(api, addressed)["state"], sent["delivered_at"] is not None) == ("delivered", True)
    verbs = AuditEvent.objects.filter(object_kind="notice").order_by("-pk").values_list("verb", flat=True)
    assert list(verbs[:2]) == ["notice.mailed", "notice.delivery_recorded"]


def test_the_mail_around_the_letter_reveals_none_of_its_contents(api, addressed, mailoutbox):
    deliver(api, addressed, "email")
    tasks.deliver_letters()
    (message,) = mailoutbox
    mail = "\n".join([message.subject, message.body, *(part.content for part in message.alternatives)])
    assert "Example Bank" in message.subject
    assert addressed["public_address"] in mail
    for private in ("A. Person", addressed["content"]["title"], "denied", "0.92"):
        assert private not in mail


def test_the_address_given_comes_before_the_recipient_s(api, addressed, mailoutbox):
    done(deliver(api, addressed, "email", address="other@home.example"))
    tasks.deliver_letters()
    assert mailoutbox[0].to == ["other@home.example"]


@each_case(
    "recipient",
    [
        {},
        {"email": ""},
        {"email": 5},
        {"email": ["a@b.example"]},
        {"email": "no-address"},
        {"email": "a@b.example\nCc: c"},
    ],
)
def test_without_an_address_no_letter_is_mailed(api, approved, recipient):
    Notice.objects.update(recipient=recipient)
    assert "address" in refused(deliver(api, approved, "email"))
    assert not Delivery.objects.exists()


def test_a_letter_that_was_withdrawn_while_it_waited_is_not_sent(api, addressed, mailoutbox):
    deliver(api, addressed, "email")
    step(api, addressed, "withdraw")
    tasks.deliver_letters()
    assert mailoutbox == []
    assert deliveries(api, addressed)[0]["delivered_at"] is None


def letter_of(api, address: str) -> None:
    """Have a letter wait to be mailed."""
    api.ingest({**RECORD, "decision_id": address})
    drafted_notice = drafted(api, address, recipient={"name": "A. Person", "email": address})
    done(deliver(api, done(approve(api, drafted_notice)), "email"))


def test_slow_letters_of_one_organization_let_another_organization_s_letter_go_first(
    api, other_api, mailoutbox, monkeypatch
):
    """The task gives way after each slice, and asks for the next one while letters wait."""
    woken, seconds, pdf = [], [0.0], stored_pdfs.pdf

    def slow(notice, *arguments):
        if notice.organization_id == api.organization.pk:
            seconds[0] += 2 * SLICE_SECONDS
        return pdf(notice, *arguments)

    monkeypatch.setattr(stored_pdfs, "pdf", slow)
    monkeypatch.setattr(mail, "_rests", rests.Rests())
    monkeypatch.setattr(rests, "time", SimpleNamespace(monotonic=lambda: seconds[0]))
    monkeypatch.setattr(tasks, "wake", woken.append)
    for name in ("first", "second", "third"):
        letter_of(api, f"{name}@home.example")
    letter_of(other_api, "other@home.example")
    for _ in range(3):
        tasks.deliver_letters()
    names = [message.to[0].partition("@")[0] for message in mailoutbox]
    assert names == ["first", "other", "second", "third"]
    assert woken == [tasks.deliver_letters.name] * 2


def test_a_waiting_letter_cannot_be_returned(api, addressed):
    assert "not gone out" in refused(take_back(api, addressed, done(deliver(api, addressed, "email"))))


def test_while_the_mail_server_is_down_the_letter_waits_and_goes_out_once_later(api, addressed, smtp, settings):
    up, settings.EMAIL_PORT = smtp.port, free_port()
    deliver(api, addressed, "email")
    tasks.deliver_letters()
    assert shown(api, addressed)["state"] == "approved"
    settings.EMAIL_PORT = up
    with time_machine.travel(datetime.now(UTC) + timedelta(seconds=61)):
        for _ in range(2):
            tasks.deliver_letters()
        assert smtp.recipients() == [ADDRESS]
        assert shown(api, addressed)["state"] == "delivered"


def test_a_refused_or_unreadable_letter_delays_no_other(api, smtp, monkeypatch):
    smtp.refused = {"refused@home.example"}
    api.ingest(RECORD)
    for address in ("unsealed@home.example", "refused@home.example", ADDRESS):
        with monkeypatch.context() as patch:
            if address.startswith("unsealed"):  # a crash between approval and custody
                patch.setattr("notices.services.review.seal_approved", lambda **_: 0)
            notice = done(approve(api, drafted(api, recipient={"email": address})))
        done(deliver(api, notice, "email"))
    tasks.deliver_letters()
    assert smtp.recipients() == [ADDRESS]


def test_a_letter_whose_address_is_refused_for_good_has_come_back_and_can_go_to_another(api, addressed, smtp):
    smtp.refused = {ADDRESS}
    done(deliver(api, addressed, "email"))
    tasks.deliver_letters()
    (refused_one,) = deliveries(api, addressed)
    assert (refused_one["delivered_at"], refused_one["returned_because"]) == (
        None,
        "The mail server refuses the address.",
    )
    done(send(api, "PUT", f"notices/{addressed['notice_id']}/recipient", {"recipient": {"email": "new@home.example"}}))
    done(deliver(api, addressed, "email"))
    tasks.deliver_letters()
    assert smtp.recipients() == ["new@home.example"]
    assert shown(api, addressed)["state"] == "delivered"


@pytest.mark.parametrize(
    "answer", ["554 5.7.1 Relay access denied", "550 5.7.26 Not authenticated", "530 Sign in first"]
)
def test_a_server_that_takes_no_mail_of_ours_has_not_sent_letters_back(api, addressed, smtp, answer):
    done(deliver(api, addressed, "email"))
    smtp.closed = answer
    tasks.deliver_letters()
    (waiting,) = deliveries(api, addressed)
    assert (waiting["delivered_at"], waiting["returned_at"]) == (None, None)


def test_a_letter_that_waits_to_be_mailed_is_not_mailed_twice(api, addressed, mailoutbox):
    done(deliver(api, addressed, "email"))
    assert "waits" in refused(deliver(api, addressed, "email"))
    tasks.deliver_letters()
    assert len(mailoutbox) == 1


def test_the_history_of_deliveries_is_not_open_to_guesses(api, approved):
    for wrong in ("0", "999999999999999999", "x"):
        assert send(api, "POST", f"notices/{approved['notice_id']}/deliveries/{wrong}/return").status_code == 404
    assert json.dumps(deliveries(api, approved)) == "[]"
