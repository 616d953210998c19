"""Limits and answers of a server with several processes."""

import re
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.system.live import server, wait_until
from tests.throwaway import redis

pytestmark = pytest.mark.boots


def test_processes_that_share_redis_count_together():
    with redis() as url, server(REDIS_URL=url, REQUESTS_PER_MINUTE="5", workers=2) as live:

        def get(_: int) -> int:
            with live.client() as client:
                return client.get("/v1/decisions").status

        wait_until(lambda: time.time() % 60 < 20, "the minute is young enough for all of it")
        with ThreadPoolExecutor(8) as pool:
            answers = sorted(pool.map(get, range(40)))
    assert answers == [200] * 5 + [429] * 35


def test_the_answer_to_a_known_and_an_unknown_address_has_the_same_headers_in_the_same_order():
    answers = []
    with server() as live, live.client() as client:
        for email in (b"owner@live.example", b"other@live.example"):
            answer = client.request("POST", "/v1/auth/otp/request", b'{"email": "%s"}' % email)
            headers = [
                (name.lower(), re.sub("=[0-9a-f]{64};|expires=[^;]+;", "", v)) for name, v in answer.headers.items()
            ]
            own = ("date", "x-request-id")
            answers.append((answer.status, answer.body, [header for header in headers if header[0] not in own]))
    assert answers[0] == answers[1]
    assert answers[0][0] == 200
    assert [value for name, value in answers[0][2] if name == "set-cookie" and value.startswith("drs_browser")]
