"""Simultaneous requests for codes, invitations, second factors and the last owner."""

import re
from contextlib import suppress

import pyotp
import pytest
from django.utils import timezone

from accounts import callers, selectors, services
from accounts.audit import Actor
from accounts.callers import Caller
from accounts.models import ApiKey, AuditEvent, Invite, Member, OneTimeCode, SignedInSession, User
from accounts.roles import Role
from accounts.services import codes, invites, lineage, members, second_factor
from tests.people import Browser, add_person, another, ask_for_code, caller, mailed_code, mailed_token
from tests.threads import at_once

OWNER = "owner@bank.example"
SENDERS = 8


@pytest.fixture
def bank(shared_database, organization):
    """An organization in a database that threads share as in production."""
    return organization


def with_cookies_of(browser: Browser) -> Browser:
    copy = Browser()
    copy.cookies.update(browser.cookies)
    return copy


def verify(browser: Browser, code: str) -> int:
    """Send a code from another tab of a browser."""
    tab = with_cookies_of(browser)
    return tab.call("POST", "/v1/auth/otp/verify", {"email": OWNER, "code": code}).status_code


def test_one_of_simultaneous_right_codes_signs_in(bank):
    browser = Browser()
    code = ask_for_code(browser, OWNER)
    assert sorted(at_once(SENDERS, lambda _: verify(browser, code))) == [200] + [401] * (SENDERS - 1)
    assert SignedInSession.objects.count() == 1


def test_five_of_simultaneous_wrong_codes_are_compared(bank):
    browser = Browser()
    code = ask_for_code(browser, OWNER)
    assert at_once(SENDERS, lambda _: verify(browser, another(code))) == [401] * SENDERS
    assert OneTimeCode.objects.get().tries == codes.TRIES
    assert verify(browser, code) == 401


def test_simultaneous_wrong_codes_do_not_pass_the_daily_limit(bank):
    browsers = [Browser() for _ in range(SENDERS)]
    mailed = [ask_for_code(browser, OWNER) for browser in browsers]
    for _ in range(codes.TRIES):
        at_once(SENDERS, lambda number: verify(browsers[number], another(mailed[number])))
    assert sum(OneTimeCode.objects.values_list("tries", flat=True)) == codes.TRIES_PER_DAY


@pytest.mark.parametrize("whose", ["mail", "client"])
def test_simultaneous_requests_do_not_pass_the_hourly_limit(bank, settings, whose):
    settings.CODES_PER_HOUR, settings.CODES_PER_HOUR_AND_CLIENT = (5, 30) if whose == "mail" else (30, 5)

    def ask(number: int) -> int:
        email, address = (OWNER if whose == "mail" else f"{number}@bank.example"), "192.0.2.1"
        return Browser(REMOTE_ADDR=address).call("POST", "/v1/auth/otp/request", {"email": email}).status_code

    assert sorted(at_once(SENDERS, ask)) == [200] * 5 + [429] * (SENDERS - 5)


def test_one_of_simultaneous_equal_invitations_stays_open(bank):
    def invite(_: int) -> Invite:
        return invites.invite(caller=caller(bank), email="new@bank.example", role=Role.EDITOR)

    made = at_once(SENDERS, invite)
    assert len({row.pk for row in made}) == SENDERS
    assert Invite.objects.filter(revoked_at=None).count() == 1


def invited(bank) -> tuple[Invite, list[tuple[Browser, str]]]:
    """Make an invitation, and browsers with a mailed code for it each."""
    made = invites.invite(caller=caller(bank), email="new@bank.example", role=Role.EDITOR)
    token, waiting = mailed_token("new@bank.example"), []
    for number in range(4):
        browser = Browser(REMOTE_ADDR=f"192.0.2.{number}")
        assert browser.call("POST", "/v1/auth/invites/accept", {"token": token}).status_code == 200
        waiting.append((browser, mailed_code("new@bank.example")))
    return made, waiting


def give(browser: Browser, code: str) -> int:
    sent = {"email": "new@bank.example", "code": code}
    return with_cookies_of(browser).call("POST", "/v1/auth/otp/verify", sent).status_code


def test_an_invitation_is_accepted_once(bank):
    """Four browsers try twice each."""
    _, waiting = invited(bank)
    answers = at_once(SENDERS, lambda number: give(*waiting[number % 4]))
    assert (answers.count(200), set(answers) <= {200, 401, 404}) == (1, True)
    assert AuditEvent.objects.filter(verb="invite.accepted").count() == 1
    assert Member.objects.filter(user__email="new@bank.example").count() == 1
    assert SignedInSession.objects.count() == 1


