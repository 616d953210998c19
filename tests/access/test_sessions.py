"""Sessions are new at every sign-in, limited in time, and visible to their person, who can end them. No other site may
act in them."""

import re
from datetime import timedelta
from urllib.parse import unquote, urlencode

import pytest
import time_machine
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from accounts import authentication, tasks
from accounts.models import SignedInSession
from accounts.roles import Role
from tests.people import JSON, Browser, add_person, ask_for_code, events, mailed_code, sign_in
from tests.system.live import server

pytestmark = pytest.mark.django_db

OWNER = "owner@bank.example"
COOKIES = {"sessionid", "csrftoken", "drs_browser"}


def session_id(browser: Browser) -> str:
    return browser.cookies["sessionid"].value


def browser_with_session(value: str) -> Browser:
    browser = Browser()
    browser.cookies["sessionid"] = value
    return browser


def api_items(browser: Browser) -> list[dict]:
    return browser.get("/v1/auth/sessions").json()["items"]


# ── begin ──


@pytest.mark.parametrize("way", ["page", "api"])
def test_a_session_fixed_beforehand_is_worth_nothing_after_sign_in(organization, way):
    browser = Browser()
    browser.get("/sign-in/")
    code = ask_for_code(browser, OWNER)
    fixed = session_id(browser)
    if way == "page":
        browser.submit("/sign-in/code/", code=code)
    else:
        browser.call("POST", "/v1/auth/otp/verify", {"email": OWNER, "code": code})
    assert browser.is_signed_in
    assert session_id(browser) != fixed
    assert not browser_with_session(fixed).is_signed_in
    assert not Session.objects.filter(pk=fixed).exists()


def test_a_made_up_session_id_is_not_accepted(organization):
    browser = browser_with_session("x" * 32)
    browser.submit("/sign-in/code/", code=ask_for_code(browser, OWNER))
    assert browser.is_signed_in
    assert session_id(browser) != "x" * 32


def test_signing_in_again_in_a_browser_ends_its_session_before(organization):
    browser = sign_in(OWNER)
    before = session_id(browser)
    browser.submit("/sign-in/code/", code=ask_for_code(browser, OWNER))
    assert not browser_with_session(before).is_signed_in
    assert [item["current"] for item in api_items(browser)] == [True]


def test_the_next_person_in_a_browser_gets_a_clean_session(organization):
    browser, other = sign_in(OWNER), add_person(organization, Role.AUDITOR).user.email
    browser.submit("/sign-in/code/", code=ask_for_code(browser, other))
    assert browser.get("/v1/auth/me").json()["label"] == other


def test_signing_in_says_when_from_where_and_with_what(organization):
    browser = sign_in(OWNER, REMOTE_ADDR="192.0.2.7", HTTP_USER_AGENT="A Browser 1.0 " + "x" * 300)
    (item,) = api_items(browser)
    assert (item["client"], item["current"]) == ("192.0.2.7", True)
    assert item["agent"].startswith("A Browser 1.0")
    assert len(item["agent"]) == 200


# ── limits ──


def test_a_session_ends_after_an_hour_without_a_request(organization):
    browser, start = sign_in(OWNER), timezone.now()
    with time_machine.travel(start + timedelta(minutes=59), tick=False):
        assert browser.is_signed_in
    with time_machine.travel(start + timedelta(minutes=117), tick=False):
        assert browser.is_signed_in, "59 minutes after the last request"
    with time_machine.travel(start + timedelta(minutes=178), tick=False):
        assert not browser.is_signed_in
    assert not browser.is_signed_in, "turning the clock back does not bring it back"
    assert [event.detail for event in events("session.ended")] == [{"because": "expired"}]


def test_a_session_ends_after_twelve_hours_however_busy(organization):
    browser, start = sign_in(OWNER), timezone.now()
    for half_hours in range(24):
        with time_machine.travel(start + timedelta(minutes=30 * half_hours), tick=False):
            assert browser.is_signed_in
    with time_machine.travel(start + timedelta(hours=12, seconds=1), tick=False):
        assert not browser.is_signed_in


def test_an_expired_session_is_not_listed(organization):
    sign_in(OWNER)
    with time_machine.travel(timezone.now() + timedelta(minutes=61)):
        browser = sign_in(OWNER)
        tasks.deliver_mail()
        assert [item["current"] for item in api_items(browser)] == [True]
        assert browser.get("/account/sessions/").content.decode().count("End this session") == 1


# ── cookies ──


