"""Accepting an invitation takes its link and a code, in the browser that requested the code. A new person's session
then reaches only this organization."""

from datetime import timedelta

import pyotp
import pytest
import time_machine
from django.contrib.sessions.models import Session
from django.core import mail
from django.utils import timezone

from accounts import callers, services
from accounts.models import Invite, Member, OneTimeCode, SignedInSession, User
from accounts.roles import Role
from accounts.services import invites, second_factor
from tests.access.test_second_factor import shown_secret
from tests.people import (
    Browser,
    accept,
    accept_by_api,
    add_person,
    another,
    ask_for_code,
    caller,
    events,
    mailed_code,
    mailed_token,
    sign_in,
)

pytestmark = pytest.mark.django_db

GUEST = "guest@else.example"
BOTH_WAYS = pytest.mark.parametrize("way", [accept, accept_by_api], ids=["page", "api"])


@pytest.fixture
def token(organization) -> str:
    invites.invite(caller=caller(organization), email=GUEST, role=Role.EDITOR)
    return mailed_token(GUEST)


def asked(token: str, browser: Browser | None = None) -> tuple[Browser, str]:
    """Request the code of an invitation. Return the browser and the code."""
    browser = browser or Browser()
    assert browser.submit(f"/invites/{token}/")["Location"] == "/sign-in/code/"
    return browser, mailed_code(GUEST)


def enter(browser: Browser, code: str):
    return browser.submit("/sign-in/code/", code=code)


def slug(browser: Browser) -> str:
    return browser.get("/v1/auth/me").json()["organization"]["slug"]


# ── the link alone is worth nothing ──


def test_a_stolen_link_does_not_sign_in(token):
    thief, code = asked(token)
    assert not thief.is_signed_in
    assert [enter(thief, another(code)).status_code for _ in range(5)] == [422] * 5
    assert enter(thief, code).status_code == 422, "five tries, as for every code"
    assert not Member.objects.filter(user__email=GUEST).exists()
    assert not SignedInSession.objects.exists()


def test_an_invitations_code_works_only_in_the_browser_that_requested_it(token):
    thief, code = asked(token)
    guest = Browser()
    assert guest.call("POST", "/v1/auth/otp/verify", {"email": GUEST, "code": code}).status_code == 401
    asked(token, guest)
    assert enter(guest, code).status_code == 422
    assert enter(thief, mailed_code(GUEST)).status_code == 422
    assert not Member.objects.filter(user__email=GUEST).exists()


def test_opening_the_link_mails_no_code(token):
    before = len(mail.outbox)
    assert [Browser().generic(method, f"/invites/{token}/").status_code for method in ("GET", "HEAD")] == [200, 405]
    mailed_token(GUEST)
    assert len(mail.outbox) == before
    assert not OneTimeCode.objects.exists()


def test_without_the_link_an_invited_address_gets_no_code(token):
    Browser().submit("/sign-in/", email=GUEST)
    before = len(mail.outbox)
    mailed_token(GUEST)
    assert len(mail.outbox) == before


def test_a_code_is_used_once(token):
    browser, code = asked(token)
    assert enter(browser, code)["Location"] == "/admin/"
    copy = Browser()
    copy.cookies["drs_browser"] = browser.cookies["drs_browser"].value
    assert copy.call("POST", "/v1/auth/otp/verify", {"email": GUEST, "code": code}).status_code == 401


def test_the_mail_says_what_the_code_is_for(organization, token):
    asked(token)
    assert mail.outbox[-1].subject == f"Your code to join {organization.name}"


def test_too_many_codes_of_an_invitation_are_refused(token, settings):
    settings.CODES_PER_HOUR = 1
    asked(token)
    refused = Browser().submit(f"/invites/{token}/")
    assert (refused.status_code, int(refused["Retry-After"]) > 3000) == (429, True)
    assert "Try again in" in refused.content.decode()
    assert Browser().call("POST", "/v1/auth/invites/accept", {"token": token}).status_code == 429


def test_the_secret_of_the_link_is_stored_nowhere(token):
    asked(token)
    secret = token.partition("-")[2]
    assert all(secret not in str(session.get_decoded()) for session in Session.objects.all())


# ── the invitation ends meanwhile ──


@pytest.mark.parametrize("ended", ["revoked_at", "expires_at", "accepted_at"])
@pytest.mark.parametrize("has_account", [False, True])
def test_an_invitation_that_ended_before_the_code_is_not_accepted(organization, other_api, token, ended, has_account):
    if has_account:
        add_person(other_api.organization, Role.EDITOR, GUEST)
    browser, code = asked(token)
    Invite.objects.for_organization(organization).update(**{ended: timezone.now()})
    answer = enter(browser, code)
    assert answer.status_code == 410
    assert "This invitation is not open" in answer.content.decode()
    assert not browser.is_signed_in
    assert not Member.objects.for_organization(organization).filter(user__email=GUEST).exists()


def test_a_closed_account_does_not_come_back_by_an_invitation(organization, token):
    browser, code = asked(token)
    User.objects.create(email=GUEST, is_active=False, password="!")
    assert enter(browser, code).status_code == 422
    assert not Member.objects.filter(user__email=GUEST).exists()


# ── a person with an account signs in as ever ──


