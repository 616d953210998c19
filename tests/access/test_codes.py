"""A code has six digits, ten minutes, five tries and one use, in the browser that requested it. A newer one voids it.
Only a keyed digest is stored."""

import re
from collections import Counter
from collections.abc import Callable
from datetime import timedelta

import pytest
import time_machine
from django.apps import apps
from django.utils import timezone

from accounts import browsers, tasks, token_hashing
from accounts.models import OneTimeCode, SignedInSession
from accounts.roles import Role
from accounts.services import codes
from tests.people import (
    Browser,
    add_person,
    another,
    ask_for_code,
    events,
    mailed_code,
    sign_in,
)
from tests.peppers import forget_earlier_peppers, new_pepper

pytestmark = pytest.mark.django_db

Verify = Callable[..., int]
OWNER = "owner@bank.example"


@pytest.fixture
def here() -> Browser:
    """The browser that requests codes."""
    return Browser()


@pytest.fixture
def code(organization, here) -> str:
    """A code mailed to the owner."""
    return ask_for_code(here, OWNER)


@pytest.fixture
def verify(here) -> Verify:
    """Return a function that sends a code by the API, from the browser that requested it."""

    def send(code: str, email: str = OWNER) -> int:
        return here.call("POST", "/v1/auth/otp/verify", {"email": email, "code": code}).status_code

    return send


def test_a_code_is_six_digits_and_signs_in(code, verify, here):
    assert re.fullmatch(r"[0-9]{6}", code)
    assert verify(code) == 200
    assert here.get("/v1/auth/me").json()["label"] == OWNER


def test_codes_are_drawn_from_all_six_digit_numbers(organization):
    drawn = [ask_for_code(Browser(), OWNER) for _ in range(15)]
    assert len(set(drawn)) > 13
    assert len(Counter(code[0] for code in drawn)) > 3


def test_the_address_is_read_in_any_case(code, verify):
    assert verify(code, email="Owner@BANK.example") == 200


def test_only_a_keyed_digest_of_the_code_is_stored(code):
    rows = [str(row) for model in apps.get_models() for row in model._default_manager.values_list()]
    assert not [row for row in rows if re.search(rf"\b{code}\b", row)]
    stored = OneTimeCode.objects.get()
    assert token_hashing.matches(codes.PURPOSE, f"{stored.pk}:{code}", stored.digest)
    new_pepper()
    forget_earlier_peppers()
    assert not token_hashing.matches(codes.PURPOSE, f"{stored.pk}:{code}", stored.digest)


def test_equal_codes_have_different_digests(organization):
    assert token_hashing.digest(codes.PURPOSE, "1:123456") != token_hashing.digest(codes.PURPOSE, "2:123456")


def test_a_code_outlives_a_new_pepper_while_the_earlier_one_is_there(code, verify):
    new_pepper()
    assert verify(code) == 200


def test_a_code_expires_after_ten_minutes(code, verify):
    asked = OneTimeCode.objects.get().created_at
    with time_machine.travel(asked + timedelta(minutes=10, seconds=1), tick=False):
        assert verify(code) == 401
    with time_machine.travel(asked + timedelta(minutes=9, seconds=59), tick=False):
        assert verify(code) == 200


def test_a_code_works_once(code, verify):
    assert verify(code) == 200
    assert verify(code) == 401
    assert SignedInSession.objects.count() == 1


def test_four_wrong_tries_leave_the_fifth_and_five_leave_none(code, verify, here):
    assert [verify(another(code)) for _ in range(4)] == [401] * 4
    assert verify(code) == 200
    fresh = ask_for_code(here, OWNER)
    assert [verify(another(fresh)) for _ in range(5)] == [401] * 5
    assert verify(fresh) == 401


def test_pages_and_the_api_count_the_same_tries(code, verify, here):
    for _ in range(3):
        assert here.submit("/sign-in/code/", code=another(code)).status_code == 422
    assert [verify(another(code)) for _ in range(2)] == [401] * 2
    assert here.submit("/sign-in/code/", code=code).status_code == 422
    assert not here.is_signed_in


def test_a_new_code_voids_the_one_before(code, verify, here):
    newer = ask_for_code(here, OWNER)
    assert verify(code) == 401 or code == newer
    assert verify(newer) == 200


def test_a_request_voids_the_earlier_code_before_its_mail_goes_out(code, verify, here):
    here.submit("/sign-in/", email=OWNER)
    assert verify(code) == 401


def test_a_code_works_only_for_its_address(organization, code, verify, here):
    other = add_person(organization, Role.EDITOR).user.email
    ask_for_code(here, other)
    assert verify(code, email=other) == 401 or code == mailed_code(other)
    assert verify(code) == 200


@pytest.mark.parametrize("wrong", ["", " ", "0", "0" * 7, "0" * 5000, "\uff11" * 6, "\ufb00", "-1", "drs", "%s"])
def test_any_other_text_is_refused_and_counted(code, wrong, verify):
    assert verify(wrong) == 401
    assert OneTimeCode.objects.get().tries == 1


@pytest.mark.parametrize("pasted", ["{0} {1}", " {0}{1}\n", "{0}-{1}", "{0}\u00a0{1}", "{0}{1}"])
def test_a_pasted_code_may_have_spaces_and_dashes(organization, pasted):
    browser = Browser()
    code = ask_for_code(browser, OWNER)
    assert browser.submit("/sign-in/code/", code=pasted.format(code[:3], code[3:])).status_code == 302
    assert browser.is_signed_in


def test_a_text_without_six_digits_does_not_count_as_a_try(organization):
    browser = Browser()
    ask_for_code(browser, OWNER)
    for code in ("", "12345", "1234567", "abc"):
        assert browser.submit("/sign-in/code/", code=code).status_code == 422
    assert OneTimeCode.objects.get().tries == 0


