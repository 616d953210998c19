"""HTTP as real clients speak it: chunks, keep-alive connections, endless bodies, wrong methods and hosts."""

import json
import secrets
import socket
from collections.abc import Iterator

import pytest

from tests.system.live import Client, Server, server, wait_until

pytestmark = pytest.mark.once
NDJSON = "application/x-ndjson"
MIB = 2**20


def in_chunks(body: bytes, size: int = 7) -> Iterator[bytes]:
    """Return an iterator of chunks, which makes http.client use Transfer-Encoding: chunked."""
    return (body[start : start + size] for start in range(0, len(body), size))


def test_a_record_in_chunks_is_stored_byte_for_byte(client):
    record = b'{ "decision_id" : "chunked", "amount": 1.50 }'
    assert client.request("POST", "/v1/ingest/srf", in_chunks(record)).status == 201
    assert client.get("/v1/decisions/chunked/record").body == record


def test_a_record_of_exactly_1_mib_is_stored_in_chunks_and_with_a_length(client):
    for decision_id, send in (("full-1", lambda body: body), ("full-2", lambda body: in_chunks(body, 60_000))):
        start = b'{"decision_id": "%s", "x": "' % decision_id.encode()
        record = start + b"x" * (MIB - len(start) - 2) + b'"}'
        assert client.request("POST", "/v1/ingest/srf", send(record)).status == 201
        assert client.get(f"/v1/decisions/{decision_id}/record").body == record


@pytest.mark.parametrize("size", [MIB + 1, 2 * MIB])
@pytest.mark.parametrize("chunked", [False, True], ids=["with a length", "in chunks"])
def test_a_body_over_1_mib_is_a_413(client, size, chunked):
    body = b'{"decision_id": "too-large", "x": "' + b"x" * size
    answer = client.request("POST", "/v1/ingest/srf", in_chunks(body, 60_000) if chunked else body)
    assert (answer.status, answer.json()) == (413, {"detail": "The body is larger than 1 MiB. Split it."})
    client.close()
    assert client.get("/v1/decisions/too-large").status == 404


def test_a_batch_in_chunks_of_any_size_is_answered_line_by_line(client):
    lines = [b'{"decision_id": "b-1"}', b"no JSON", b"", b'{"decision_id": "b-2"}\r', b'{"decision_id": "b-1", "x": 1}']
    answer = client.request("POST", "/v1/ingest/srf/batch", in_chunks(b"\n".join(lines)), Content_Type=NDJSON)
    answered = [json.loads(line) for line in answer.body.splitlines()]
    expected = [(1, "created"), (2, "invalid"), (4, "created"), (5, "conflict")]
    assert [(line["line"], line["status"]) for line in answered] == expected


@pytest.mark.parametrize("chunked", [False, True], ids=["with a length", "in chunks"])
def test_a_batch_over_32_mib_is_a_413(client, chunked):
    before = client.get("/v1/decisions?source=batch").json()["items"]
    # Exactly one byte too many: unread bytes would break the connection while the client still sends.
    body = ((b"x" * 900_000 + b"\n") * 38)[: 32 * MIB + 1]
    sent = in_chunks(body, 60_000) if chunked else body
    answer = client.request("POST", "/v1/ingest/srf/batch", sent, Content_Type=NDJSON)
    assert (answer.status, answer.json()) == (413, {"detail": "The body is larger than 32 MiB. Split it."})
    assert client.get("/v1/decisions?source=batch").json()["items"] == before, "nothing of it was stored"


def test_a_large_batch_is_stored_whole_with_any_spelling_of_its_media_type(client):
    lines = [b'{"decision_id": "spelled-%d", "x": "%s"}' % (n, b"x" * 60_000) for n in range(100)]
    for kind in (NDJSON, "Application/X-NDJSON"):
        answer = client.request("POST", "/v1/ingest/srf/batch", in_chunks(b"\n".join(lines), 60_000), Content_Type=kind)
        statuses = {json.loads(line)["status"] for line in answer.body.splitlines()}
        assert (len(answer.body.splitlines()), statuses) == (100, {"created" if kind == NDJSON else "replayed"})