@pytest.fixture
def app(other_api) -> pyotp.TOTP:
    """Enrol the app of a guest who has an account elsewhere."""
    user = add_person(other_api.organization, Role.EDITOR, GUEST).user
    app = pyotp.TOTP(pyotp.random_base32())
    with time_machine.travel(timezone.now() - timedelta(minutes=1)):
        second_factor.enrol(user=user, secret=app.secret, code=app.now())
    return app


@BOTH_WAYS
def test_a_person_with_an_account_joins_only_with_their_second_factor(organization, other_api, token, app, way):
    browser = Browser()
    way(browser, token, GUEST)
    assert not browser.is_signed_in
    assert not Member.objects.for_organization(organization).filter(user__email=GUEST).exists()
    assert browser.call("POST", "/v1/auth/second-factor", {"code": "000000"}).status_code == 401
    assert not Member.objects.for_organization(organization).filter(user__email=GUEST).exists()
    assert browser.call("POST", "/v1/auth/second-factor", {"code": app.now()}).status_code == 200
    assert slug(browser) == organization.slug
    browser.submit("/admin/", "/account/organization/", organization=str(other_api.organization.pk))
    assert slug(browser) == other_api.organization.slug, "they signed in as ever"


def test_an_invitation_that_ended_before_the_second_factor_is_not_accepted(organization, token, app):
    browser, code = asked(token)
    enter(browser, code)
    Invite.objects.for_organization(organization).update(revoked_at=timezone.now())
    assert browser.submit("/sign-in/app/", code=app.now()).status_code == 410
    assert not browser.is_signed_in
    assert not Member.objects.for_organization(organization).filter(user__email=GUEST).exists()


def test_a_signed_in_person_needs_a_code_too(organization, other_api, token):
    add_person(other_api.organization, Role.EDITOR, GUEST)
    browser = sign_in(GUEST)
    _, code = asked(token, browser)
    assert slug(browser) == other_api.organization.slug
    assert enter(browser, code)["Location"] == "/admin/"
    assert slug(browser) == organization.slug
    assert SignedInSession.objects.count() == 1


# ── a new person's session reaches this organization alone ──


@BOTH_WAYS
def test_a_new_session_reaches_no_other_organization_of_the_person(organization, other_api, token, way):
    browser = Browser()
    way(browser, token, GUEST)
    add_person(other_api.organization, Role.OWNER, GUEST)
    assert slug(browser) == organization.slug
    switch = {"organization": str(other_api.organization.pk)}
    assert browser.submit("/account/sessions/", "/account/organization/", **switch).status_code == 404
    assert slug(browser) == organization.slug
    assert other_api.organization.name not in browser.get("/admin/").content.decode()
    elsewhere = sign_in(GUEST)
    theirs = SignedInSession.objects.get(session_key=elsewhere.cookies["sessionid"].value)
    assert len(browser.get("/v1/auth/sessions").json()["items"]) == 1
    assert browser.call("DELETE", f"/v1/auth/sessions/{theirs.pk}").status_code == 404
    assert browser.submit("/account/sessions/", f"/account/sessions/{theirs.pk}/end/").status_code == 404
    assert elsewhere.is_signed_in
    enter(browser, ask_for_code(browser, GUEST))
    browser.submit("/admin/", "/account/organization/", **switch)
    assert slug(browser) == other_api.organization.slug, "after they signed in as ever"


def test_a_new_session_ends_with_its_organization_and_does_not_fall_back(organization, other_api, token):
    browser = Browser()
    accept(browser, token, GUEST)
    add_person(other_api.organization, Role.OWNER, GUEST)
    Member.objects.for_organization(organization).filter(user__email=GUEST).delete()
    assert browser.get("/v1/auth/me").status_code == 401


def test_a_new_session_does_not_run_the_platform(organization, other_api, token):
    browser = Browser()
    accept(browser, token, GUEST)
    User.objects.filter(email=GUEST).update(is_superuser=True)
    assert other_api.organization.name not in browser.get("/admin/").content.decode()
    assert browser.get("/admin/accounts/auditevent/").status_code == 403, "as an editor"


def test_a_new_person_who_must_enrol_is_bound_to_the_organization_too(organization, other_api):
    services.require_second_factor(caller=callers.system(organization.pk), required=True)
    invites.invite(caller=caller(organization), email=GUEST, role=Role.APPROVER)
    browser = Browser()
    assert accept(browser, mailed_token(GUEST), GUEST)["Location"] == "/sign-in/app/"
    assert not browser.is_signed_in
    browser.submit("/sign-in/app/", code=pyotp.TOTP(shown_secret(browser)).now())
    add_person(other_api.organization, Role.OWNER, GUEST)
    switch = {"organization": str(other_api.organization.pk)}
    assert browser.submit("/account/sessions/", "/account/organization/", **switch).status_code == 404
    assert slug(browser) == organization.slug


def test_a_session_fixed_beforehand_is_worth_nothing(token):
    browser, code = asked(token)
    before = browser.cookies["sessionid"].value
    enter(browser, code)
    assert browser.cookies["sessionid"].value != before
    thief = Browser()
    thief.cookies["sessionid"] = before
    assert not thief.is_signed_in


def test_accepting_is_in_the_audit_trail_of_this_organization(token):
    accept(Browser(), token, GUEST)
    assert [events(verb)[-1].actor_label for verb in ("member.added", "invite.accepted")] == [GUEST] * 2
