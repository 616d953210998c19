"""What must hold when many send at once: codes, invitations, second factors and the last owner."""

import pyotp
import pytest

from accounts import services
from accounts.audit import SYSTEM
from accounts.models import AuditEvent, Invite, Member, OneTimeCode, SignedInSession, User
from accounts.roles import Role
from accounts.services import codes, invites, members, second_factor
from tests.people import Browser, add_person, another, ask_for_code, caller, mailed_token
from tests.threads import at_once

OWNER = "owner@bank.example"
SENDERS = 16


@pytest.fixture
def bank(shared_database, organization):
    """An organization in a database that threads share as in production."""
    return organization


def verify(code: str) -> int:
    return Browser().call("POST", "/v1/auth/otp/verify", {"email": OWNER, "code": code}).status_code


def test_of_equal_right_codes_one_signs_in(bank):
    code = ask_for_code(Browser(), OWNER)
    assert sorted(at_once(SENDERS, lambda _: verify(code))) == [200] + [401] * (SENDERS - 1)
    assert SignedInSession.objects.count() == 1


def test_of_wrong_codes_five_are_compared(bank):
    code = ask_for_code(Browser(), OWNER)
    assert at_once(SENDERS, lambda _: verify(another(code))) == [401] * SENDERS
    assert OneTimeCode.objects.get().tries == codes.TRIES
    assert verify(code) == 401


@pytest.mark.parametrize("whose", ["mail", "client"])
def test_no_more_codes_are_given_than_an_hour_allows(bank, settings, whose):
    settings.CODES_PER_HOUR = settings.CODES_PER_HOUR_AND_CLIENT = 5

    def ask(number: int) -> int:
        email, address = (OWNER, f"192.0.2.{number}") if whose == "mail" else (f"{number}@bank.example", "192.0.2.1")
        return Browser(REMOTE_ADDR=address).call("POST", "/v1/auth/otp/request", {"email": email}).status_code

    assert sorted(at_once(SENDERS, ask)) == [200] * 5 + [429] * (SENDERS - 5)


def test_of_equal_invitations_one_stays_open(bank):
    def invite(_: int) -> Invite:
        return invites.invite(caller=caller(bank), email="new@bank.example", role=Role.EDITOR)

    made = at_once(SENDERS, invite)
    assert len({row.pk for row in made}) == SENDERS
    assert Invite.objects.filter(revoked_at=None).count() == 1


def test_an_invitation_is_accepted_once(bank):
    invites.invite(caller=caller(bank), email="new@bank.example", role=Role.EDITOR)
    token = mailed_token("new@bank.example")

    def accept(_: int) -> int:
        return Browser().call("POST", "/v1/auth/invites/accept", {"token": token}).status_code

    assert sorted(at_once(SENDERS, accept)) == [200] + [404] * (SENDERS - 1)
    assert AuditEvent.objects.filter(verb="invite.accepted").count() == 1
    assert Member.objects.filter(user__email="new@bank.example").count() == 1
    assert SignedInSession.objects.count() == 1


def test_an_invitation_is_either_accepted_or_revoked(bank):
    made = invites.invite(caller=caller(bank), email="new@bank.example", role=Role.EDITOR)
    token = mailed_token("new@bank.example")

    def either(number: int) -> None:
        if number % 2:
            invites.revoke_invite(invite=Invite.objects.get(pk=made.pk), caller=caller(bank))
        else:
            Browser().call("POST", "/v1/auth/invites/accept", {"token": token})

    at_once(SENDERS, either)
    made.refresh_from_db()
    assert (made.accepted_at is None) != (made.revoked_at is None)
    assert Member.objects.filter(user__email="new@bank.example").exists() == (made.accepted_at is not None)


def enrolled(bank) -> pyotp.TOTP:
    """The owner's app; the code of the present step is still to be used."""
    secret = pyotp.random_base32()
    app = pyotp.TOTP(secret)
    person = User.objects.get(email=OWNER)
    services.require_second_factor(organization=bank, required=True, actor=SYSTEM)

    second_factor.enrol(user=person, secret=secret, code=app.now())
    User.objects.filter(pk=person.pk).update(totp_counter=1)
    return app


def waiting_browser() -> Browser:
    """A browser whose person has given a mailed code and owes the app's."""
    browser = Browser()
    assert browser.submit("/sign-in/code/", code=ask_for_code(browser, OWNER))["Location"] == "/sign-in/app/"
    return browser


def with_cookies_of(browser: Browser) -> Browser:
    copy = Browser()
    copy.cookies.update(browser.cookies)
    return copy


def confirm(browser: Browser, code: str) -> int:
    return with_cookies_of(browser).call("POST", "/v1/auth/second-factor", {"code": code}).status_code


def test_of_wrong_codes_of_an_app_five_are_compared(bank):
    app, browser = enrolled(bank), waiting_browser()
    assert at_once(SENDERS, lambda _: confirm(browser, "no")) == [401] * SENDERS
    assert OneTimeCode.objects.get().app_tries == codes.TRIES
    assert confirm(browser, app.now()) == 401
    assert not SignedInSession.objects.exists()


def test_a_code_of_an_app_signs_in_once_though_two_people_have_read_the_mail(bank):
    app, browsers = enrolled(bank), [waiting_browser() for _ in range(4)]
    code = app.now()
    assert sorted(at_once(4, lambda number: confirm(browsers[number], code))) == [200, 401, 401, 401]


def test_two_owners_who_leave_at_once_leave_one(bank):
    add_person(bank, Role.OWNER)
    both = list(Member.objects.order_by("pk"))

    def step_down(number: int) -> str:
        try:
            members.change_role(caller=caller(bank), member=both[number], role=Role.EDITOR)
        except members.LastOwner:
            return "refused"
        return "done"

    assert sorted(at_once(2, step_down)) == ["done", "refused"]
    assert Member.objects.filter(role=Role.OWNER).count() == 1


def test_a_member_is_removed_once_and_does_not_exist_for_who_comes_second(bank, api):
    member = add_person(bank, Role.EDITOR)

    def remove(_: int) -> int:
        keyed = Browser(headers={"Authorization": f"Bearer {api.token}"})
        return keyed.generic("DELETE", f"/v1/auth/members/{member.pk}").status_code

    assert sorted(at_once(8, remove)) == [200] + [404] * 7
    assert AuditEvent.objects.filter(verb="member.removed").count() == 1


def test_two_workers_send_a_mail_once(bank, mailoutbox):
    for number in range(10):
        add_person(bank, Role.EDITOR, f"{number}@bank.example")
        Browser().submit("/sign-in/", email=f"{number}@bank.example")
    at_once(4, lambda _: codes.deliver_codes())
    assert sorted(message.to[0] for message in mailoutbox) == [f"{number}@bank.example" for number in range(10)]
