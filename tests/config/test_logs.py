"""The log at DEBUG level: one JSON object a line, with the request's id and without private text."""

import json
import re
from collections.abc import Iterator

import pytest

from tests.support import forks
from tests.system.live import Client, Server, server, wait_until

pytestmark = pytest.mark.boots

CANARY = "canary-b81e"


@pytest.fixture(scope="module")
def talkative() -> Iterator[Server]:
    with server(LOG_LEVEL="DEBUG", LOG_FORMAT="json") as running:
        yield running


@pytest.fixture
def client(talkative: Server) -> Iterator[Client]:
    with talkative.client() as connected:
        yield connected


def lines(live: Server) -> list[dict]:
    return [json.loads(line) for line in live.log.read_text().splitlines()]


def logged(live: Server, request_id: str) -> list[dict]:
    """Return the lines of one request, once the last, the event `request`, is written."""

    def complete() -> list[dict]:
        mine = [line for line in lines(live) if line.get("request_id") == request_id]
        return mine if any(line["event"] == "request" for line in mine) else []

    return wait_until(complete, "the request is logged")


def test_a_request_is_one_line_of_json_with_the_id_of_its_answer(talkative, client):
    answer = client.get(f"/v1/decisions/{CANARY}-1")
    (line,) = logged(talkative, answer.headers["X-Request-ID"])
    assert line.pop("milliseconds") > 0
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", line.pop("timestamp"))
    assert line == {
        "event": "request",
        "level": "info",
        "method": "GET",
        "route": "v1/decisions/<any:decision_id>",
        "status": 404,
        "request_id": answer.headers["X-Request-ID"],
    }


def test_a_caller_s_request_id_is_used(talkative, client):
    answer = client.request("GET", "/v1/decisions", X_Request_ID="trace-1.2_3-abc")
    assert answer.headers["X-Request-ID"] == "trace-1.2_3-abc"
    assert logged(talkative, "trace-1.2_3-abc")


HOSTILE = [
    "short",
    "x" * 65,
    'quote"quote"',
    "two words",
    "new\tline",
    "<script>",
    "ümlaut-ümlaut",
    '{"a": "json"}',
    "",
]


@pytest.mark.parametrize("offered", HOSTILE)
def test_an_invalid_request_id_is_replaced(talkative, client, offered):
    client.connection.putrequest("GET", "/v1/decisions")
    client.connection.putheader("Authorization", f"Bearer {client.key}")
    client.connection.putheader("X-Request-ID", offered.encode())
    client.connection.endheaders()
    response = client.connection.getresponse()
    response.read()
    given = response.headers["X-Request-ID"]
    assert re.fullmatch("[0-9a-f]{32}", given)
    assert logged(talkative, given)


def test_an_error_is_logged_with_the_same_id_as_its_request(talkative, client):
    talkative.sql("ALTER TABLE decisions_decision RENAME TO hidden")
    try:
        answer = client.get(f"/v1/decisions/{CANARY}-2")
    finally:
        talkative.sql("ALTER TABLE hidden RENAME TO decisions_decision")
    events = {line["event"]: line for line in logged(talkative, answer.headers["X-Request-ID"])}
    assert answer.status == events["request"]["status"] in (500, 503)
    fault = events["request failed"]["exception"]
    assert fault[0]["type"] in ("ProgrammingError", "OperationalError")
    assert any("decisions/selectors.py" in frame for frame in fault[0]["frames"])


def test_no_part_of_a_refused_record_is_logged(talkative, client):
    private = b'{"decision_id": "%s-3", "subject": {"name": "%s"}}' % (CANARY.encode(), CANARY.encode())
    wrong = [
        private,
        private,
        private.replace(b"subject", b"changed"),
        private[:-1],
        private.replace(b"{", b'{"a": NaN, ', 1),
        private.replace(b"{", b'{"%s": 1, "%s": 2, ' % (CANARY.encode(), CANARY.encode()), 1),
        b"\xff" + private,
        private.replace(b'"decision_id"', b'"other"'),
    ]
    statuses = [client.ingest(record).status for record in wrong]
    assert statuses == [201, 200, 409, 422, 422, 422, 422, 422]
    batch = client.request("POST", "/v1/ingest/srf/batch", b"\n".join(wrong), Content_Type="application/x-ndjson")
    assert batch.status == 200
    for path in ("", "/record", "/receipt", "/record/record"):
        client.get(f"/v1/decisions/{CANARY}-3{path}")
    client.get(f"/v1/decisions?action={CANARY}&cursor={CANARY}&unknown={CANARY}")
    client.request("GET", "/v1/decisions", Authorization=f"Bearer {CANARY}")
    client.request("GET", "/v1/decisions", Host=f"{CANARY}.example")
    client.request("GET", "/v1/decisions", User_Agent=CANARY, Cookie=f"sessionid={CANARY}", Referer=CANARY)
    client.request("POST", f"/sign-in/?next={CANARY}", f"email={CANARY}")
    client.get(f"/{CANARY}")
    # The message of a violated constraint quotes the row.
    talkative.sql("CREATE UNIQUE INDEX one_action ON decisions_decision (action)")
    try:
        answer = client.ingest(b'{"decision_id": "%s-4", "outcome": {"action": ""}}' % CANARY.encode())
    finally:
        talkative.sql("DROP INDEX one_action")
    assert (answer.status, CANARY in answer.body.decode()) == (500, False)
    logged(talkative, answer.headers["X-Request-ID"])
    assert "IntegrityError" in talkative.log.read_text()
    assert CANARY not in talkative.log.read_text()
    assert client.key.split("_", 2)[2] not in talkative.log.read_text()


FAULTS = """
import logging, structlog
try:
    try:
        raise KeyError("CANARY")
    except KeyError as cause:
        raise ValueError("Key (subject)=(CANARY) already exists") from cause
except ValueError as error:
    logging.getLogger("library").exception("failed for %s", "CANARY", stack_info=True)
    logging.getLogger("library").error("failed", exc_info=error)
    structlog.get_logger().exception("failed")
    structlog.get_logger().error("failed", exc_info=error)
    structlog.get_logger().debug("failed", exc_info=(type(error), error, error.__traceback__))
"""


def test_a_fault_is_logged_as_types_and_frames_without_its_message(talkative):
    done = forks.run(forks.MANAGE, talkative.environment, "shell", "-c", FAULTS.replace("CANARY", CANARY))
    written = [json.loads(line) for line in done.stderr.splitlines()]
    faults = [line for line in written if line["event"].startswith("failed")]
    assert [[described["type"] for described in line["exception"]] for line in faults] == [
        ["ValueError", "KeyError"]
    ] * 5
    assert faults[0]["event"] == "failed for %s"
    assert CANARY not in done.stdout + done.stderr


def test_codes_and_addresses_of_people_are_not_logged(talkative, client):
    asked = client.request("POST", "/v1/auth/otp/request", b'{"email": "owner@live.example"}')
    assert asked.status == 200
    code = b'{"email": "owner@live.example", "code": "123987"}'
    answer = client.request("POST", "/v1/auth/otp/verify", code)
    assert answer.status == 401
    logged(talkative, answer.headers["X-Request-ID"])
    text = talkative.log.read_text()
    assert "owner@live.example" not in text
    assert "123987" not in text


def test_every_line_is_json_with_an_event_a_level_and_a_time(talkative, client):
    client.get("/v1/decisions")
    assert all({"event", "level", "timestamp"} <= set(line) for line in lines(talkative))
