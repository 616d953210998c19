"""The second factor: required for roles that approve or manage. Each code works once, and secrets are sealed."""

import html
import re
from datetime import timedelta

import pyotp
import pytest
import time_machine
from django.apps import apps
from django.contrib.sessions.models import Session
from django.utils import timezone

from accounts import callers, services
from accounts.audit import SYSTEM
from accounts.models import OneTimeCode, Organization, User
from accounts.roles import MEMBER_ROLES, Role
from accounts.services import codes, second_factor
from tests.people import Browser, add_person, ask_for_code, events, sign_in
from tests.peppers import forget_earlier_peppers, new_pepper

pytestmark = pytest.mark.django_db

OWNER = "owner@bank.example"


@pytest.fixture
def strict(organization):
    """An organization that asks for a second factor."""
    services.require_second_factor(caller=callers.system(organization.pk), required=True)
    return organization


def give_mailed_code(email: str = OWNER, browser: Browser | None = None) -> Browser:
    """Return the browser of a person who has given the mailed code and owes the app's."""
    browser = browser or Browser()
    answer = browser.submit("/sign-in/code/", code=ask_for_code(browser, email))
    assert (answer.status_code, answer["Location"]) == (302, "/sign-in/app/")
    assert not browser.is_signed_in
    return browser


def shown_secret(browser: Browser) -> str:
    return re.search(r'class="secret">([A-Z2-7]+)<', browser.get("/sign-in/app/").content.decode()).group(1)


@pytest.fixture
def app(strict) -> pyotp.TOTP:
    """The owner's app, enrolled a minute ago."""
    app = pyotp.TOTP(pyotp.random_base32())
    with time_machine.travel(timezone.now() - timedelta(minutes=1)):
        second_factor.enrol(user=User.objects.get(email=OWNER), secret=app.secret, code=app.now())
    return app


def everything_stored() -> str:
    rows = [str(row) for model in apps.get_models() for row in model._default_manager.values_list()]
    return "\n".join(rows + [str(session.get_decoded()) for session in Session.objects.all()])


# ── who is asked ──


@pytest.mark.parametrize("role", MEMBER_ROLES)
def test_owners_admins_and_approvers_are_asked_if_the_organization_asks(organization, role):
    email = add_person(organization, role).user.email
    assert sign_in(email).is_signed_in
    services.require_second_factor(caller=callers.system(organization.pk), required=True)
    browser = Browser()
    answer = browser.submit("/sign-in/code/", code=ask_for_code(browser, email))
    asked = role in (Role.OWNER, Role.ADMIN, Role.APPROVER)
    assert answer["Location"] == ("/sign-in/app/" if asked else "/admin/")
    assert browser.is_signed_in != asked


def test_one_organization_that_asks_is_enough(organization, other_api):
    email = add_person(organization, Role.APPROVER, "both@bank.example").user.email
    add_person(other_api.organization, Role.OWNER, email)
    services.require_second_factor(caller=callers.system(other_api.organization.pk), required=True)
    give_mailed_code(email)


def test_an_enrolled_person_is_asked_even_if_the_organization_stops_asking(app, strict):
    Organization.objects.filter(pk=strict.pk).update(second_factor_required=False)
    give_mailed_code()


def test_only_an_owner_makes_the_organization_ask_and_sessions_go_on(organization, api, api_for):
    before = sign_in(OWNER)
    body = b'{"second_factor_required": true}'
    admin = api_for(organization, Role.ADMIN)
    assert admin.client.patch("/v1/auth/organization", body, content_type="application/json").status_code == 403
    assert api.client.patch("/v1/auth/organization", body, content_type="application/json").status_code == 403
    answer = before.call("PATCH", "/v1/auth/organization", body)
    assert (answer.status_code, answer.json()["second_factor_required"]) == (200, True)
    assert [event.detail for event in events("organization.second_factor")] == [{"required": True}]
    assert before.is_signed_in
    give_mailed_code()


# ── enrolling ──


def test_at_the_first_sign_in_a_person_enrols_with_a_picture_or_the_secret(strict):
    browser = give_mailed_code()
    page = browser.get("/sign-in/app/").content.decode()
    assert html.unescape(page).count('src="data:image/svg+xml') == 1, "drawn here, so that no other service learns it"
    app = pyotp.TOTP(shown_secret(browser))
    assert shown_secret(browser) == app.secret, "looking again does not change it"
    assert len(app.secret) >= 32, "160 bits, as RFC 4226 recommends"
    assert browser.submit("/sign-in/app/", code=app.now())["Location"] == "/admin/"
    assert browser.is_signed_in
    assert len(events("second_factor.enrolled")) == 1


def test_a_wrong_code_does_not_enrol(strict):
    browser = give_mailed_code()
    assert browser.submit("/sign-in/app/", code="000000").status_code == 422
    assert not browser.is_signed_in
    assert User.objects.get(email=OWNER).totp_secret == ""


def test_each_enrolment_shows_a_new_secret(strict):
    assert shown_secret(give_mailed_code()) != shown_secret(give_mailed_code())