WRONG = [
    ("POST", "/v1/ingest/srf", b"no JSON", {}, 422),
    ("POST", "/v1/ingest/srf", b"{}", {}, 422),
    ("POST", "/v1/ingest/srf", b"{}", {"Content_Type": "text/plain"}, 415),
    ("POST", "/v1/ingest/srf", b'{"x": "' + b"x" * 900_000, {"Content_Type": "text/plain"}, 415),
    ("POST", "/v1/ingest/srf", b'{"x": "' + b"x" * 900_000, {"Authorization": "Bearer wrong"}, 401),
    ("POST", "/v1/ingest/srf", b'{"x": "' + b"x" * 2 * MIB, {}, 413),
    ("GET", "/v1/ingest/srf", None, {}, 405),
    ("POST", "/v1/decisions", b'{"x": "' + b"x" * 900_000, {}, 405),
    ("GET", "/v1/decisions/unknown", None, {}, 404),
    ("GET", "/v1/nothing/here", None, {}, 404),
    ("GET", "/v1/decisions?limit=0", None, {}, 422),
    ("GET", "/v1/decisions", None, {"Host": "evil.example"}, 400),
]


@pytest.mark.parametrize(("method", "path", "body", "headers", "status"), WRONG)
def test_after_an_error_the_connection_stays_usable_or_its_end_is_announced(
    client, method, path, body, headers, status
):
    answer = client.request(method, path, body, **headers)
    assert answer.status == status
    announced = answer.headers.get("Connection", "").lower() == "close"
    assert announced or client.connection.sock is not None
    assert client.get("/v1/decisions").status == 200  # http.client reconnects only after an announcement


def head(client: Client, method: str, path: str, *headers: str, charset: str = "ascii") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {client.key}", *headers, "", ""]
    return "\r\n".join(lines).encode(charset)


@pytest.mark.parametrize("kind", ["application/json", "text/plain", ""])
@pytest.mark.parametrize("framing", ["Content-Length: 0", "Transfer-Encoding: chunked", ""])
@pytest.mark.parametrize("path", ["/v1/ingest/srf", "/v1/auth/api-keys", "/v1/ingest/srf/batch"])
def test_an_empty_body_is_missing_in_any_framing(live: Server, client, path, framing, kind):
    lines = (framing, kind and f"Content-Type: {kind}", "Connection: close")
    headers = [line for line in lines if line]
    with socket.create_connection(("127.0.0.1", live.port)) as connection, connection.makefile("rb") as answer:
        connection.sendall(head(client, "POST", path, *headers) + (b"0\r\n\r\n" if "chunked" in framing else b""))
        response_head, _, body = answer.read().partition(b"\r\n\r\n")
    assert response_head.startswith(b"HTTP/1.1 422 ")
    assert json.loads(body) == {"detail": [{"type": "missing", "loc": ["body"], "msg": "Field required"}]}


@pytest.mark.parametrize("path", ["/v1/ingest/srf", "/v1/ingest/srf/batch"])
def test_another_content_type_is_a_415_also_in_chunks(client, path):
    assert client.request("POST", path, in_chunks(b"x"), Content_Type="text/plain").status == 415


