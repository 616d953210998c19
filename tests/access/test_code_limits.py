"""Limits on codes: strangers use up a separate share and lock no one out of a known browser, and guessing stays
hopeless."""

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from accounts.models import OneTimeCode
from accounts.services import codes
from tests.people import JSON, Browser, another, ask_for_code, mailed_code, sign_in
from tests.peppers import new_pepper

pytestmark = pytest.mark.django_db

OWNER = "owner@bank.example"


def ask(email: str, address: str = "192.0.2.1") -> int:
    """Request a code from an unknown browser."""
    return asked_by(Browser(REMOTE_ADDR=address), email)


def asked_by(browser: Browser, email: str = OWNER) -> int:
    return browser.post("/v1/auth/otp/request", {"email": email}, content_type=JSON).status_code


def verify(browser: Browser, code: str) -> int:
    return browser.post("/v1/auth/otp/verify", {"email": OWNER, "code": code}, content_type=JSON).status_code


def guess(browser: Browser, times: int = codes.TRIES) -> int:
    """Request a code and miss it. Return the status of the last try."""
    assert asked_by(browser) == 200
    wrong = another(mailed_code(OWNER))
    return [verify(browser, wrong) for _ in range(times)][-1]


def guessed(address: str, codes_missed: int) -> None:
    for _ in range(codes_missed):
        guess(Browser(REMOTE_ADDR=address))


# ── asking ──


def test_codes_per_hour_are_limited_by_network_and_email_address(organization, settings):
    settings.CODES_PER_HOUR = 5
    start = timezone.now()
    with time_machine.travel(start, tick=False):
        assert [ask(OWNER) for _ in range(6)] == [200] * 5 + [429]
        assert ask("OWNER@bank.example") == 429
        assert ask("else@bank.example") == 200
        assert ask(OWNER, "192.0.2.78") == 200
    with time_machine.travel(start + timedelta(hours=1, seconds=1), tick=False):
        assert ask(OWNER) == 200


def test_codes_per_hour_are_limited_by_network_address(organization, settings):
    settings.CODES_PER_HOUR_AND_CLIENT = 5
    assert [ask(f"{n}@bank.example") for n in range(6)] == [200] * 5 + [429]
    assert ask("else@bank.example", "192.0.2.2") == 200


def test_retry_after_ends_when_the_oldest_request_is_an_hour_old(organization, settings):
    settings.CODES_PER_HOUR = 1
    start = timezone.now()
    with time_machine.travel(start, tick=False):
        ask(OWNER, "127.0.0.1")
    with time_machine.travel(start + timedelta(minutes=20), tick=False):
        answer = Browser().call("POST", "/v1/auth/otp/request", {"email": OWNER})
        assert (answer.status_code, answer["Retry-After"]) == (429, str(40 * 60 + 1))
        page = Browser().submit("/sign-in/", email=OWNER)
        assert (page.status_code, page["Retry-After"]) == (429, str(40 * 60 + 1))
        assert "Try again in 41 minutes." in page.content.decode()


def test_limits_apply_to_an_address_without_an_account(organization, settings):
    settings.CODES_PER_HOUR = 2
    assert [ask("unknown@bank.example") for _ in range(3)] == [200, 200, 429]


def test_a_refused_request_sends_nothing_and_voids_nothing(organization, settings):
    settings.CODES_PER_HOUR = 1
    browser = Browser()
    code = ask_for_code(browser, OWNER)
    assert asked_by(browser) == 429
    assert verify(browser, code) == 200


# ── strangers ──


def test_strangers_at_their_limit_lock_no_one_out(organization, settings):
    settings.CODES_PER_HOUR, settings.CODES_PER_HOUR_AND_CLIENT = 2, 5
    for network in range(4):
        assert [ask(OWNER, f"203.0.113.{network}") for _ in range(3)] == [200] * 2 + [429]
    browser = Browser(REMOTE_ADDR="192.0.2.1")
    assert browser.submit("/sign-in/code/", code=ask_for_code(browser, OWNER)).status_code == 302


def test_a_mailed_code_stays_valid_while_strangers_guess(organization):
    browser = Browser(REMOTE_ADDR="192.0.2.1")
    code = ask_for_code(browser, OWNER)
    guessed("203.0.113.1", 2)
    guessed("192.0.2.1", 2)
    assert verify(browser, code) == 200


def test_mails_to_one_address_are_limited_for_all_strangers_together(organization, monkeypatch):
    monkeypatch.setattr(codes, "STRANGERS_PER_HOUR", 20)
    for number in range(codes.STRANGERS_PER_HOUR):
        assert ask(OWNER, f"2001:db8::{number:x}") == 200
    assert ask(OWNER, "192.0.2.1") == 429
    assert ask("else@bank.example", "192.0.2.1") == 200