def test_a_secret_belongs_to_one_sign_in_also_in_one_browser(strict):
    """Otherwise one person reads it and leaves, and the next person at the machine enrols it as theirs."""
    browser = give_mailed_code(add_person(strict, Role.APPROVER).user.email)
    theirs = shown_secret(browser)
    give_mailed_code(browser=browser)
    assert shown_secret(browser) != theirs
    assert browser.submit("/sign-in/app/", code=pyotp.TOTP(theirs).now()).status_code == 422
    assert User.objects.get(email=OWNER).totp_secret == ""


def test_a_new_sign_in_gets_another_secret(strict):
    browser = give_mailed_code()
    before = shown_secret(browser)
    assert shown_secret(give_mailed_code(browser=browser)) != before


@pytest.mark.parametrize("how", ["another sign-in", "the end of its time"])
def test_a_secret_ends_with_its_sign_in(strict, how):
    browser = give_mailed_code()
    app = pyotp.TOTP(shown_secret(browser))
    later = timezone.now() + timedelta(minutes=11 if how == "the end of its time" else 0)
    if how == "another sign-in":
        other = give_mailed_code()
        other.submit("/sign-in/app/", code=pyotp.TOTP(shown_secret(other)).now())
    with time_machine.travel(later):
        token = browser.csrf_token("/sign-in/")
        answer = browser.post("/sign-in/app/", {"code": app.now(), "csrfmiddlewaretoken": token})
    assert answer.status_code in (302, 422)
    assert not browser.is_signed_in
    stored = User.objects.get(email=OWNER).totp_secret
    assert not stored or second_factor.unseal(stored) != app.secret


def test_the_secret_is_removed_from_a_completed_sign_in(strict):
    browser = give_mailed_code()
    assert browser.submit("/sign-in/app/", code=pyotp.TOTP(shown_secret(browser)).now()).status_code == 302
    assert OneTimeCode.objects.get().new_secret == ""


def test_a_sign_in_is_completed_once(app):
    browser = give_mailed_code()
    before = Browser()
    before.cookies.update(browser.cookies)
    assert browser.submit("/sign-in/app/", code=app.now()).status_code == 302
    assert before.get("/sign-in/app/")["Location"] == "/sign-in/"
    assert not before.is_signed_in


def test_an_enrolled_person_is_shown_no_secret(app):
    page = give_mailed_code().get("/sign-in/app/").content.decode()
    assert app.secret not in page
    assert "data:image" not in page


def test_the_app_page_needs_the_mailed_code_first(strict):
    assert Browser().get("/sign-in/app/")["Location"] == "/sign-in/"
    assert sign_in(add_person(strict, Role.EDITOR).user.email).get("/sign-in/app/")["Location"] == "/sign-in/"


# ── confirming ──


def test_the_code_of_the_app_finishes_the_sign_in(app):
    browser = give_mailed_code()
    assert browser.submit("/sign-in/app/", code=app.now())["Location"] == "/admin/"
    assert browser.is_signed_in


@pytest.mark.parametrize(("seconds", "accepted"), [(-90, False), (-30, True), (0, True), (30, True), (90, False)])
def test_a_clock_may_be_off_by_half_a_minute(app, seconds, accepted):
    moment = timezone.now() + timedelta(minutes=5)
    with time_machine.travel(moment, tick=False):
        browser = give_mailed_code()
        code = app.at(moment + timedelta(seconds=seconds))
        assert browser.submit("/sign-in/app/", code=code).status_code == (302 if accepted else 422)


def test_a_code_of_the_app_works_once(app):
    moment = timezone.now() + timedelta(minutes=5)
    with time_machine.travel(moment, tick=False):
        code = app.at(moment)
        assert give_mailed_code().submit("/sign-in/app/", code=code).status_code == 302
        assert give_mailed_code().submit("/sign-in/app/", code=code).status_code == 422
        earlier = app.at(moment - timedelta(seconds=30))
        assert give_mailed_code().submit("/sign-in/app/", code=earlier).status_code == 422, "nor does an older one"


def test_the_code_that_enrolled_does_not_sign_in_again(strict):
    moment = timezone.now()
    with time_machine.travel(moment, tick=False):
        browser = give_mailed_code()
        code = pyotp.TOTP(shown_secret(browser)).at(moment)
        assert browser.submit("/sign-in/app/", code=code).status_code == 302
        assert give_mailed_code().submit("/sign-in/app/", code=code).status_code == 422


def test_four_wrong_codes_leave_the_fifth_try(app):
    browser = give_mailed_code()
    for _ in range(4):
        assert browser.submit("/sign-in/app/", code="000000").status_code == 422
    assert browser.submit("/sign-in/app/", code=app.now())["Location"] == "/admin/"


def test_after_five_wrong_codes_the_sign_in_starts_over(app):
    browser = give_mailed_code()
    for _ in range(5):
        browser.submit("/sign-in/app/", code="000000")
    right = {"code": app.now(), "csrfmiddlewaretoken": browser.csrf_token("/sign-in/")}
    assert browser.post("/sign-in/app/", right)["Location"] == "/sign-in/"
    assert browser.get("/sign-in/app/")["Location"] == "/sign-in/"
    assert not browser.is_signed_in
    again = give_mailed_code(browser=browser)
    assert again.submit("/sign-in/app/", code=app.now())["Location"] == "/admin/"