@pytest.mark.parametrize("path", ["/v1/ingest/srf", "/v1/ingest/srf/batch"])
def test_a_client_that_disconnects_in_the_middle_of_a_record_stores_nothing(live: Server, client, path):
    kind = "application/json" if path.endswith("srf") else NDJSON
    before = client.get("/v1/decisions").json()["items"]
    answered = live.log.read_text().count(f'"{path[1:]}"')
    for framing in ("Content-Length: 5000", "Transfer-Encoding: chunked"):
        with socket.create_connection(("127.0.0.1", live.port)) as connection:
            cut = b'{"decision_id": "cut", "x": "'
            chunk = b"%x\r\n%s\r\n" % (len(cut), cut) if "chunked" in framing else cut
            connection.sendall(head(client, "POST", path, f"Content-Type: {kind}", framing) + chunk)
    wait_until(lambda: live.log.read_text().count(f'"{path[1:]}"') == answered + 2, "both requests have ended")
    assert client.get("/v1/decisions").json()["items"] == before
    assert client.ingest(b'{"decision_id": "after-%d"}' % len(path)).status == 201


BROKEN = {
    "no size": b"zz\r\nabc\r\n0\r\n\r\n",
    "a negative size": b"-5\r\nabc\r\n0\r\n\r\n",
    "a size beyond 64 bits": b"ffffffffffffffffff\r\nabc",
    "more than its size": b"5\r\nabcdefgh\r\n0\r\n\r\n",
    "no size after a record": b'21\r\n{"decision_id": "in-broken-chunks"}\r\nzz\r\n',
    "an end on the way": b"50\r\n{",
}


@pytest.mark.parametrize("path", ["/v1/ingest/srf", "/v1/ingest/srf/batch", "/v1/auth/api-keys", "/sign-in/"])
@pytest.mark.parametrize("chunks", BROKEN)
def test_broken_chunks_are_a_400_that_closes_the_connection_and_is_logged_once(live: Server, client, chunks, path):
    asked = f"broken-{secrets.token_hex(8)}"
    kind = NDJSON if path.endswith("batch") else "application/json"
    headers = ["Transfer-Encoding: chunked", f"Content-Type: {kind}", f"X-Request-ID: {asked}"]
    with socket.create_connection(("127.0.0.1", live.port)) as connection, connection.makefile("rb") as answer:
        connection.sendall(head(client, "POST", path, *headers) + BROKEN[chunks])
        connection.shutdown(socket.SHUT_WR)
        assert answer.readline() == b"HTTP/1.1 400 Bad Request\r\n"
        assert b"\r\nconnection: close\r\n" in answer.read()
    lines = [line for line in live.log.read_text().splitlines() if asked in line]
    assert [json.loads(line)["status"] for line in lines] == [400]
    assert client.get("/v1/decisions/in-broken-chunks").status == 404