def test_an_invitation_is_either_accepted_or_revoked(bank):
    made, waiting = invited(bank)

    def either(number: int) -> None:
        if number % 2:
            invites.revoke_invite(invite=Invite.objects.get(pk=made.pk), caller=caller(bank))
        else:
            give(*waiting[number // 2])

    at_once(SENDERS, either)
    made.refresh_from_db()
    assert (made.accepted_at is None) != (made.revoked_at is None)
    assert Member.objects.filter(user__email="new@bank.example").exists() == (made.accepted_at is not None)


def enrolled(bank) -> pyotp.TOTP:
    """Enrol the owner's app. The code of the present step is unused."""
    secret = pyotp.random_base32()
    app = pyotp.TOTP(secret)
    person = User.objects.get(email=OWNER)
    services.require_second_factor(caller=callers.system(bank.pk), required=True)

    second_factor.enrol(user=person, secret=secret, code=app.now())
    User.objects.filter(pk=person.pk).update(totp_counter=1)
    return app


def waiting_browser() -> Browser:
    """Return a browser whose person has given a mailed code and owes the app's."""
    browser = Browser()
    assert browser.submit("/sign-in/code/", code=ask_for_code(browser, OWNER))["Location"] == "/sign-in/app/"
    return browser


def confirm(browser: Browser, code: str) -> int:
    return with_cookies_of(browser).call("POST", "/v1/auth/second-factor", {"code": code}).status_code


def test_five_of_simultaneous_wrong_app_codes_are_compared(bank):
    app, browser = enrolled(bank), waiting_browser()
    assert at_once(SENDERS, lambda _: confirm(browser, "no")) == [401] * SENDERS
    assert OneTimeCode.objects.get().app_tries == codes.TRIES
    assert confirm(browser, app.now()) == 401
    assert not SignedInSession.objects.exists()


def test_an_app_code_signs_in_once_for_two_readers_of_the_mail(bank):
    app, browsers = enrolled(bank), [waiting_browser() for _ in range(4)]
    code = app.now()
    assert sorted(at_once(4, lambda number: confirm(browsers[number], code))) == [200, 401, 401, 401]


def test_one_of_two_simultaneous_apps_is_enrolled(bank):
    services.require_second_factor(caller=callers.system(bank.pk), required=True)
    browsers = [waiting_browser() for _ in range(4)]
    apps = [
        pyotp.TOTP(re.search(r'class="secret">([A-Z2-7]+)<', browser.get("/sign-in/app/").content.decode()).group(1))
        for browser in browsers
    ]
    assert len({app.secret for app in apps}) == 4
    tokens = [browser.csrf_token("/sign-in/app/") for browser in browsers]

    def enrol(number: int) -> int:
        sent = {"code": apps[number].now(), "csrfmiddlewaretoken": tokens[number]}
        return with_cookies_of(browsers[number]).post("/sign-in/app/", sent).status_code

    assert sorted(at_once(4, enrol)) == [302, 422, 422, 422]
    person = User.objects.get(email=OWNER)
    assert second_factor.unseal(person.totp_secret) in {app.secret for app in apps}
    assert AuditEvent.objects.filter(verb="second_factor.enrolled").count() == 1


def test_one_pending_sign_in_is_confirmed_once(bank):
    app, browser = enrolled(bank), waiting_browser()
    now = int(timezone.now().timestamp())
    near = [app.at(now + offset) for offset in (-30, 0, 30)]
    assert sorted(at_once(3, lambda number: confirm(browser, near[number]))) == [200, 401, 401]
    assert SignedInSession.objects.count() == 1


def test_a_member_who_makes_keys_while_they_are_removed_leaves_none(bank, api):
    member = add_person(bank, Role.ADMIN)
    actor = selectors.caller(member).actor

    def either(number: int) -> None:
        if number == 3:
            members.remove_member(caller=caller(bank), member=member)
            return
        with suppress(lineage.MayNoLonger):
            services.create_api_key(caller=Caller(bank.pk, Role.ADMIN, actor), name=str(number), role=Role.ADMIN)

    at_once(8, either)
    assert not ApiKey.objects.filter(maker=member.user.email, revoked_at=None).exists()


def test_a_key_that_makes_others_while_it_is_revoked_leaves_none(bank, api):
    key, _ = services.create_api_key(caller=caller(bank), name="maker", role=Role.ADMIN)
    maker = Caller(bank.pk, Role.ADMIN, Actor("key", key.key_id, "maker"))

    def either(number: int) -> None:
        if number == 3:
            services.revoke_api_key(caller=caller(bank), key=key)
            return
        with suppress(lineage.MayNoLonger):
            services.create_api_key(caller=maker, name=str(number), role=Role.ADMIN)
            invites.invite(caller=maker, email=f"{number}@else.example", role=Role.EDITOR)

    at_once(8, either)
    assert not ApiKey.objects.for_organization(bank).filter(making_key=key, revoked_at=None).exists()
    assert not Invite.objects.for_organization(bank).filter(making_key=key, revoked_at=None).exists()


def test_an_invitation_is_replaced_while_it_is_accepted(bank):
    """Each request waits for the other's row only once its locks let the other go on."""
    made = invites.invite(caller=caller(bank), email="new@bank.example", role=Role.EDITOR)

    def either(number: int) -> None:
        with suppress(invites.InviteGone, invites.AlreadyMember):
            if number % 2:
                invites.invite(caller=caller(bank), email="new@bank.example", role=Role.EDITOR)
            else:
                invites.accept_invite(invite=made)

    at_once(8, either)
    assert Invite.objects.for_organization(bank).filter(accepted_at=None, revoked_at=None).count() <= 1


def test_one_of_two_owners_who_leave_at_once_stays(bank):
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


def test_a_member_is_removed_once_and_the_second_request_finds_none(bank, api):
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
