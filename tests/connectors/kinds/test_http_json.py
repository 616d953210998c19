"""An API is read to its last page, however it pages; nothing of it leads elsewhere, and each fault says what to do."""

import gzip
import json
import time
import tracemalloc
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from config.errors import RETRY_AFTER_SECONDS
from connectors import sources
from connectors.kinds import SourceFault
from connectors.kinds.http_json import KIND
from connectors.kinds.limits import PAGE_BYTES
from tests.support.reader import Reader
from tests.support.web_server import Reply, Request, WebServer, json_reply

pytestmark = pytest.mark.once
Serve = Callable[..., WebServer]

RECORDS = [{"decision_id": f"d-{number}", "at": f"2026-01-01T00:{number:02}:00Z"} for number in range(25)]
IDS = [record["decision_id"] for record in RECORDS]


def read_ids(reader: Reader, **limits: Any) -> list[str]:
    return [json.loads(raw)["decision_id"] for raw in reader.poll(**limits)]


def paged_by_number(request: Request) -> Reply:
    page = int(request.query["page"])
    return json_reply({"data": RECORDS[(page - 1) * 10 : page * 10]})


def paged_by_offset(request: Request) -> Reply:
    offset = int(request.query["offset"])
    return json_reply({"data": RECORDS[offset : offset + 7]})


def paged_by_token(request: Request) -> Reply:
    start = int(request.query.get("cursor", "0"))
    following = str(start + 10) if start + 10 < len(RECORDS) else None
    return json_reply({"data": RECORDS[start : start + 10], "meta": {"next": following}})


def paged_by_link(request: Request) -> Reply:
    start = int(request.query.get("from", "0"))
    more = {"Link": f'</records?from={start + 10}>; rel="next", </records>; rel="first"'} if start + 10 < 25 else {}
    return json_reply({"data": RECORDS[start : start + 10]}, **more)


def paged_by_link_in_the_body(request: Request) -> Reply:
    start = int(request.query.get("from", "0"))
    return json_reply(
        {"data": RECORDS[start : start + 10], "next": f"?from={start + 10}" if start + 10 < len(RECORDS) else None}
    )


EACH_PAGINATION = pytest.mark.parametrize(
    ("answer", "pagination"),
    [
        (paged_by_number, {"kind": "page"}),
        (paged_by_offset, {"kind": "offset"}),
        (paged_by_token, {"kind": "token", "next": "/meta/next", "parameter": "cursor"}),
        (paged_by_link, {"kind": "link"}),
        (paged_by_link_in_the_body, {"kind": "link", "next": "/next"}),
    ],
)


def reader_of(server: WebServer, secret: str = "", **config: Any) -> Reader:
    return Reader(KIND, {"url": f"{server.url}/records", "items": "/data", **config}, secret)


@EACH_PAGINATION
def test_each_pagination_is_read_to_its_end(serve: Serve, answer: Any, pagination: dict[str, str]) -> None:
    reader = reader_of(serve(answer), pagination=pagination)
    assert read_ids(reader) == IDS
    assert read_ids(reader) == IDS  # without `since` everything is asked for again
    assert [step.name for step in reader.steps] == ["address", "connection", "answered", "signed in", "listed"]


@EACH_PAGINATION
def test_a_poll_that_is_cut_off_goes_on_at_its_page(serve: Serve, answer: Any, pagination: dict[str, str]) -> None:
    reader = reader_of(serve(answer), pagination=pagination)
    found: list[str] = []
    for _ in range(9):
        found += read_ids(reader, most_batches=1)
    assert set(found) == set(IDS)
    assert found[:25] == IDS


@EACH_PAGINATION
def test_small_batches_lose_nothing(serve: Serve, answer: Any, pagination: dict[str, str]) -> None:
    reader = reader_of(serve(answer), pagination=pagination)
    assert read_ids(reader, batch_items=3) == IDS
    # Cut off within a page, it is read from its beginning.
    assert set(read_ids(reader, batch_items=3, most_batches=5) + read_ids(reader)) == set(IDS)


def test_items_come_byte_for_byte(serve: Serve) -> None:
    body = b'{"data" :[ {"decision_id":"d-1" , "n":1.50e2,\n"big":12345678901234567890123} ,{"decision_id":"\\u00fc"}]}'
    reader = reader_of(serve(lambda _: Reply(body)))
    assert reader.poll() == [
        b'{"decision_id":"d-1" , "n":1.50e2,\n"big":12345678901234567890123}',
        b'{"decision_id":"\\u00fc"}',
    ]


