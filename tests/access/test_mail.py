"""A worker sends mail as text and HTML without remote content. A refused mail waits and holds up no other."""

import itertools
import re
from datetime import timedelta
from html.parser import HTMLParser
from types import SimpleNamespace

import pytest
import time_machine
from django.utils import timezone

from accounts import mail, tasks
from accounts.models import Invite, OneTimeCode
from accounts.roles import Role
from accounts.services import invites
from config import leases
from config.periodic import SLICE_SECONDS
from tests.people import Browser, add_person, ask_for_code, caller, events, newest_mail
from tests.throwaway import free_port

pytestmark = pytest.mark.django_db

OWNER = "owner@bank.example"


def ask(*emails: str) -> None:
    for email in emails:
        assert Browser().call("POST", "/v1/auth/otp/request", {"email": email}).status_code == 200


@pytest.fixture
def people(organization) -> list[str]:
    return [add_person(organization, Role.EDITOR, f"{name}@bank.example").user.email for name in ("a", "b", "c")]


def parts(message) -> dict[str, str]:
    return {part.get_content_type(): part.get_content() for part in message.walk() if not part.is_multipart()}


def test_nothing_is_sent_within_the_request(organization, mailoutbox):
    ask(OWNER)
    assert mailoutbox == []
    assert OneTimeCode.objects.get().digest == ""
    tasks.deliver_mail()
    assert len(mailoutbox) == 1


def test_a_mail_is_sent_once(organization, mailoutbox):
    ask(OWNER)
    for _ in range(3):
        tasks.deliver_mail()
    with time_machine.travel(timezone.now() + timedelta(minutes=2)):
        tasks.deliver_mail()
    assert len(mailoutbox) == 1


def test_an_address_without_an_account_gets_no_mail(organization, mailoutbox):
    ask("unknown@bank.example")
    tasks.deliver_mail()
    assert mailoutbox == []
    assert OneTimeCode.objects.get().handled_at


def test_a_request_that_waited_too_long_gets_no_mail(organization, mailoutbox):
    ask(OWNER)
    with time_machine.travel(timezone.now() + timedelta(minutes=11)):
        tasks.deliver_mail()
    assert mailoutbox == []


