"""Parity of the front with Django: the front and its lane give the same status, headers and body."""

import json
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

import pytest

from config.http.messages import MAX_ANONYMOUS_BYTES
from decisions import samples
from tests.decisions import test_bad_input, test_bounds, test_bulk, test_ingest, test_records
from tests.decisions.test_dry_run import UNCLEAR
from tests.system.live import Answer, Client, Server, server

pytestmark = pytest.mark.once

MODULES = (test_bad_input, test_bounds, test_bulk, test_ingest, test_records)
_RANDOM = 20  # characters; a longer text that is not from the request is a key, a salt, a signature or a time
_OF_THIS_ANSWER = ("date", "x-request-id", "content-length", "transfer-encoding")


def bodies() -> Iterator[bytes]:
    """Yield the bodies of the other ingest tests, and the samples."""
    for module in MODULES:
        for name, member in vars(module).items():
            yield from _bodies_in(member if name.isupper() else ())
            for mark in getattr(member, "pytestmark", ()):
                if mark.name == "parametrize":
                    yield from _bodies_in(mark.args[1])
    for decision_id in test_records.ODD_IDS:
        yield json.dumps({"decision_id": decision_id}).encode()
    yield from samples.synthetic_records()
    yield from islice(samples.mortgage_records(), 0, None, 100)


def _bodies_in(cases: Any) -> Iterator[bytes]:
    if isinstance(cases, bytes):
        yield cases
        if len(cases) < 2**20:
            yield b'{"decision_id": "of-a-value-%d", "value": %s}' % (len(cases), cases)
    elif isinstance(cases, dict):
        yield from _bodies_in([*cases.values()])
    elif isinstance(cases, tuple | list):  # pytest.param is a tuple too
        yield from chain.from_iterable(map(_bodies_in, cases))


@pytest.fixture(scope="module")
def live() -> Iterator[Server]:
    with server(ANONYMOUS_REQUESTS_PER_MINUTE="0") as running:
        yield running


@pytest.fixture(scope="module")
def both(live) -> Iterator[tuple[Client, Client]]:
    """Yield a client of the front, and a client of Django without the front. Each has a separate database."""
    limits = {"ANONYMOUS_REQUESTS_PER_MINUTE": "0", "LOG_LEVEL": "CRITICAL"}
    with (
        server(interface="wsgi", **limits) as django,
        live.client() as first,
        django.client() as second,
    ):
        yield first, second


def same(both: tuple[Client, Client], method: str, path: str, body: Any = None, **headers: str) -> Answer:
    front, django = (client.request(method, path, body, **headers) for client in both)
    assert front.status == django.status, (path, body and body[:200], front.body[:300], django.body[:300])
    assert _comparable(front.headers) == _comparable(django.headers)
    assert _shape(front) == _shape(django)
    return front


def _comparable(headers: Any) -> dict[str, list[str]]:
    return {name.lower(): headers.get_all(name) for name in headers if name.lower() not in _OF_THIS_ANSWER}


def _shape(answer: Answer) -> Any:
    return _without_random(answer.json()) if answer.status < 300 else answer.body


def _without_random(value: Any) -> Any:
    if isinstance(value, dict):
        named = value.get("decision_id")
        return {name: item if item == named else _without_random(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_without_random(item) for item in value]
    return len(value) if isinstance(value, str) and len(value) > _RANDOM else value


def test_every_body_has_the_same_answer_when_new_replayed_or_in_conflict(live, both):
    statuses = {body: same(both, "POST", "/v1/ingest/srf", body).status for body in dict.fromkeys(bodies())}
    first = list(statuses.values())
    assert live.answered_by_lane() > first.count(201) / 2, "the lane answered the new small records"
    accepted = [body for body, status in statuses.items() if status in (200, 201, 409)]
    again = [same(both, "POST", "/v1/ingest/srf", body).status for body in accepted]
    assert {*first, *again} >= {200, 201, 409, 422}


HEADERS = [
    {"Content_Type": "text/plain"},
    {"Content_Type": "application/json; charset=latin-1"},
    {"Content_Type": 'application/json; charset="UTF-8"'},
    {"Content_Type": ""},
    {"Authorization": "Bearer drs_0123456789abcdef_" + "x" * 43},
    {"Authorization": "Bearer no"},
    {"Authorization": "Basic eDp5"},
    {"Host": "evil.example"},
    {"Host": "two words"},
    {"X_Request_ID": "chosen-by-the-client"},
    {"X_Request_ID": "no id"},
    {"Origin": "https://evil.example"},
    {"Accept": "text/html"},
    {"Cookie": "sessionid=unknown"},
    {"X_HTTP_Method_Override": "DELETE"},
]


@pytest.mark.parametrize("headers", HEADERS, ids=str)
@pytest.mark.parametrize("path", ["/v1/ingest/srf", "/v1/ingest/srf?x=1", "/v1/ingest/srf?dry_run=true"])
def test_every_header_has_the_same_effect(both, path, headers):
    body = b'{"decision_id": "header %d %s"}' % (HEADERS.index(headers), path[-1:].encode())
    answer = same(both, "POST", path, body, **headers)
    if chosen := headers.get("X_Request_ID"):
        assert (answer.headers["X-Request-ID"] == chosen) is (" " not in chosen)


@pytest.mark.parametrize("query", [*UNCLEAR, "dryrun=true", "dry-run=1", "", "&", "x=1&x=2"])
def test_every_query_has_the_same_answer(both, query):
    same(both, "POST", f"/v1/ingest/srf?{query}", json.dumps({"decision_id": f"query {query}"}).encode())


@pytest.mark.parametrize("size", [MAX_ANONYMOUS_BYTES - 100, MAX_ANONYMOUS_BYTES + 100, 2**20 + 1])
@pytest.mark.parametrize("key", [True, False], ids=["with a key", "without"])
def test_large_records_have_the_same_answer(both, size, key):
    body = b'{"decision_id": "large %d", "x": "%s"}' % (size, b"x" * size)
    same(both, "POST", "/v1/ingest/srf", body, **({} if key else {"Authorization": ""}))


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_other_methods_of_the_lanes_path_have_the_same_answer(both, method):
    same(both, method, "/v1/ingest/srf")


@pytest.mark.parametrize("path", ["/healthz", "/v1/openapi.json", "/v1/decisions", "/sign-in/", "/static/drs/page.css"])
def test_the_front_does_not_change_djangos_answers(both, path):
    front, django = (client.get(path) for client in both)
    assert front.status == django.status == 200
    assert set(_comparable(front.headers)) == set(_comparable(django.headers))