def test_a_list_may_be_the_whole_answer_and_an_answer_may_be_lines(serve: Serve) -> None:
    array = serve(lambda _: json_reply(RECORDS))
    assert read_ids(Reader(KIND, {"url": array.url})) == IDS
    lines = b"".join(json.dumps(record).encode() + b"\n" for record in RECORDS)
    named = serve(lambda _: Reply(lines, headers={"Content-Type": "application/x-ndjson"}))
    assert read_ids(Reader(KIND, {"url": named.url})) == IDS
    unnamed = serve(lambda _: Reply(lines.rstrip()))
    assert read_ids(Reader(KIND, {"url": unnamed.url, "format": "ndjson"})) == IDS
    single = serve(lambda _: json_reply(RECORDS[0]))
    assert read_ids(Reader(KIND, {"url": single.url, "format": "json"})) == IDS[:1]


def test_a_feed_of_changes_goes_on_from_its_last_token(serve: Serve) -> None:
    records = RECORDS[:3]

    def feed(request: Request) -> Reply:
        start = int(request.query.get("after", "0"))
        return json_reply({"data": records[start:], "next": len(records)})

    reader = reader_of(serve(feed), pagination={"kind": "token", "next": "/next", "parameter": "after"})
    assert read_ids(reader) == IDS[:3]
    assert read_ids(reader) == []
    records += RECORDS[3:5]
    assert read_ids(reader) == IDS[3:5]


def test_pages_that_a_filter_leaves_empty_do_not_end_the_reading(serve: Serve) -> None:
    def sparse(request: Request) -> Reply:
        start = int(request.query.get("cursor", "0"))
        data = RECORDS[:1] if start == 5 else []
        return json_reply({"data": data, "next": str(start + 1) if start < 5 else None})

    reader = reader_of(serve(sparse), pagination={"kind": "token", "next": "/next", "parameter": "cursor"})
    assert read_ids(reader) == IDS[:1]


def test_a_feed_without_an_end_does_not_hold_a_poll(serve: Serve) -> None:
    def endless(request: Request) -> Reply:
        return json_reply({"data": [], "next": int(request.query.get("cursor", 0)) + 1})

    server = serve(endless)
    reader = reader_of(server, pagination={"kind": "token", "next": "/next", "parameter": "cursor"})
    assert read_ids(reader) == []
    assert len(server.requests) <= 21
    read_ids(reader)
    assert server.requests[-1].query["cursor"] == "39"


def test_a_token_that_is_good_no_more_begins_a_new_pass(serve: Serve) -> None:
    def forgetful(request: Request) -> Reply:
        return json_reply({}, 410) if "cursor" in request.query else json_reply({"data": RECORDS, "next": "t"})

    reader = reader_of(serve(forgetful), pagination={"kind": "token", "next": "/next", "parameter": "cursor"})
    reader.cursor = {"place": "expired"}
    assert read_ids(reader, most_batches=1) == IDS
    assert all(step.ok for step in reader.steps)


def test_a_source_that_answers_not_found_after_its_last_page_has_ended(serve: Serve) -> None:
    def strict(request: Request) -> Reply:
        reply = paged_by_number(request)
        return reply if json.loads(reply.body)["data"] else json_reply({}, 404)  # type: ignore[arg-type]

    assert read_ids(reader_of(serve(strict), pagination={"kind": "page"})) == IDS


def test_a_source_that_ignores_the_page_is_read_once(serve: Serve) -> None:
    server = serve(lambda _: json_reply({"data": RECORDS}))
    assert read_ids(reader_of(server, pagination={"kind": "page"})) == IDS
    assert len(server.requests) == 2


def test_since_asks_from_a_lag_before_the_highest_value_seen(serve: Serve) -> None:
    server = serve(lambda _: json_reply({"data": RECORDS}))
    reader = reader_of(server, since={"parameter": "updated_after", "field": "/at", "lag": 60})
    (batch,) = reader.batches()
    assert "updated_after" not in server.requests[0].query
    assert batch.behind_seconds == pytest.approx(
        (datetime.now(UTC) - datetime(2026, 1, 1, 0, 24, tzinfo=UTC)).total_seconds(), abs=60
    )
    reader.poll()
    assert server.requests[1].query["updated_after"] == "2026-01-01T00:23:00Z"


def test_since_stays_the_same_within_a_pass(serve: Serve) -> None:
    server = serve(paged_by_number)
    reader = reader_of(server, pagination={"kind": "page"}, since={"parameter": "after", "field": "/at"})
    reader.poll(most_batches=1)
    reader.poll()
    assert [request.query.get("after") for request in server.requests] == [None] * 4
    reader.poll(most_batches=1)
    assert server.requests[4].query["after"] == "2026-01-01T00:19:00Z"