class Remote(HTMLParser):
    """Parser of a mail that collects content a mail program would fetch or run."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        loading = {"img", "link", "script", "iframe", "object", "embed", "video", "audio", "source", "form", "base"}
        fetched = [
            name for name, value in attrs if name in {"src", "srcset", "background", "poster"} or "url(" in value
        ]
        if tag in loading or fetched:
            self.found.append(tag)


def test_the_check_for_remote_content_finds_some():
    assert Remote('<p style="background: url(x)"><img src="x"><link href="x">').found == ["p", "img", "link"]


def test_the_mail_with_a_code_has_text_and_html_with_the_same_code_and_nothing_remote(organization, smtp, settings):
    ask(OWNER)
    tasks.deliver_mail()
    ((recipient, message),) = smtp.taken
    shown = parts(message)
    assert (recipient, message["Subject"]) == (OWNER, "Your sign-in code")
    assert list(shown) == ["text/plain", "text/html"]
    codes = [re.findall(r"\b\d{6}\b", body) for body in shown.values()]
    assert codes[0] == codes[1]
    assert len(codes[0]) == 1
    assert Remote(shown["text/html"]).found == []
    links = {link for body in shown.values() for link in re.findall(r"https?://[^\s\"<]+", body)}
    assert links == {f"{settings.BASE_URL}/sign-in/code/"}
    assert codes[0][0] not in str(message["Subject"]), "a locked phone shows the subject"


def test_the_invitation_has_text_and_html_with_the_same_link_and_nothing_remote(organization, smtp, settings):
    organization.name = 'Bank & <b>"Sons"</b>'
    organization.save()
    invites.invite(caller=caller(organization), email="new@bank.example", role=Role.EDITOR)
    tasks.deliver_mail()
    shown = parts(smtp.taken[0][1])
    assert list(shown) == ["text/plain", "text/html"]
    links = [re.findall(r"https?://[^\s\"<]+", body) for body in shown.values()]
    assert links[0] == links[1]
    assert re.fullmatch(re.escape(settings.BASE_URL) + r"/invites/\d+-[0-9a-f]{64}/", links[0][0])
    assert organization.name in shown["text/plain"]
    assert "Bank &amp; &lt;b&gt;" in shown["text/html"]
    assert Remote(shown["text/html"]).found == []


# ── failures ──


def test_a_refused_recipient_holds_up_no_other_mail(people, smtp):
    smtp.refused = {people[1]}
    ask(*people)
    tasks.deliver_mail()
    assert smtp.recipients() == [people[0], people[2]]
    assert OneTimeCode.objects.get(handled_at=None).email == people[1]


def test_a_refused_mail_is_retried_after_a_minute_with_a_new_code(people, smtp):
    smtp.refused = {people[0]}
    ask(people[0])
    tasks.deliver_mail()
    smtp.refused = set()
    tasks.deliver_mail()
    assert smtp.taken == [], "the minute is not over"
    with time_machine.travel(timezone.now() + timedelta(seconds=61)):
        tasks.deliver_mail()
        tasks.deliver_mail()
    assert smtp.recipients() == [people[0]]
    assert len(events("sign_in.code_sent")) == 1


def test_a_mail_is_retried_after_a_broken_connection(people, smtp):
    smtp.breaking = {people[0]}
    ask(*people)
    tasks.deliver_mail()
    assert smtp.recipients() == people[1:]
    smtp.breaking = set()
    with time_machine.travel(timezone.now() + timedelta(seconds=61)):
        tasks.deliver_mail()
    assert smtp.recipients() == [*people[1:], people[0]]


def test_mails_wait_while_the_mail_server_is_down(people, smtp, settings):
    up, settings.EMAIL_PORT = smtp.port, free_port()
    ask(*people)
    tasks.deliver_mail()
    assert OneTimeCode.objects.filter(handled_at=None).count() == 3
    settings.EMAIL_PORT = up
    with time_machine.travel(timezone.now() + timedelta(seconds=61)):
        tasks.deliver_mail()
    assert smtp.recipients() == people


def test_a_second_worker_sends_no_mail_of_a_slow_batch_again(people, smtp, monkeypatch):
    ask(*people)
    send = mail.send
    with time_machine.travel(timezone.now(), tick=False) as clock:

        def slow(*args, **options):
            clock.shift(40)
            with monkeypatch.context() as second_worker:
                second_worker.setattr(mail, "send", send)
                tasks.deliver_mail()
            send(*args, **options)

        monkeypatch.setattr(mail, "send", slow)
        tasks.deliver_mail()
    assert sorted(smtp.recipients()) == people


def test_an_unwritable_address_holds_up_no_other_mail(organization, smtp):
    """Each part of this address is short enough, but not in its ASCII spelling."""
    unwritable = f"new@{'ä' * 63}.example"
    api = Browser()
    for email in (unwritable, "new@bank.example"):
        invites.invite(caller=caller(organization), email=email, role=Role.EDITOR)
    api.call("POST", "/v1/auth/otp/request", {"email": OWNER})
    api.call("POST", "/v1/auth/otp/verify", {"email": OWNER, "code": "000000"})
    tasks.deliver_mail()
    assert smtp.recipients() == [OWNER, "new@bank.example"]
    assert len(events("sign_in.refused")) == 1


def test_a_line_break_in_the_name_of_an_organization_holds_up_no_invitation(organization, smtp):
    organization.name = "Bank\nBcc: person@else.example"
    organization.save()
    for email in ("new@bank.example", "newer@bank.example"):
        invites.invite(caller=caller(organization), email=email, role=Role.EDITOR)
    tasks.deliver_mail()
    assert sorted(smtp.recipients()) == ["new@bank.example", "newer@bank.example"]


def test_mails_that_take_long_give_way_after_a_slice(organization, smtp, monkeypatch):
    emails = [add_person(organization, Role.EDITOR, f"{number}@bank.example").user.email for number in range(3)]
    ask(*emails)
    seconds = itertools.count(step=SLICE_SECONDS / 2)  # a mail ends half a slice after the last one
    monkeypatch.setattr(leases, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    tasks.deliver_mail()
    assert smtp.recipients() == emails[:2]
    tasks.deliver_mail()
    assert smtp.recipients() == emails


def test_an_invitation_that_was_revoked_before_it_was_sent_is_not_sent(organization, mailoutbox):
    made = invites.invite(caller=caller(organization), email="new@bank.example", role=Role.EDITOR)
    invites.revoke_invite(invite=made, caller=caller(organization))
    tasks.deliver_mail()
    assert mailoutbox == []


# ── secrets ──


def test_an_invitation_is_stored_as_a_keyed_digest(organization):
    invites.invite(caller=caller(organization), email="new@bank.example", role=Role.EDITOR)
    secret = re.search(r"-([0-9a-f]{64})/", newest_mail("new@bank.example").body).group(1)
    stored = Invite.objects.values().get()
    assert not [value for value in stored.values() if secret in str(value)]
    assert len(stored["digest"]) == 64


def test_the_newest_mail_has_the_code_that_counts(organization):
    browser = Browser()
    for _ in range(2):
        code = ask_for_code(browser, OWNER)
    assert browser.call("POST", "/v1/auth/otp/verify", {"email": OWNER, "code": code}).status_code == 200
