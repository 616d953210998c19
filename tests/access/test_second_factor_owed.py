"""A signed-in person who owes a second factor proves it before their next act, and then goes on in the same session."""

import pyotp
import pytest
from django.contrib.auth import SESSION_KEY
from django.test import RequestFactory

from accounts import selectors, services
from accounts.audit import SYSTEM
from accounts.callers import Caller
from accounts.models import Organization, SignedInSession, User
from accounts.roles import MEMBER_ROLES, Role
from accounts.services import invites, members, second_factor
from tests.access.test_second_factor import shown_secret
from tests.accounts.belongings import Belongings
from tests.accounts.endpoints import ENDPOINTS, MISSING_IDS
from tests.people import Browser, accept, add_person, ask_for_code, caller, events, mailed_code, mailed_token, sign_in

pytestmark = pytest.mark.django_db

OWED = "Your organization asks your role for a second factor"
OWN_MATTERS = ("PATCH auth/onboarding",)
ACTS = [
    name
    for name, endpoint in ENDPOINTS.items()
    if endpoint.callers == "keys and members" and not name.startswith("GET") and name not in OWN_MATTERS
]
LOOKS = [
    name for name, endpoint in ENDPOINTS.items() if endpoint.callers == "keys and members" and name.startswith("GET")
]
BODY = {"email": "new@bank.example", "role": "editor"}


def demand(organization, required=True):
    Organization.objects.filter(pk=organization.pk).update(second_factor_required=required)


def begun_to_demand(organization) -> Browser:
    browser = sign_in("owner@bank.example")
    demand(organization)
    return browser


def promoted(organization) -> Browser:
    demand(organization)
    member = add_person(organization, Role.EDITOR)
    browser = sign_in(member.user.email)
    members.change_role(caller=caller(organization), member=member, role=Role.OWNER)
    return browser


def joined(organization) -> Browser:
    """Sign a person in to one organization, and let them accept an invitation to another that demands it."""
    demand(organization)
    services.create_organization(name="Other Bank", owner_email="both@bank.example", actor=SYSTEM)
    browser = sign_in("both@bank.example")
    invites.invite(caller=caller(organization), email="both@bank.example", role=Role.OWNER)
    assert accept(browser, mailed_token("both@bank.example"), "both@bank.example")["Location"] == "/sign-in/app/"
    browser.submit("/admin/", "/account/organization/", organization=str(organization.pk))
    return browser


def invite(browser: Browser, email: str = "new@bank.example"):
    return browser.call("POST", "/v1/auth/invites", {"email": email, "role": "editor"})


def call(browser: Browser, name: str, path: str):
    endpoint, method = ENDPOINTS[name], name.partition(" ")[0]
    body = endpoint.body if endpoint.as_member is None else endpoint.as_member
    return browser.generic(method, f"/v1/{path}", body, content_type=endpoint.content_type)


def confirm(browser: Browser, email: str) -> pyotp.TOTP:
    """Sign in again in a browser that is signed in, and enrol."""
    assert browser.submit("/sign-in/code/", code=ask_for_code(browser, email))["Location"] == "/sign-in/app/"
    app = pyotp.TOTP(shown_secret(browser))
    assert browser.submit("/sign-in/app/", code=app.now()).status_code == 302
    return app


# ── when ──


@pytest.mark.parametrize("how", [begun_to_demand, promoted, joined], ids=lambda how: how.__name__)
def test_the_next_act_needs_the_second_factor_and_then_goes_through(organization, how):
    browser = how(organization)
    email = browser.get("/v1/auth/me").json()["label"]
    refused = invite(browser, "newer@bank.example")
    assert refused.status_code == 403
    assert refused.json()["detail"].startswith(OWED)
    assert "/sign-in/" in refused.json()["detail"], "the answer says what to do"
    confirm(browser, email)
    assert invite(browser, "newer@bank.example").status_code == 201


