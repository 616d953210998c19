"""A request for a code does not reveal whether the address has an account, by its answer, headers or time."""

import gc
import random
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts import token_hashing
from accounts.models import Member, OneTimeCode, User
from accounts.services import codes
from tests.people import JSON, mailed_code

pytestmark = pytest.mark.django_db

KNOWN, UNKNOWN = "owner@bank.example", "other@bank.example"  # equally long, so that pages with them are, too


def by_api(client: Client, email: str) -> Any:
    return client.post("/v1/auth/otp/request", {"email": email}, content_type=JSON)


def by_page(client: Client, email: str) -> Any:
    return client.post("/sign-in/", {"email": email})


def next_page(client: Client, email: str) -> Any:
    by_page(client, email)
    return client.get("/sign-in/code/")


def wrong_code_by_api(client: Client, email: str) -> Any:
    by_api(client, email)
    return client.post("/v1/auth/otp/verify", {"email": email, "code": "no"}, content_type=JSON)


def wrong_code_by_page(client: Client, email: str) -> Any:
    by_page(client, email)
    return client.post("/sign-in/code/", {"code": "000 000"})


def locked_out_by_api(client: Client, email: str) -> Any:
    by_api(client, email)
    for _ in range(codes.TRIES):
        client.post("/v1/auth/otp/verify", {"email": email, "code": "no"}, content_type=JSON)
    return client.post("/v1/auth/otp/verify", {"email": email, "code": "no"}, content_type=JSON)


def locked_out_by_page(client: Client, email: str) -> Any:
    by_page(client, email)
    for _ in range(codes.TRIES):
        client.post("/sign-in/code/", {"code": "000000"})
    return client.post("/sign-in/code/", {"code": "000000"})


@pytest.fixture(autouse=True)
def _not_the_first_of_its_process(db: None) -> None:
    """Read the pepper, which its first use would do."""
    token_hashing.peppers()


@pytest.fixture(autouse=True)
def _one_moment() -> Iterator[None]:
    """Freeze the clock, or the header Expires could differ. Processor time goes on."""
    with time_machine.travel(timezone.now(), tick=False):
        yield


def everything_of(answer: Any, email: str) -> tuple[Any, ...]:
    """Return status, headers, cookies and body, without the address and the parts that differ in any two answers."""
    body = re.sub(rb'(csrfmiddlewaretoken" value=")\w+', rb"\1", answer.content).replace(email.encode(), b"")
    headers = {name: value for name, value in answer.items() if name != "X-Request-ID"}
    cookies = {
        name: re.sub(r"=\w+|expires=[^;]+", "", morsel.OutputString()) for name, morsel in answer.cookies.items()
    }
    return answer.status_code, headers, cookies, body


STEPS = [
    by_api,
    by_page,
    next_page,
    wrong_code_by_api,
    wrong_code_by_page,
    locked_out_by_api,
    locked_out_by_page,
]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
@pytest.mark.parametrize("delivered", [False, True], ids=["before the mail", "after the mail"])
def test_the_answer_is_the_same_byte_for_byte_with_and_without_an_account(organization, step, delivered):
    if delivered:  # a code that was mailed before changes nothing either
        by_api(Client(), KNOWN)
        mailed_code(KNOWN)
    answers = [everything_of(step(Client(), email), email) for email in (KNOWN, UNKNOWN)]
    assert answers[0] == answers[1]
    assert answers[0][0] in (200, 302, 401, 422)


@pytest.mark.parametrize("step", [by_api, by_page], ids=lambda step: step.__name__)
def test_a_refusal_for_asking_too_often_is_the_same_too(organization, settings, step):
    settings.CODES_PER_HOUR = 2
    answers = []
    for number, email in enumerate((KNOWN, UNKNOWN)):
        address = {"REMOTE_ADDR": f"192.0.2.{number}"}
        for _ in range(2):
            step(Client(**address), email)
        refused = everything_of(step(Client(**address), email), email)
        assert refused[1]["Retry-After"] == "3601"
        answers.append(refused)
    assert answers[0] == answers[1]
    assert answers[0][0] == 429


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
def test_no_statement_of_such_a_request_touches_a_table_of_people(organization, step):
    statements = []
    for email in (KNOWN, UNKNOWN):
        with CaptureQueriesContext(connection) as caught:
            step(Client(), email)
        statements.append([re.sub(r"'[^']*'|\d+", "?", query["sql"]) for query in caught])
    assert statements[0] == statements[1]
    assert any("accounts_onetimecode" in statement for statement in statements[0])
    people = [model._meta.db_table for model in (User, Member)]
    assert not [statement for statement in statements[0] if any(table in statement for table in people)]


# ── time ──

PAIRS = 100
EVEN = 0.5
TRIES = 3  # other programs may blur one of them
TOLERATED = 0.15
"""Three standard deviations of the share, for 100 pairs of equally long requests."""


def share_slower(step: Callable[[Client, str], Any]) -> float:
    """Return the share of pairs in which a known address takes longer than an unknown one: 0.5 if time reveals nothing.

    It compares processor time of this thread, which other programs on the machine hardly affect. The order in a pair is
    random, so that a gradual slowdown affects both.
    """
    slower = 0.0
    client = Client()
    gc.disable()
    try:
        for _ in range(PAIRS):
            durations = {}
            for email in random.sample([KNOWN, UNKNOWN], 2):
                OneTimeCode.objects.all().delete()  # each request finds the same table
                start = time.thread_time_ns()
                step(client, email)
                durations[email] = time.thread_time_ns() - start
            known, unknown = durations[KNOWN], durations[UNKNOWN]
            slower += (known > unknown) + (known == unknown) / 2
    finally:
        gc.enable()
    return slower / PAIRS


@pytest.mark.parametrize("step", [by_api, by_page], ids=lambda step: step.__name__)
def test_the_time_a_request_takes_does_not_tell(organization, step):
    assert any(abs(share_slower(step) - EVEN) < TOLERATED for _ in range(TRIES))


def test_the_comparison_of_times_notices_one_more_statement_for_those_who_have_an_account(organization, monkeypatch):
    """Mail that is sent in the request would take many times as long."""
    request_code = codes.request_code

    def and_look(**arguments: str) -> None:
        request_code(**arguments)
        for person in User.objects.filter(email=arguments["email"]):
            list(person.memberships.all())

    monkeypatch.setattr(codes, "request_code", and_look)
    assert any(share_slower(by_api) > EVEN + TOLERATED for _ in range(TRIES))