def test_a_known_browser_is_not_affected_by_strangers(organization, settings, monkeypatch):
    settings.CODES_PER_HOUR, settings.CODES_PER_HOUR_AND_CLIENT = 5, 5
    monkeypatch.setattr(codes, "STRANGERS_PER_HOUR", 10)
    mine = sign_in(OWNER, REMOTE_ADDR="192.0.2.1")
    for network in range(3):
        [ask(OWNER, f"203.0.113.{network}") for _ in range(5)]
    [ask(f"{number}@bank.example", "192.0.2.1") for number in range(5)]
    assert ask(OWNER, "192.0.2.1") == ask(OWNER, "192.0.2.2") == 429
    assert verify(mine, ask_for_code(mine, OWNER)) == 200
    assert [asked_by(mine) for _ in range(5)] == [200] * 4 + [429], "a known browser has a separate limit"


def test_a_browser_is_known_for_its_own_address_alone_and_for_ninety_days(organization, settings):
    mine = sign_in(OWNER)
    assert asked_by(mine) == asked_by(mine, "else@bank.example") == 200
    known = dict(OneTimeCode.objects.order_by("pk").values_list("email", "known"))
    assert known == {OWNER: True, "else@bank.example": False}
    with time_machine.travel(timezone.now() + codes.BROWSER_KNOWN + timedelta(days=1)):
        assert asked_by(mine) == 200
        assert not OneTimeCode.objects.latest("pk").known


def test_a_wrong_code_makes_no_browser_known(organization):
    browser = Browser()
    guess(browser)
    assert asked_by(browser) == 200
    assert not OneTimeCode.objects.filter(known=True).exists()


def test_a_browser_stays_known_under_a_new_pepper_while_the_earlier_one_is_there(organization):
    mine = sign_in(OWNER)
    new_pepper()
    mine.post("/v1/auth/otp/request", {"email": OWNER}, content_type=JSON)
    assert OneTimeCode.objects.latest("pk").known


# ── guessing ──


def test_wrong_codes_per_day_are_limited_by_network_and_email_address(organization):
    start = timezone.now()
    with time_machine.travel(start, tick=False):
        guessed("203.0.113.1", codes.TRIES_PER_DAY // codes.TRIES)
        refused = Browser(REMOTE_ADDR="203.0.113.1").call("POST", "/v1/auth/otp/request", {"email": OWNER})
        assert (refused.status_code, refused["Retry-After"]) == (429, str(24 * 3600 + 1))
        page = Browser(REMOTE_ADDR="203.0.113.1").submit("/sign-in/", email=OWNER)
        assert "Try again in 25 hours." in page.content.decode()
        assert ask("else@bank.example", "203.0.113.1") == 200
        assert ask(OWNER, "192.0.2.1") == 200
    with time_machine.travel(start + timedelta(days=1, seconds=1), tick=False):
        assert ask(OWNER, "203.0.113.1") == 200


def test_codes_requested_in_advance_count_too(organization):
    waiting = [Browser(REMOTE_ADDR="203.0.113.1") for _ in range(codes.TRIES_PER_DAY // codes.TRIES + 1)]
    mailed = [ask_for_code(browser, OWNER) for browser in waiting]
    for browser, code in list(zip(waiting, mailed, strict=True))[:-1]:
        assert [verify(browser, another(code)) for _ in range(codes.TRIES)] == [401] * codes.TRIES
    assert verify(waiting[-1], mailed[-1]) == 401


def test_wrong_codes_per_day_are_limited_for_all_strangers_together(organization, monkeypatch):
    monkeypatch.setattr(codes, "TRIES_PER_DAY", 10)
    monkeypatch.setattr(codes, "STRANGERS_TRIES_PER_DAY", 30)
    waiting = Browser(REMOTE_ADDR="192.0.2.1")
    code = ask_for_code(waiting, OWNER)
    mine = sign_in(OWNER, REMOTE_ADDR="192.0.2.2")
    for network in range(codes.STRANGERS_TRIES_PER_DAY // codes.TRIES_PER_DAY):
        guessed(f"203.0.113.{network}", codes.TRIES_PER_DAY // codes.TRIES)
    assert ask(OWNER, "203.0.113.99") == 429
    assert verify(waiting, code) == 401, "even a right code is refused, or guessing would go on"
    assert verify(mine, ask_for_code(mine, OWNER)) == 200, "the person can sign in from a known browser"


def test_wrong_codes_per_day_are_limited_in_a_known_browser(organization):
    mine, other = sign_in(OWNER), sign_in(OWNER)
    for _ in range(codes.TRIES_PER_DAY // codes.TRIES):
        assert guess(mine) == 401
    assert asked_by(mine) == 429
    assert asked_by(other) == 200


def test_right_codes_count_towards_no_limit_on_wrong_ones(organization, monkeypatch):
    monkeypatch.setattr(codes, "TRIES_PER_DAY", 5)
    for _ in range(codes.TRIES_PER_DAY + 1):
        sign_in(OWNER)
    assert ask(OWNER) == 200