def test_cookies_are_for_this_site_alone(organization):
    browser = Browser()
    browser.submit("/sign-in/", email=OWNER)
    assert set(browser.cookies) == COOKIES
    for cookie in browser.cookies.values():
        assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Lax", "/")
        assert (cookie["domain"], cookie["secure"]) == ("", "")


@pytest.mark.boots
def test_cookies_are_secure_where_the_address_is():
    with server(BASE_URL="https://drs.example", workers=1) as live, live.client() as client:
        page = client.request("GET", "/sign-in/")
        (token,) = re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', page.body.decode())
        sent = client.request(
            "POST",
            "/sign-in/",
            urlencode({"email": OWNER, "csrfmiddlewaretoken": token}),
            Content_Type="application/x-www-form-urlencoded",
            Cookie=page.headers["Set-Cookie"].partition(";")[0],
        )
    cookies = [*page.headers.get_all("Set-Cookie"), *sent.headers.get_all("Set-Cookie")]
    assert {cookie.partition("=")[0] for cookie in cookies} == COOKIES
    assert [cookie for cookie in cookies if "secure" not in cookie.lower().split("; ")] == []


# ── list and end ──


def test_the_page_and_the_api_list_only_the_persons_sessions(organization):
    sign_in(add_person(organization, Role.EDITOR).user.email, HTTP_USER_AGENT="Colleague")
    sign_in(OWNER, HTTP_USER_AGENT="Phone")
    browser = sign_in(OWNER, HTTP_USER_AGENT="Desk")
    assert [item["agent"] for item in api_items(browser)] == ["Desk", "Phone"]
    page = browser.get("/account/sessions/").content.decode()
    assert ("Desk" in page, "Phone" in page, "Colleague" in page) == (True, True, False)
    assert page.count("this one") == 1


@pytest.mark.parametrize("way", ["page", "api"])
def test_a_person_ends_a_session_in_another_browser(organization, way):
    lost, browser = sign_in(OWNER), sign_in(OWNER)
    pk = SignedInSession.objects.get(session_key=session_id(lost)).pk
    if way == "page":
        answer = browser.submit("/account/sessions/", f"/account/sessions/{pk}/end/")
        assert (answer.status_code, answer["Location"]) == (302, "/account/sessions/")
    else:
        assert browser.call("DELETE", f"/v1/auth/sessions/{pk}").status_code == 200
    assert not lost.is_signed_in
    assert browser.is_signed_in
    assert [event.detail for event in events("session.ended")] == [{"because": "revoked"}]


@pytest.mark.parametrize("way", ["page", "api"])
@pytest.mark.parametrize("whose", ["theirs", "unused", "too large a number"])
def test_another_persons_session_does_not_exist(organization, way, whose):
    other = sign_in(add_person(organization, Role.EDITOR).user.email)
    theirs = SignedInSession.objects.get().pk
    browser = sign_in(OWNER)
    pk = {"theirs": theirs, "unused": theirs + 1000, "too large a number": 10**30}[whose]
    if way == "page":
        answer = browser.submit("/account/sessions/", f"/account/sessions/{pk}/end/")
    else:
        answer = browser.call("DELETE", f"/v1/auth/sessions/{pk}")
    assert answer.status_code == 404
    assert other.is_signed_in


@pytest.mark.parametrize("way", ["page", "api", "back office"])
def test_signing_out_ends_the_session_itself(organization, way):
    browser = sign_in(OWNER)
    stolen = browser_with_session(session_id(browser))
    assert stolen.is_signed_in
    if way == "api":
        assert browser.call("POST", "/v1/auth/sign-out").json() == {"status": "signed_out"}
    elif way == "page":
        assert browser.submit("/account/sessions/", "/sign-out/")["Location"] == "/sign-in/"
    else:
        assert browser.submit("/admin/", "/admin/logout/")["Location"] == "/sign-in/"
    assert not browser.is_signed_in
    assert not stolen.is_signed_in
    assert not SignedInSession.objects.exists()
    assert [event.detail for event in events("session.ended")] == [{"because": "signed out"}]


@pytest.mark.parametrize("path", ["/sign-out/", "/admin/logout/"])
def test_a_link_does_not_sign_out(organization, path):
    browser = sign_in(OWNER)
    assert browser.get(path).status_code == 405
    assert browser.is_signed_in


def test_pages_of_a_person_lead_strangers_to_the_sign_in(organization):
    for path in ("/account/sessions/", "/admin/", "/admin/accounts/member/"):
        answer = Browser().get(path, follow=True)
        assert [unquote(url) for url, _ in answer.redirect_chain][-1] == f"/sign-in/?next={path}"