def test_a_number_can_be_what_since_compares(serve: Serve) -> None:
    server = serve(lambda _: json_reply({"data": [{"id": 7}, {"id": 1000}, {"id": "x"}, {"id": True}, {}]}))
    reader = reader_of(server, since={"parameter": "min", "field": "/id", "lag": 50})
    reader.poll()
    reader.poll()
    assert server.requests[1].query["min"] == "950"


def test_a_time_yet_to_come_leaves_nothing_out(serve: Serve) -> None:
    server = serve(lambda _: json_reply({"data": [{"at": "2099-01-01T00:00:00Z"}]}))
    reader = reader_of(server, since={"parameter": "after", "field": "/at", "lag": 0})
    reader.poll()
    assert datetime.fromisoformat(reader.cursor["since"]) <= datetime.now(UTC)


def test_the_secret_is_a_bearer_token_or_stands_where_a_header_says(serve: Serve) -> None:
    server = serve(lambda _: json_reply({"data": []}))
    reader_of(server, secret="s3cret").poll()
    assert server.requests[0].headers["Authorization"] == "Bearer s3cret"
    reader_of(server, secret="s3cret", headers={"X-Api-Key": "{secret}", "X-Tenant": "bank"}).poll()
    assert server.requests[1].headers["X-Api-Key"] == "s3cret"
    assert server.requests[1].headers["X-Tenant"] == "bank"
    assert "Authorization" not in server.requests[1].headers
    reader_of(server).poll()
    assert "Authorization" not in server.requests[2].headers


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ({"url": "ftp://host/"}, "url: "),
        ({"url": "https:///path"}, "url: "),
        ({"url": "https://[broken/"}, "url: "),
        ({"url": "https://user:password@host/"}, "url: Leave out user and password"),
        ({"url": "https://host/#part"}, "url: "),
        ({"headers": {"Host": "other"}}, "headers: Host is set"),
        ({"headers": {"X-Api-Key": "abc"}}, "headers: X-Api-Key holds a secret"),
        ({"headers": {"Cookie": "session=1"}}, "headers: Cookie holds a secret"),
        ({"headers": {"X-A": "a\r\nX-B: b"}}, "headers: The value of X-A"),
        ({"headers": {"X A": "a"}}, "headers: A header's name"),
    ],
)
def test_settings_that_cannot_work_are_problems(config: dict[str, Any], problem: str) -> None:
    settings = KIND.Config.model_validate({"url": "https://host/", **config})
    assert [found[: len(problem)] for found in KIND.check(settings)] == [problem]
    assert KIND.check(KIND.Config.model_validate({"url": "https://host/a?b=c"})) == []


@pytest.mark.parametrize(
    ("reply", "step", "cause", "mend"),
    [
        (json_reply({}, 401), "signed in", "config", "secret_ref"),
        (json_reply({}, 403), "signed in", "config", "permission"),
        (json_reply({}, 404), "listed", "config", "url"),
        (json_reply({}, 418), "listed", "config", "url"),
        (json_reply({}, 500), "listed", "transient", "retried"),
        (json_reply({}, 429), "listed", "transient", "retried"),
        (Reply(b"<html>"), "listed", "config", "not to a page for people"),
        (Reply(b'{"data": [{"decision_id": "d-1"}'), "listed", "config", "Check the url"),
        (Reply(b"[" * 100_000), "listed", "config", "Check the url"),
        (json_reply({"records": []}), "listed", "config", "Set items"),
        (json_reply({"data": {}}), "listed", "config", "Set items"),
        (Reply(b"", 301, {"Location": "https://localhost/"}), "listed", "config", "redirects"),
        (Reply(gzip.compress(b'{"data": []}')[:-9]), "answered", "config", "Ask"),
    ],
)
def test_each_fault_names_its_step_and_its_mend(serve: Serve, reply: Reply, step: str, cause: str, mend: str) -> None:
    reader = reader_of(serve(lambda _: reply))
    fault = reader.fault()
    assert (reader.failed.name, fault.cause) == (step, cause)
    assert mend in reader.failed.fix
    assert reader.cursor == {}


@pytest.mark.parametrize("value", ["7", lambda: format_datetime(datetime.now(UTC) + timedelta(seconds=8), usegmt=True)])
def test_a_busy_source_is_left_alone_as_long_as_it_says(serve: Serve, value: Any) -> None:
    text = value if isinstance(value, str) else value()
    fault = reader_of(serve(lambda _: json_reply({}, 429, Retry_After=text))).fault()
    assert fault.retry_after in (6, 7, 8)


