"""A code: six digits, ten minutes, five tries, one use, and a newer one voids it. Only a keyed digest is stored."""

import re
from collections import Counter
from datetime import timedelta

import pytest
import time_machine
from django.apps import apps
from django.utils import timezone

from accounts import digests, tasks
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

pytestmark = pytest.mark.django_db

OWNER = "owner@bank.example"


@pytest.fixture
def code(organization) -> str:
    """The code that the owner was mailed."""
    return ask_for_code(Browser(), OWNER)


def verify(code: str, email: str = OWNER, browser: Browser | None = None) -> int:
    return (browser or Browser()).call("POST", "/v1/auth/otp/verify", {"email": email, "code": code}).status_code


def test_a_code_is_six_digits_and_signs_in(code):
    assert re.fullmatch(r"[0-9]{6}", code)
    browser = Browser()
    assert verify(code, browser=browser) == 200
    assert browser.get("/v1/auth/me").json()["label"] == OWNER


def test_codes_are_drawn_from_all_six_digit_numbers(organization):
    drawn = [ask_for_code(Browser(), OWNER) for _ in range(60)]
    assert len(set(drawn)) > 55
    assert len(Counter(code[0] for code in drawn)) > 5


def test_the_address_is_read_in_any_case(code):
    assert verify(code, email="Owner@BANK.example") == 200


def test_only_a_keyed_digest_of_the_code_is_stored(code, settings):
    rows = [str(row) for model in apps.get_models() for row in model._default_manager.values_list()]
    assert not [row for row in rows if re.search(rf"\b{code}\b", row)]
    stored = OneTimeCode.objects.get()
    assert digests.matches(codes.PURPOSE, f"{stored.pk}:{code}", stored.digest)
    settings.SECRET_KEY = "of somebody who has only the database"
    assert not digests.matches(codes.PURPOSE, f"{stored.pk}:{code}", stored.digest)


def test_equal_codes_have_different_digests(organization):
    assert digests.digest(codes.PURPOSE, "1:123456") != digests.digest(codes.PURPOSE, "2:123456")


def test_a_code_outlives_a_new_secret_key_while_the_old_one_is_a_fallback(code, settings):
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "new" * 20, [settings.SECRET_KEY]
    assert verify(code) == 200


def test_a_code_is_good_for_ten_minutes_and_not_longer(code):
    asked = OneTimeCode.objects.get().created_at
    with time_machine.travel(asked + timedelta(minutes=10, seconds=1), tick=False):
        assert verify(code) == 401
    with time_machine.travel(asked + timedelta(minutes=9, seconds=59), tick=False):
        assert verify(code) == 200


def test_a_code_works_once(code):
    assert verify(code) == 200
    assert verify(code) == 401
    assert SignedInSession.objects.count() == 1


def test_four_wrong_tries_leave_the_fifth_and_five_leave_none(code):
    assert [verify(another(code)) for _ in range(4)] == [401] * 4
    assert verify(code) == 200
    fresh = ask_for_code(Browser(), OWNER)
    assert [verify(another(fresh)) for _ in range(5)] == [401] * 5
    assert verify(fresh) == 401


def test_pages_and_the_api_count_the_same_tries(code):
    page = Browser()
    fresh = ask_for_code(page, OWNER)
    for _ in range(3):
        assert page.submit("/sign-in/code/", code=another(fresh)).status_code == 422
    assert [verify(another(fresh)) for _ in range(2)] == [401] * 2
    assert page.submit("/sign-in/code/", code=fresh).status_code == 422
    assert not page.is_signed_in


def test_a_new_code_voids_the_one_before(code):
    newer = ask_for_code(Browser(), OWNER)
    assert verify(code) == 401 or code == newer
    assert verify(newer) == 200


def test_a_code_that_is_asked_for_but_not_mailed_yet_voids_the_one_before_too(code):
    Browser().submit("/sign-in/", email=OWNER)
    assert verify(code) == 401


def test_a_code_is_good_for_its_own_address_alone(organization, code):
    other = add_person(organization, Role.EDITOR).user.email
    ask_for_code(Browser(), other)
    assert verify(code, email=other) == 401 or code == mailed_code(other)
    assert verify(code) == 200


