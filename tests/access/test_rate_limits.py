"""Requests per minute, for each key or person, and for each address without valid credentials."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.core.cache import cache
from redis.exceptions import RedisError

from accounts import throttling
from accounts.roles import Role
from tests.people import Browser, events

pytestmark = pytest.mark.django_db

START = datetime(2030, 1, 1, 12, 0, 20, tzinfo=UTC)
WRONG_KEY = f"Bearer drs_{'0' * 16}_{'x' * 43}"


@pytest.fixture(autouse=True)
def _one_minute():
    """Freeze the clock at 20 seconds past a minute, with empty counters."""
    cache.clear()
    with time_machine.travel(START, tick=False):
        yield
    cache.clear()


def requests(count: int, get) -> list[int]:
    return [get().status_code for _ in range(count)]


def stranger(address: str = "192.0.2.1", **headers: str):
    """Return a function that makes a request with a guessed key."""
    sent = {"Authorization": WRONG_KEY, **headers}
    return lambda: Browser(REMOTE_ADDR=address, headers=sent).get("/v1/decisions")


# ── keys and people ──


def test_a_keys_requests_per_minute_are_limited(api, settings):
    settings.REQUESTS_PER_MINUTE = 3
    assert requests(5, lambda: api.get("/v1/decisions")) == [200] * 3 + [429] * 2


def test_the_answer_says_when_to_come_back_and_then_it_works(api, settings):
    settings.REQUESTS_PER_MINUTE = 1
    requests(1, lambda: api.get("/v1/decisions"))
    answer = api.get("/v1/decisions")
    assert (answer.status_code, answer["Retry-After"], list(answer.json())) == (429, "40", ["detail"])
    with time_machine.travel(START + timedelta(seconds=39), tick=False):
        assert api.get("/v1/decisions").status_code == 429
    with time_machine.travel(START + timedelta(seconds=40), tick=False):
        assert api.get("/v1/decisions").status_code == 200


def test_every_key_and_every_person_is_counted_separately(organization, api, api_for, signed_in, settings):
    browser = signed_in(Role.EDITOR)
    settings.REQUESTS_PER_MINUTE = 2
    other = api_for(organization, Role.OWNER)
    for client in (api.client, other.client, browser):
        assert requests(3, lambda client=client: client.get("/v1/decisions")) == [200, 200, 429]


def test_a_refused_request_changes_nothing(api, settings):
    settings.REQUESTS_PER_MINUTE = 1
    assert [api.ingest({"decision_id": str(number)}).status_code for number in range(2)] == [201, 429]
    settings.REQUESTS_PER_MINUTE = 0
    assert [item["decision_id"] for item in api.get("/v1/decisions").json()["items"]] == ["0"]


def test_zero_is_no_limit(api, settings):
    settings.REQUESTS_PER_MINUTE = 0
    assert set(requests(50, lambda: api.get("/v1/decisions"))) == {200}


# ── strangers ──


def test_the_addresses_of_an_ipv6_network_are_counted_together(organization, settings):
    settings.ANONYMOUS_REQUESTS_PER_MINUTE = 3
    answers = [requests(1, stranger(f"2001:db8:1:2::{number:x}"))[0] for number in range(5)]
    assert answers == [401] * 3 + [429] * 2
    assert requests(1, stranger("2001:db8:1:3::1")) == [401]


def test_wrong_keys_from_an_address_are_limited(organization, settings):
    settings.ANONYMOUS_REQUESTS_PER_MINUTE = 3
    assert requests(5, stranger()) == [401] * 3 + [429] * 2
    assert requests(1, stranger("192.0.2.2")) == [401]


@pytest.mark.parametrize("header", ["", "Bearer no", "Basic eDp5"])
def test_requests_without_a_key_and_with_malformed_ones_are_counted_with_them(organization, settings, header):
    settings.ANONYMOUS_REQUESTS_PER_MINUTE = 3
    assert requests(4, stranger(Authorization=header)) == [401] * 3 + [429]
    assert requests(1, stranger()) == [429]


def test_a_revoked_key_is_counted_with_them_and_floods_no_audit_trail(organization, api, settings):
    settings.ANONYMOUS_REQUESTS_PER_MINUTE = 3
    made = api.post("/v1/auth/api-keys", b'{"name": "more"}').json()
    api.client.delete(f"/v1/auth/api-keys/{made['key_id']}")
    assert requests(5, stranger(Authorization=f"Bearer {made['api_key']}")) == [401] * 3 + [429] * 2
    assert len(events("key.refused")) == 3


def test_a_valid_key_is_not_counted_as_a_stranger(api, settings):
    settings.ANONYMOUS_REQUESTS_PER_MINUTE = 1
    assert set(requests(5, lambda: api.get("/v1/decisions"))) == {200}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/auth/otp/request", {"email": "a@b.example"}),
        ("/v1/auth/otp/verify", {"email": "a@b.example", "code": "000000"}),
        ("/v1/auth/second-factor", {"code": "000000"}),
        ("/v1/auth/invites/accept", {"token": "1-x"}),
    ],
)
def test_calls_without_credentials_are_counted(organization, settings, path, body):
    settings.ANONYMOUS_REQUESTS_PER_MINUTE = 2
    answers = [
        Browser().post(path, body, content_type="application/json", REMOTE_ADDR="192.0.2.1").status_code
        for _ in range(3)
    ]
    assert 429 not in answers[:2]
    assert answers[2] == 429


# ── proxies ──

FORWARDED = "203.0.113.66, 203.0.113.1, 203.0.113.2"


@pytest.mark.parametrize(
    ("proxies", "forwarded", "counted"),
    [
        (0, FORWARDED, "192.0.2.1"),
        (1, FORWARDED, "203.0.113.2"),
        (2, FORWARDED, "203.0.113.1"),
        (4, FORWARDED, "192.0.2.1"),
        (1, "", "192.0.2.1"),
        (1, " 203.0.113.2 ", "203.0.113.2"),
        (1, "spoofed, , 203.0.113.2,", "203.0.113.2"),
    ],
)
def test_forwarded_addresses_are_trusted_up_to_the_number_of_proxies(
    organization, settings, proxies, forwarded, counted
):
    settings.TRUSTED_PROXIES, settings.ANONYMOUS_REQUESTS_PER_MINUTE = proxies, 1
    assert requests(1, stranger(**{"X-Forwarded-For": forwarded})) == [401]
    settings.TRUSTED_PROXIES = 0
    assert requests(1, stranger(counted)) == [429], "this is the address that was counted"
    assert requests(1, stranger("203.0.113.66")) == [401], "this is what the client claimed"


def test_a_client_behind_a_proxy_escapes_no_limit_by_claiming_other_addresses(organization, settings):
    settings.TRUSTED_PROXIES, settings.ANONYMOUS_REQUESTS_PER_MINUTE = 1, 2
    answers = [requests(1, stranger(**{"X-Forwarded-For": f"203.0.113.{n}, 198.51.100.7"}))[0] for n in range(4)]
    assert answers == [401, 401, 429, 429]


def test_a_redis_that_does_not_answer_is_not_waited_for_at_each_request(settings, monkeypatch):
    settings.REQUESTS_PER_MINUTE = 1
    asked = []

    def hang(*_, **__):
        asked.append(True)
        raise RedisError

    monkeypatch.setattr(throttling.cache, "add", hang)
    monkeypatch.setattr(throttling, "_counts_again", 0.0)
    assert all(throttling.admit("caller:key:1", 1) for _ in range(10))
    assert len(asked) == 1