def test_a_person_who_was_deactivated_meanwhile_is_refused(organization, code, verify):
    person = organization.members.get().user
    person.is_active = False
    person.save()
    assert verify(code) == 401


# ── the audit trail ──


def test_sending_and_using_a_code_are_in_the_audit_trail_of_every_organization_of_the_person(organization, other_api):
    add_person(other_api.organization, Role.AUDITOR, OWNER)
    sign_in(OWNER)
    for verb in ("sign_in.code_sent", "sign_in.succeeded"):
        assert {event.organization_id for event in events(verb)} == {organization.id, other_api.organization.id}


def test_refused_tries_reach_the_audit_trail_once_and_say_how_many(code, verify):
    for _ in range(3):
        verify(another(code))
    assert events("sign_in.refused") == []
    tasks.deliver_mail()
    tasks.deliver_mail()
    (event,) = events("sign_in.refused")
    assert (event.detail, event.actor_kind, event.object_kind) == ({"tries": 3}, "unknown", "member")
    verify(another(code))
    tasks.deliver_mail()
    assert [event.detail["tries"] for event in events("sign_in.refused")] == [3, 1]


def test_an_address_without_an_account_is_not_in_the_audit_trail(organization, verify, here):
    here.submit("/sign-in/", email="unknown@bank.example")
    verify("000000", email="unknown@bank.example")
    tasks.deliver_mail()
    assert events("sign_in.code_sent") == events("sign_in.refused") == []


def test_requests_are_forgotten_after_a_day(organization, code):
    with time_machine.travel(timezone.now() + timedelta(hours=25)):
        tasks.deliver_mail()
    assert not OneTimeCode.objects.exists()


def test_used_codes_are_forgotten_after_ninety_days(code, verify):
    assert verify(code) == 200
    for days, exists in ((89, True), (91, False)):
        with time_machine.travel(timezone.now() + timedelta(days=days)):
            tasks.deliver_mail()
        assert OneTimeCode.objects.exists() == exists


# ── the browser ──


def from_elsewhere(code: str, cookie: str = "") -> int:
    other = Browser()
    if cookie:
        other.cookies[browsers.COOKIE] = cookie
    return other.call("POST", "/v1/auth/otp/verify", {"email": OWNER, "code": code}).status_code


@pytest.mark.parametrize("cookie", ["", "0" * 64, "f" * 64, "x", "%00", "0" * 5000])
def test_a_code_works_only_in_the_browser_that_requested_it(code, verify, cookie):
    assert from_elsewhere(code, cookie) == 401
    assert OneTimeCode.objects.get().tries == 0, "other browsers do not use up its tries"
    assert verify(code) == 200


def test_another_browsers_request_does_not_void_a_code(code, verify):
    ask_for_code(Browser(), OWNER)
    assert verify(code) == 200


def test_a_code_of_another_browser_is_refused(code, verify):
    theirs = ask_for_code(Browser(), OWNER)
    assert verify(theirs) == 401 or theirs == code


def test_the_cookie_is_random_and_only_a_keyed_digest_of_it_is_stored(organization):
    values = []
    for email in (OWNER, "unknown@bank.example", OWNER):
        browser = Browser()
        browser.call("POST", "/v1/auth/otp/request", {"email": email})
        values.append(browser.cookies[browsers.COOKIE].value)
    assert len(set(values)) == 3
    assert all(re.fullmatch("[0-9a-f]{64}", value) for value in values)
    stored = str(list(OneTimeCode.objects.values_list()))
    assert not [value for value in values if value in stored]


def test_a_browser_keeps_its_cookie_from_one_request_to_the_next(organization, here):
    values = set()
    for email in (OWNER, "unknown@bank.example"):
        here.submit("/sign-in/", email=email)
        values.add(here.cookies[browsers.COOKIE].value)
    assert len(values) == 1


def test_a_code_from_before_codes_were_bound_to_browsers_is_refused(code, verify):
    OneTimeCode.objects.update(browser="")
    assert verify(code) == from_elsewhere(code) == 401


# ── the request ──


@pytest.mark.parametrize("intent", ["sign_in", "", "anything", "x" * 64])
def test_an_intent_is_any_short_text(organization, intent):
    body = {"email": OWNER, "intent": intent}
    assert Browser().call("POST", "/v1/auth/otp/request", body).status_code == 200
    assert OneTimeCode.objects.get().intent == intent


@pytest.mark.parametrize(
    ("body", "kind", "field"),
    [
        ({}, "missing", "email"),
        ({"email": 5}, "string_type", "email"),
        ({"email": None}, "string_type", "email"),
        ({"email": OWNER, "intent": "x" * 65}, "string_too_long", "intent"),
        ({"email": OWNER, "intent": 1}, "string_type", "intent"),
    ],
)
def test_a_malformed_request_is_refused_without_repeating_the_address(organization, body, kind, field):
    answer = Browser().call("POST", "/v1/auth/otp/request", body)
    (problem,) = answer.json()["detail"]
    assert (answer.status_code, problem["type"], problem["loc"]) == (422, kind, ["body", field])
    assert field == "intent" or "input" not in problem
    assert not OneTimeCode.objects.exists()


@pytest.mark.parametrize("email", ["", " ", "no address", "x" * 5000, "a@b@c", "\u0130@bank.example", "%00@x"])
def test_any_text_in_place_of_an_address_is_answered_like_an_unknown_one(organization, email):
    assert Browser().call("POST", "/v1/auth/otp/request", {"email": email}).status_code == 200
    tasks.deliver_mail()
    assert events("sign_in.code_sent") == []