def test_wrong_app_codes_per_day_are_limited(app, monkeypatch):
    monkeypatch.setattr(codes, "APP_TRIES_PER_DAY", 15)
    for _ in range(codes.APP_TRIES_PER_DAY // codes.TRIES):
        browser = give_mailed_code()
        missed = {"code": "000000", "csrfmiddlewaretoken": browser.csrf_token("/sign-in/app/")}
        assert [browser.post("/sign-in/app/", missed).status_code for _ in range(codes.TRIES)] == [422] * codes.TRIES
    browser = give_mailed_code()
    assert browser.submit("/sign-in/app/", code=app.now())["Location"] == "/sign-in/"
    assert not browser.is_signed_in
    with time_machine.travel(timezone.now() + timedelta(days=1, minutes=1)):
        assert give_mailed_code().submit("/sign-in/app/", code=app.now())["Location"] == "/admin/"


def test_ten_minutes_after_the_request_the_sign_in_starts_over(app):
    browser = give_mailed_code()
    with time_machine.travel(timezone.now() + timedelta(minutes=11)):
        assert browser.get("/sign-in/app/")["Location"] == "/sign-in/"


def test_the_code_must_follow_in_the_browser_that_gave_the_mailed_one(app):
    give_mailed_code()
    answer = Browser().call("POST", "/v1/auth/second-factor", {"code": app.now()})
    assert answer.status_code == 401


def test_refused_codes_of_an_app_are_in_the_audit_trail(app):
    give_mailed_code().submit("/sign-in/app/", code="000000")
    (event,) = events("second_factor.refused")
    assert (event.actor_label, event.object_kind) == (OWNER, "member")
    assert "000000" not in str(event.detail)


# ── the API ──


def call(browser: Browser, code: str):
    return browser.call("POST", "/v1/auth/second-factor", {"code": code})


def test_the_api_asks_for_the_second_factor_in_a_second_call(app):
    browser = Browser()
    code = ask_for_code(browser, OWNER)
    answer = browser.call("POST", "/v1/auth/otp/verify", {"email": OWNER, "code": code})
    assert answer.json() == {"status": "second_factor_required"}
    assert not browser.is_signed_in
    assert call(browser, "000000").status_code == 401
    assert call(browser, app.now()).json() == {"status": "signed_in"}
    assert browser.is_signed_in
    assert call(browser, app.now()).status_code == 401, "no sign-in is pending any more"


def test_the_api_says_where_to_enrol_and_shows_no_secret(strict):
    answer = call(give_mailed_code(), "000000")
    assert answer.status_code == 409
    assert "/sign-in/" in answer.json()["detail"]
    assert User.objects.get(email=OWNER).totp_secret == ""


@pytest.mark.parametrize("code", ["", "\uff11" * 6, "\u0661" * 6, "x" * 5000, "\ufb00", "-00001"])
def test_any_text_is_a_wrong_code(app, code):
    assert call(give_mailed_code(), code).status_code == 401


def test_a_code_that_is_not_a_text_is_refused_and_not_repeated(app, subtests):
    browser = give_mailed_code()
    for body in ({}, {"code": 123456}, {"code": None}):
        with subtests.test(body=body):
            answer = browser.call("POST", "/v1/auth/second-factor", body)
            assert answer.status_code == 422
            assert "input" not in answer.json()["detail"][0]


def test_an_api_key_needs_no_second_factor(app, api):
    assert api.get("/v1/decisions").status_code == 200


# ── at rest ──


def test_the_secret_is_in_no_table_in_clear(app):
    assert app.secret not in everything_stored()
    assert User.objects.get(email=OWNER).totp_secret


def test_the_secret_is_in_no_table_in_clear_during_enrolment(strict):
    secret = shown_secret(give_mailed_code())
    assert secret not in everything_stored()


def test_equal_secrets_look_different_at_rest(app, strict):
    owner = User.objects.get(email=OWNER)
    before = owner.totp_secret
    second_factor.reset(user=owner, actor=SYSTEM)
    second_factor.enrol(user=owner, secret=app.secret, code=app.now())
    assert owner.totp_secret != before


def test_a_second_factor_outlives_a_new_pepper_while_the_earlier_one_is_there(app):
    new_pepper()
    assert give_mailed_code().submit("/sign-in/app/", code=app.now()).status_code == 302


def test_after_one_sign_in_under_the_new_pepper_the_earlier_one_is_not_needed_any_more(app):
    new_pepper()
    give_mailed_code().submit("/sign-in/app/", code=app.now())
    forget_earlier_peppers()
    with time_machine.travel(timezone.now() + timedelta(minutes=1)):
        assert give_mailed_code().submit("/sign-in/app/", code=app.now()).status_code == 302


def test_under_an_unknown_pepper_sign_in_is_refused(app):
    new_pepper()
    forget_earlier_peppers()
    assert give_mailed_code().submit("/sign-in/app/", code=app.now()).status_code == 422
    assert OneTimeCode.objects.latest("pk").app_tries == 1