@pytest.mark.parametrize("role", MEMBER_ROLES)
def test_roles_that_are_not_asked_go_on(organization, role):
    browser = sign_in(add_person(organization, role).user.email)
    demand(organization)
    answer = browser.call("POST", "/v1/ingest/srf", {"decision_id": "loan-1"})
    if role is Role.EDITOR:
        assert answer.status_code == 201
    else:
        refusal = OWED if role in (Role.OWNER, Role.ADMIN) else f"The role {role} may not"
        assert (answer.status_code, answer.json()["detail"].startswith(refusal)) == (403, True)


def test_a_confirmed_session_is_not_asked_again(organization):
    demand(organization)
    browser = Browser()
    confirm(browser, "owner@bank.example")
    assert invite(browser).status_code == 201


def test_when_the_organization_stops_asking_sessions_act_again(organization):
    browser = begun_to_demand(organization)
    demand(organization, False)
    assert invite(browser).status_code == 201


def test_each_organization_asks_for_its_acts_only(organization, other_api):
    email = add_person(organization, Role.OWNER, "both@bank.example").user.email
    add_person(other_api.organization, Role.OWNER, email)
    browser = sign_in(email)
    demand(other_api.organization)
    assert invite(browser).status_code == 201
    browser.submit("/admin/", "/account/organization/", organization=str(other_api.organization.pk))
    assert invite(browser).status_code == 403


def test_the_owner_who_makes_the_organization_ask_is_asked_too(organization):
    browser = sign_in("owner@bank.example")
    for required, status in ((True, 200), (False, 403)):
        body = {"second_factor_required": required}
        assert browser.call("PATCH", "/v1/auth/organization", body).status_code == status


def test_the_session_of_an_app_that_was_reset_ends(organization):
    demand(organization)
    browser = Browser()
    confirm(browser, "owner@bank.example")
    second_factor.reset(user=User.objects.get(email="owner@bank.example"), actor=SYSTEM)
    assert not browser.is_signed_in


def test_another_session_of_the_person_is_not_confirmed_with_this_one(organization):
    first, second = sign_in("owner@bank.example"), sign_in("owner@bank.example")
    demand(organization)
    confirm(first, "owner@bank.example")
    assert [invite(first).status_code, invite(second).status_code] == [201, 403]


def test_a_person_who_is_not_asked_may_confirm(organization):
    email = "owner@bank.example"
    plain, browser = sign_in(email), Browser()
    browser.submit("/sign-in/?confirm", email=email)
    assert browser.submit("/sign-in/code/", code=mailed_code(email))["Location"] == "/sign-in/app/"
    assert not browser.is_signed_in
    browser.submit("/sign-in/app/", code=pyotp.TOTP(shown_secret(browser)).now())
    assert [who.has_second_factor for who in (caller_in(plain), caller_in(browser))] == [False, True]
    assert [who.owes_second_factor for who in (caller_in(plain), caller_in(browser))] == [False, False]


def caller_in(browser: Browser) -> Caller:
    """Return the caller that services see in this browser."""
    request = RequestFactory().get("/")
    request.session, request.user = browser.session, User.objects.get(pk=browser.session[SESSION_KEY])
    return selectors.signed_in_caller(request)


# ── what ──


def test_only_changes_through_the_api_wait_for_the_second_factor(organization, api, subtests):
    browser, belongings = begun_to_demand(organization), Belongings(api)
    browser.defaults["HTTP_X_CSRFTOKEN"] = browser.get("/v1/auth/me").json()["csrf_token"]
    for name in ACTS:
        answer = call(browser, name, ENDPOINTS[name].path.format(**MISSING_IDS))
        with subtests.test(name):
            assert answer.status_code == 403
            assert answer.json()["detail"].startswith(OWED), "before anything is looked for"
    for name in (*LOOKS, *OWN_MATTERS):
        answer = call(browser, name, belongings.shared(ENDPOINTS[name].path))
        answer.getvalue()
        with subtests.test(name):
            assert answer.status_code == 200
    assert browser.call("DELETE", f"/v1/auth/sessions/{SignedInSession.objects.get().pk}").status_code == 200


def test_keys_need_no_second_factor(organization, api):
    demand(organization)
    assert api.post("/v1/auth/invites", b'{"email": "new@bank.example", "role": "editor"}').status_code == 201


# ── how ──


