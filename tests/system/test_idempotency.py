"""Power cuts during requests with an Idempotency-Key: each request takes effect once and can be repeated."""

import http.client
import itertools
import json
import random
import threading
from typing import Any

import pytest

from tests.reconsiderations.conftest import REVIEW
from tests.system.live import Server, listens, server, wait_until

LOST = (OSError, http.client.HTTPException)  # the connection broke, so the result of the request is unknown
REQUESTS = {
    "review": ("/v1/decisions/loan-1/reconsideration", json.dumps(REVIEW).encode()),
    "key": ("/v1/auth/api-keys", b'{"name": "made"}'),
    "notice": ("/v1/decisions/loan-1/notices", b"{}"),
}


def answered(live: Server, what: str, key: str) -> bytes:
    """Repeat a request until it has an answer, and return the answer."""
    path, body = REQUESTS[what]
    while True:
        try:
            with live.client() as client:
                answer = client.request("POST", path, body, Idempotency_Key=key)
        except LOST:
            wait_until(lambda: listens(live.port), "the server is back")
            continue
        if answer.status == 201:
            return answer.body
        assert answer.status in (202, 503), answer.body


@pytest.mark.parametrize("vault", ["database", pytest.param("filesystem", marks=pytest.mark.once)])
def test_after_kills_at_random_moments_each_request_has_taken_effect_once(vault):
    with server(CUSTODY_VAULT=vault) as live:
        with live.client() as client:
            assert client.ingest(b'{"decision_id": "loan-1", "outcome": {"action": "denied"}}').status == 201
        answers: dict[tuple[str, str], bytes] = {}
        stopping = threading.Event()

        def go_on(what: str) -> None:
            for number in itertools.count():
                if stopping.is_set():
                    break
                answers[what, f"{what}-{number}"] = answered(live, what, f"{what}-{number}")

        callers = [threading.Thread(target=go_on, args=(what,)) for what in REQUESTS]
        for caller in callers:
            caller.start()
        for _ in range(4):
            goal = len(answers) + random.randint(3, 10)
            wait_until(lambda goal=goal: len(answers) >= goal, "some are answered")
            live.kill()
            live.start()
        stopping.set()
        for caller in callers:
            caller.join()

        assert {request: answered(live, *request) for request in answers} == answers
        assert counted(live) == {what: sum(kind == what for kind, _ in answers) for what in REQUESTS}


def counted(live: Server) -> dict[str, Any]:
    tables = {
        "review": "decisions_decision WHERE kind = 'reconsideration'",
        "key": "accounts_apikey WHERE name = 'made'",
        "notice": "notices_notice",
    }
    return {what: live.sql(f"SELECT count(*) FROM {table}")[0][0] for what, table in tables.items()}