@pytest.mark.parametrize("wrong", ["", " ", "0", "0" * 7, "0" * 5000, "\uff11" * 6, "\ufb00", "-1", "drs", "%s"])
def test_anything_else_than_the_code_is_refused_and_counted(code, wrong):
    assert verify(wrong) == 401
    assert OneTimeCode.objects.get().tries == 1


@pytest.mark.parametrize("pasted", ["{0} {1}", " {0}{1}\n", "{0}-{1}", "{0}\u00a0{1}", "{0}{1}"])
def test_a_code_may_be_pasted_as_people_paste_it(organization, pasted):
    browser = Browser()
    code = ask_for_code(browser, OWNER)
    assert browser.submit("/sign-in/code/", code=pasted.format(code[:3], code[3:])).status_code == 302
    assert browser.is_signed_in


def test_what_is_not_six_digits_is_no_try(organization):
    browser = Browser()
    ask_for_code(browser, OWNER)
    for code in ("", "12345", "1234567", "abc"):
        assert browser.submit("/sign-in/code/", code=code).status_code == 422
    assert OneTimeCode.objects.get().tries == 0


def test_a_person_who_was_deactivated_meanwhile_is_refused(organization, code):
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


def test_refused_tries_reach_the_audit_trail_once_and_say_how_many(code):
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


def test_the_audit_trail_is_told_of_no_address_that_nobody_has(organization):
    Browser().submit("/sign-in/", email="nobody@bank.example")
    verify("000000", email="nobody@bank.example")
    tasks.deliver_mail()
    assert events("sign_in.code_sent") == events("sign_in.refused") == []


def test_requests_are_forgotten_after_a_day(organization, code):
    with time_machine.travel(timezone.now() + timedelta(hours=25)):
        tasks.deliver_mail()
    assert not OneTimeCode.objects.exists()


# ── limits ──


def ask(email: str, address: str = "192.0.2.1") -> int:
    return Browser(REMOTE_ADDR=address).call("POST", "/v1/auth/otp/request", {"email": email}).status_code


def test_one_address_may_ask_for_so_many_codes_an_hour(organization, settings):
    settings.CODES_PER_HOUR = 5
    start = timezone.now()
    with time_machine.travel(start, tick=False):
        assert [ask(OWNER, f"192.0.2.{n}") for n in range(6)] == [200] * 5 + [429]
        assert ask("OWNER@bank.example", "192.0.2.77") == 429
        assert ask("else@bank.example", "192.0.2.78") == 200
    with time_machine.travel(start + timedelta(hours=1, seconds=1), tick=False):
        assert ask(OWNER) == 200


def test_one_client_may_ask_for_so_many_codes_an_hour(organization, settings):
    settings.CODES_PER_HOUR_AND_CLIENT = 5
    assert [ask(f"{n}@bank.example") for n in range(6)] == [200] * 5 + [429]
    assert ask("else@bank.example", "192.0.2.2") == 200


def test_retry_after_is_when_the_oldest_of_the_hour_is_an_hour_old(organization, settings):
    settings.CODES_PER_HOUR = 1
    start = timezone.now()
    with time_machine.travel(start, tick=False):
        ask(OWNER)
    with time_machine.travel(start + timedelta(minutes=20), tick=False):
        answer = Browser().call("POST", "/v1/auth/otp/request", {"email": OWNER})
        assert (answer.status_code, answer["Retry-After"]) == (429, str(40 * 60 + 1))
        page = Browser().submit("/sign-in/", email=OWNER)
        assert (page.status_code, page["Retry-After"]) == (429, str(40 * 60 + 1))
        assert "Try again in 41 minutes." in page.content.decode()


def test_limits_hold_for_an_address_that_nobody_has(organization, settings):
    settings.CODES_PER_HOUR = 2
    assert [ask("nobody@bank.example", f"192.0.2.{n}") for n in range(3)] == [200, 200, 429]


def test_a_refused_request_sends_nothing_and_voids_nothing(organization, settings):
    settings.CODES_PER_HOUR = 1
    code = ask_for_code(Browser(), OWNER)
    assert ask(OWNER) == 429
    assert verify(code) == 200


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
    assert ask(email) == 200
    tasks.deliver_mail()
    assert events("sign_in.code_sent") == []