def test_the_session_goes_on_under_a_new_id(organization):
    browser = begun_to_demand(organization)
    before = browser.cookies["sessionid"].value
    confirm(browser, "owner@bank.example")
    assert browser.cookies["sessionid"].value != before
    stolen = Browser()
    stolen.cookies["sessionid"] = before
    assert not stolen.is_signed_in
    assert SignedInSession.objects.count() == 1
    (event,) = events("session.confirmed")
    assert (event.actor_label, event.object_kind) == ("owner@bank.example", "member")
    assert events("session.ended") == []


def test_pages_link_to_the_confirmation_and_back(organization):
    browser = begun_to_demand(organization)
    page = browser.get("/admin/accounts/invite/invite/").content.decode()
    link = "/sign-in/?next=/admin/accounts/invite/invite/"
    assert f'href="{link}"' in page
    assert "disabled" in page, "no one fills in a form in vain"
    assert 'value="owner@bank.example"' in browser.get(link).content.decode()
    browser.submit(link, email="owner@bank.example")
    code = mailed_code("owner@bank.example")
    assert browser.submit("/sign-in/code/", code=code)["Location"] == "/sign-in/app/"
    app = pyotp.TOTP(shown_secret(browser))
    answer = browser.submit("/sign-in/app/", code=app.now())
    assert answer["Location"] == "/admin/accounts/invite/invite/"
    assert "second factor" not in browser.get(answer["Location"]).content.decode()


def test_an_open_form_is_not_lost(organization):
    """The person confirms in another tab and reloads the refusal, so the browser sends the form again."""
    browser = sign_in("owner@bank.example")
    address = "/admin/accounts/invite/invite/"
    form = {**BODY, "csrfmiddlewaretoken": browser.csrf_token(address)}
    demand(organization)
    refused = browser.post(address, form)
    page = refused.content.decode()
    assert refused.status_code == 403
    assert 'href="/sign-in/" target="_blank"' in page
    assert "reload" in page
    confirm(browser, "owner@bank.example")
    answer = browser.post(address, form)
    assert (answer.status_code, answer["Location"]) == (302, "/admin/accounts/invite/")


def test_a_program_confirms_its_session_by_the_api(organization):
    demand(organization)
    app = confirm(Browser(), "owner@bank.example")
    User.objects.update(totp_counter=1)
    demand(organization, False)
    User.objects.update(totp_secret="")
    browser = sign_in("owner@bank.example")
    User.objects.update(totp_secret=second_factor.seal(app.secret))
    demand(organization)
    assert invite(browser).status_code == 403
    browser.call("POST", "/v1/auth/otp/request", {"email": "owner@bank.example"})
    code = mailed_code("owner@bank.example")
    answer = browser.call("POST", "/v1/auth/otp/verify", {"email": "owner@bank.example", "code": code})
    assert answer.json() == {"status": "second_factor_required"}
    assert browser.is_signed_in, "as before, until it is confirmed"
    assert invite(browser).status_code == 403
    assert browser.call("POST", "/v1/auth/second-factor", {"code": app.now()}).json() == {"status": "signed_in"}
    assert invite(browser).status_code == 201


def test_a_mailed_code_alone_confirms_nothing(organization):
    browser = begun_to_demand(organization)
    browser.submit("/sign-in/code/", code=ask_for_code(browser, "owner@bank.example"))
    assert browser.submit("/sign-in/app/", code="000000").status_code == 422
    assert invite(browser).status_code == 403


def test_a_new_sign_in_without_the_app_is_not_confirmed(organization):
    demand(organization)
    browser = Browser()
    confirm(browser, "owner@bank.example")
    User.objects.update(totp_secret="")
    demand(organization, False)
    browser.submit("/sign-in/code/", code=ask_for_code(browser, "owner@bank.example"))
    demand(organization)
    assert invite(browser).status_code == 403


def test_confirming_in_another_persons_session_begins_a_new_session(organization):
    other = add_person(organization, Role.EDITOR).user.email
    browser = sign_in(other)
    demand(organization)
    confirm(browser, "owner@bank.example")
    assert browser.get("/v1/auth/me").json()["label"] == "owner@bank.example"
    assert [event.detail for event in events("session.ended")] == [{"because": "signed in again"}]