@pytest.mark.parametrize("value", ["soon", "-5", "99999999999999999999", "", "Sun, 22 Nov 2026 04:51:04"])
def test_a_retry_after_that_makes_no_sense_does_no_harm(serve: Serve, value: str) -> None:
    assert reader_of(serve(lambda _: json_reply({}, 429, Retry_After=value))).fault().retry_after in (
        RETRY_AFTER_SECONDS,
        24 * 3600,
    )


def test_a_fault_in_the_middle_keeps_what_came_before(serve: Serve) -> None:
    broken = [True]

    def failing(request: Request) -> Reply:
        return json_reply({}, 500) if request.query["page"] == "3" and broken[0] else paged_by_number(request)

    reader = reader_of(serve(failing), pagination={"kind": "page"})
    assert reader.fault().cause == "transient"
    broken[0] = False
    assert read_ids(reader) == IDS[20:]


def test_a_redirect_is_not_followed(serve: Serve) -> None:
    private = serve(lambda _: json_reply({"data": RECORDS}), encrypted=False)
    location = f"http://127.0.0.1:{private.port}/latest/meta-data"
    server = serve(lambda _: Reply(b"", 302, {"Location": location}))
    assert "redirects" in reader_of(server).fault().sentence
    assert private.requests == []


def test_a_link_to_another_host_is_not_followed(serve: Serve) -> None:
    other = serve(lambda _: json_reply({"data": []}))
    server = serve(lambda _: json_reply({"data": RECORDS}, Link=f'<{other.url}/>; rel="next"'))
    reader = reader_of(server, secret="s3cret", pagination={"kind": "link"})
    assert "another host" in reader.fault().sentence
    reader.cursor = {"place": f"{other.url}/"}  # kept from when the url was another one
    reader.fault()
    assert other.requests == []


def test_a_private_address_is_refused(serve: Serve, settings: Any) -> None:
    server = serve(lambda _: json_reply({"data": RECORDS}))
    settings.ALLOWED_PRIVATE_HOSTS = []
    reader = reader_of(server)
    assert reader.fault().cause == "config"
    assert reader.failed.name == "address"
    assert "ALLOWED_PRIVATE_HOSTS" in reader.failed.fix
    assert server.requests == []


def test_a_name_that_changes_its_address_is_looked_up_once(
    serve: Serve, resolver: dict[str, list[list[str]]], settings: Any
) -> None:
    settings.ALLOWED_PRIVATE_HOSTS = ["127.0.0.1"]
    server = serve(paged_by_number, "api.example.org")
    resolver["api.example.org"] = [["127.0.0.1"], ["169.254.169.254"]]
    reader = Reader(
        KIND,
        {"url": f"https://api.example.org:{server.port}/", "items": "/data", "pagination": {"kind": "page"}},
    )
    assert read_ids(reader) == IDS
    assert reader.fault().sentence.startswith("This host is not on the public internet")