HEADS = [
    ("GET http://127.0.0.1/v1/decisions HTTP/1.1", ()),
    ("GET http://evil.example/v1/decisions HTTP/1.1", ()),
    ("GET http://127.0.0.1 HTTP/1.1", ()),
    ("OPTIONS * HTTP/1.1", ()),
    ("CONNECT evil.example:443 HTTP/1.1", ()),
    ("TRACE /admin/ HTTP/1.1", ()),
    ("GeT /v1/decisions HTTP/1.1", ()),
    (f"{'X' * 300} /sign-in/ HTTP/1.1", ()),
    (f"GET /v1/decisions?action={'a' * 60_000} HTTP/1.1", ()),
    ("GET /v1/decisions HTTP/1.1", [f"X-{number}: a" for number in range(130)]),
    ("GET /v1/decisions HTTP/1.1", [f"X-A: {'a' * 600_000}"]),
    *(
        (f"GET {path} HTTP/1.1", [f"{name}: \xff\xc3\x28\x80"])
        for path in ("/sign-in/", "/v1/decisions", "/v1/openapi.json", "/readyz")
        for name in ("Cookie", "Host", "Accept", "Accept-Language", "Origin", "Referer", "If-None-Match", "User-Agent",
                     "Content-Type", "Idempotency-Key", "X-Forwarded-For", "X-Forwarded-Proto", "Range", "Expect")
    ),
    *(
        ("POST /v1/ingest/srf HTTP/1.1", headers)
        for headers in (
            ["Content-Length: 2", "Transfer-Encoding: chunked"],
            ["Transfer-Encoding: gzip, chunked"],
            ["Transfer-Encoding: identity"],
            ["Content-Length: -5"],
            ["Content-Length: 2", "Content-Length: 5"],
            ["Content-Length: 99999999999999999999999"],
            ["Content-Length: \xb2"],
            ["Content-Length: 0", "Expect: 100-continue"],
            ["Content-Length: 0", "Expect: 200-tea"],
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize(("line", "headers"), HEADS, ids=range(len(HEADS)))
def test_no_request_head_makes_the_service_fail(live: Server, client, line, headers):
    asked = f"head-{secrets.token_hex(8)}"
    sent = head(
        client,
        *line.split(" ")[:2],
        *headers,
        f"X-Request-ID: {asked}",
        "Connection: close",
        charset="latin-1",
    )
    with socket.create_connection(("127.0.0.1", live.port)) as connection, connection.makefile("rb") as answer:
        connection.sendall(sent + b"0\r\n\r\n" * (b"chunked" in sent))
        status = int(answer.readline().split()[1])
    assert status == (501 if "Transfer-Encoding: gzip, chunked" in headers else min(status, 499))
    assert not [line for line in live.log.read_text().splitlines() if asked in line and "exception" in line]


@pytest.fixture(scope="module", params=["0", "1"], ids=["DEBUG=0", "DEBUG=1"])
def live_with_and_without_debug(request: pytest.FixtureRequest) -> Iterator[Server]:
    with server(DEBUG=request.param) as running:
        yield running


SENTENCES = [
    ("GET", "/v1/nothing", {}, 404),
    ("GET", "/v1/", {}, 404),
    ("GET", "/v1/decisions/unknown", {}, 404),
    ("DELETE", "/v1/decisions", {}, 405),
    ("PATCH", "/v1/openapi.json", {}, 405),
    ("GET", "/v1/decisions", {"Host": "evil.example"}, 400),
    ("GET", "/v1/decisions", {"Host": "two words"}, 400),
    ("GET", "/v1/decisions", {"Authorization": "Bearer no"}, 401),
    ("POST", "/v1/ingest/srf", {"Content_Type": "text/html"}, 415),
    ("GET", "/v1/decisions", {"Accept": "text/html"}, 200),
    ("GET", "/v1/nothing", {"Accept": "text/html"}, 404),
    ("GET", "/v1/decisions/unknown", {"Accept": "image/png"}, 404),
    ("POST", "/v1/ingest/srf/batch", {"Accept": "application/x-ndjson", "Content_Type": "text/plain"}, 415),
    ("OPTIONS", "/v1/decisions", {}, 405),
    ("QUERY", "/v1/decisions", {}, 405),
]


@pytest.mark.parametrize(("method", "path", "headers", "status"), SENTENCES)
def test_every_answer_under_v1_is_json(live_with_and_without_debug, method, path, headers, status):
    with live_with_and_without_debug.client() as client:
        answer = client.request(method, path, b"{}" if status == 415 else None, **headers)
    assert answer.status == status
    assert answer.headers["Content-Type"] == "application/json"
    assert isinstance(answer.json(), dict)
    if status >= 400:
        assert list(answer.json()) == ["detail"]
        assert isinstance(answer.json()["detail"], str)


def test_an_internal_failure_under_v1_is_json(live_with_and_without_debug):
    live = live_with_and_without_debug
    live.sql("ALTER TABLE decisions_decision RENAME TO hidden")
    try:
        with live.client() as client:
            answers = [client.get("/v1/decisions"), client.ingest(b'{"decision_id": "fails"}')]
    finally:
        live.sql("ALTER TABLE hidden RENAME TO decisions_decision")
    for answer in answers:
        assert answer.status in (500, 503)
        assert answer.headers["Content-Type"] == "application/json"
        assert "decisions_decision" not in answer.body.decode()
    with live.client() as client:
        assert client.ingest(b'{"decision_id": "fails"}').status == 201