def test_sign_in_pages_are_not_cached(organization, subtests):
    browser = sign_in(OWNER)
    for path in ("/sign-in/", "/sign-in/code/", "/account/sessions/"):
        with subtests.test(path=path):
            browser.submit("/sign-in/", email=OWNER)
            assert "no-store" in browser.get(path)["Cache-Control"]


# ── other sites ──


FORMS = [
    "/sign-in/", "/sign-in/code/", "/sign-in/app/", "/sign-out/", "/admin/logout/", "/account/sessions/1/end/",
    "/account/first-steps/opened/", "/invites/1-x/",
]  # fmt: skip


def test_no_page_takes_a_form_of_another_site(organization, subtests):
    browser = sign_in(OWNER)
    for path in FORMS:
        for fields in ({}, {"csrfmiddlewaretoken": ""}, {"csrfmiddlewaretoken": "x" * 64}):
            with subtests.test(path, fields=fields):
                answer = browser.post(path, {**fields, "email": OWNER, "code": "000000"})
                assert answer.status_code == 403
                assert browser.is_signed_in


def test_a_form_from_another_origin_is_refused_with_a_token_too(organization):
    browser = sign_in(OWNER)
    token = browser.csrf_token("/account/sessions/")
    answer = browser.post("/sign-out/", {"csrfmiddlewaretoken": token}, headers={"Origin": "https://evil.example"})
    assert answer.status_code == 403
    assert browser.is_signed_in


def test_the_api_takes_a_session_with_the_token_of_me_and_not_without(organization):
    browser = sign_in(OWNER)
    body = {"opened": True}
    assert browser.patch("/v1/auth/onboarding", body, content_type=JSON).status_code == 403
    token = browser.get("/v1/auth/me").json()["csrf_token"]
    answer = browser.patch("/v1/auth/onboarding", body, content_type=JSON, headers={"X-CSRFToken": token})
    assert (answer.status_code, answer.json()["opened"]) == (200, True)


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_another_sites_form_does_not_sign_in_through_the_api(organization, kind):
    code = ask_for_code(Browser(), OWNER)
    body = f'{{"email": "{OWNER}", "code": "{code}"}}'
    assert Browser().generic("POST", "/v1/auth/otp/verify", body, content_type=kind).status_code == 415


# ── where to go ──


def arrives_at(wanted: str) -> str:
    browser = Browser()
    page = "/sign-in/?" + urlencode({"next": wanted})
    browser.submit(page, email=OWNER)
    return browser.submit("/sign-in/code/", code=mailed_code(OWNER))["Location"]


@pytest.mark.parametrize("wanted", ["/account/sessions/", "/admin/decisions/decision/?q=x", "http://testserver/docs/"])
def test_sign_in_leads_to_the_wanted_page(organization, wanted):
    assert arrives_at(wanted) == wanted


ELSEWHERE = [
    "https://evil.example/", "//evil.example", "///evil.example", "/\\evil.example", "\\\\evil.example",
    "https:evil.example", "http:///evil.example", "javascript:alert(1)", "data:text/html,x", "https://testserver@evil.example",
    " https://evil.example", "\x08//evil.example", "http://testserver.evil.example/", "",
]  # fmt: skip


def test_sign_in_never_leads_to_another_site(organization, subtests):
    for wanted in ELSEWHERE:
        with subtests.test(wanted=wanted):
            assert arrives_at(wanted) == "/admin/"


def test_the_admins_sign_in_leads_to_ours(organization):
    answer = Browser().get("/admin/login/?next=/admin/accounts/member/")
    assert (answer.status_code, answer["Location"]) == (302, "/sign-in/?next=/admin/accounts/member/")
    assert Browser().post("/admin/login/", {"username": OWNER, "password": "x"}).status_code == 403


def test_a_visit_of_the_sign_in_page_stores_no_session(db):
    assert Browser().get("/sign-in/", {"next": "/admin/"}).status_code == 200
    assert not Session.objects.exists()


@pytest.mark.parametrize("value", ['"\\000"', '"' + "a" * 31 + '\\000"', "x" * 4000, "\xff" * 32, "A" * 32])
@pytest.mark.parametrize("path", ["/sign-in/", "/admin/", "/v1/auth/me", "/n/aaaaaaaaaaaa"])
def test_an_invalid_session_cookie_does_not_sign_in(path, value):
    answer = Client(headers={"Cookie": f"sessionid={value}"}, raise_request_exception=False).get(path)
    assert answer.status_code in (200, 302, 401, 404)
    environ = {"HTTP_COOKIE": f"sessionid={value}"}
    assert authentication.sender(environ) == ""