def test_without_encryption_only_a_host_that_is_allowed_is_spoken_to(
    serve: Serve, resolver: dict[str, list[list[str]]], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(lambda _: json_reply({"data": RECORDS}), encrypted=False)
    assert read_ids(reader_of(server)) == IDS
    resolver["public.example.org"] = [["93.184.216.34"]]
    reader = Reader(KIND, {"url": "http://public.example.org/"})
    assert "not be encrypted" in reader.fault().sentence
    assert reader.failed.name == "address"


def test_a_host_that_does_not_resolve_names_the_step(resolver: dict[str, list[list[str]]]) -> None:
    reader = Reader(KIND, {"url": "https://no-such-host.invalid/"})
    assert reader.fault().cause == "config"
    assert (reader.failed.name, "spelling" in reader.failed.fix) == ("address", True)


@pytest.mark.parametrize(
    ("names", "valid", "is_trusted"),
    [
        (["other.example.org"], timedelta(days=1), True),
        (["localhost"], timedelta(days=-1), True),
        (["localhost"], timedelta(days=1), False),
    ],
)
def test_a_certificate_that_proves_nothing_is_refused(
    serve: Serve, settings: Any, names: list[str], valid: timedelta, is_trusted: bool
) -> None:
    server = serve(lambda _: json_reply({"data": []}), *names, valid=valid)
    if not is_trusted:
        settings.TRUSTED_CA_FILE = ""
    reader = reader_of(server)
    assert reader.fault().cause == "config"
    assert reader.failed.name == "connection"
    assert "certificate" in reader.failed.fix
    assert server.requests == []


def test_a_port_where_nobody_listens_and_a_server_without_tls_are_faults_of_the_connection(serve: Serve) -> None:
    plain = serve(lambda _: json_reply({}), encrypted=False)
    for port in (1, plain.port):
        reader = Reader(KIND, {"url": f"https://localhost:{port}/"})
        assert reader.fault().cause == "transient"
        assert reader.failed.name == "connection"


def slowly(body: bytes) -> Iterator[bytes]:
    for position in range(len(body)):
        time.sleep(0.05)
        yield body[position : position + 1]


def test_a_slow_answer_ends_at_the_deadline(serve: Serve) -> None:
    server = serve(lambda _: Reply(slowly(json.dumps({"data": RECORDS}).encode())))
    reader = reader_of(server)
    began = time.monotonic()
    fault = reader.fault(seconds=0.7)
    assert time.monotonic() - began < 3
    assert fault.cause == "transient"
    assert (reader.failed.name, "in time" in reader.failed.detail) == ("answered", True)


def test_a_page_is_given_before_the_next_one_turns_out_to_be_slow(serve: Serve) -> None:
    def answer(request: Request) -> Reply:
        reply = paged_by_number(request)
        return reply if request.query["page"] == "1" else reply._replace(body=slowly(b" " * 1000))

    reader = reader_of(serve(answer), pagination={"kind": "page"})
    batches = KIND.read(reader.source(seconds=1), {})
    first = next(batches)
    assert [json.loads(item.raw)["decision_id"] for item in first.items] == IDS[:10]
    assert first.cursor["place"] == 2
    with pytest.raises(SourceFault, match="in time"):
        next(batches)


def test_half_an_answer_is_no_answer(serve: Serve) -> None:
    body = b'{"decision_id": "d-1"}\n{"decision_id": "d-'
    cut_off = serve(lambda _: Reply(body, headers={"Content-Length": "1000"}))
    for server in (cut_off, serve(lambda _: Reply(iter([body])))):
        reader = Reader(KIND, {"url": server.url, "format": "ndjson"})
        assert reader.fault(seconds=2).cause == "transient"
        assert reader.cursor == {}


def test_a_gzip_bomb_is_refused_without_being_unpacked(serve: Serve) -> None:
    bomb = gzip.compress(b"[" + b" " * (8 * PAGE_BYTES) + b"]")
    server = serve(lambda _: Reply(bomb, headers={"Content-Encoding": "gzip"}))
    tracemalloc.start()
    fault = Reader(KIND, {"url": server.url}).fault()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert fault.cause == "config"
    assert peak < 3 * PAGE_BYTES


def test_an_answer_without_end_is_refused(serve: Serve) -> None:
    def endless() -> Iterator[bytes]:
        while True:
            yield b" " * 2**16

    server = serve(lambda _: Reply(endless()))
    assert "larger than" in Reader(KIND, {"url": server.url}).fault().sentence


def test_gzip_is_asked_for_and_understood(serve: Serve) -> None:
    def packed(request: Request) -> Reply:
        assert request.headers["Accept-Encoding"] == "gzip"
        return Reply(gzip.compress(json.dumps(RECORDS).encode()), headers={"Content-Encoding": "gzip"})

    assert read_ids(Reader(KIND, {"url": serve(packed).url})) == IDS


def test_neither_proxies_nor_passwords_of_the_process_are_used(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    (tmp_path / ".netrc").write_text("machine localhost login root password toor\n")
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    server = serve(lambda _: json_reply({"data": RECORDS}))
    assert read_ids(reader_of(server)) == IDS
    assert "Authorization" not in server.requests[0].headers


def test_a_secret_that_no_header_can_hold_is_not_sent(serve: Serve) -> None:
    server = serve(lambda _: json_reply({"data": []}))
    for secret in ("a\r\nX-Other: b", "schlüssel"):
        reader = reader_of(server, secret=secret)
        fault = reader.fault()
        assert secret not in str(fault) + fault.sentence + fault.fix
        assert reader.failed.name == "signed in"
    assert server.requests == []


def test_a_header_may_hold_the_place_of_the_secret_and_no_secret() -> None:
    headers = {"X-Api-Key": "{secret}", "Authorization": "Token {secret}", "X-Token": "abc"}
    checked = sources.check("http_json", {"url": "https://host/", "headers": headers}, "env:DRS_SECRET_FEED")
    assert set(checked.config["headers"]) == {"X-Api-Key", "Authorization"}
    assert [problem.split(":")[0] for problem in checked.problems] == ["config.headers.X-Token"]
