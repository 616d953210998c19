"""Faults of HTTP APIs: no response leads elsewhere or costs too much, and each fault says what to do."""

import gzip
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from config.errors import RETRY_AFTER_SECONDS
from connectors import sources
from connectors.kinds import SourceFault
from connectors.kinds.http_json import KIND
from tests.connectors.kinds.paged_api import IDS, RECORDS, Serve, paged_by_number, read_ids, reader_of
from tests.support.reader import Reader
from tests.support.web_server import Reply, Request, json_reply
from tests.threads import HANGS_SECONDS

pytestmark = pytest.mark.once


def test_the_secret_is_a_bearer_token_unless_a_header_has_its_placeholder(serve: Serve) -> None:
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
    assert [sentence[: len(problem)] for sentence in KIND.check(settings)] == [problem]
    assert KIND.check(KIND.Config.model_validate({"url": "https://host/a?b=c"})) == []


@pytest.mark.parametrize(
    ("reply", "step", "cause", "fix"),
    [
        (json_reply({}, 401), "signed in", "config", "secret_ref"),
        (json_reply({}, 403), "signed in", "config", "permission"),
        (json_reply({}, 404), "listed", "config", "url"),
        (json_reply({}, 418), "listed", "config", "url"),
        (json_reply({}, 500), "listed", "transient", "retried"),
        (json_reply({}, 429), "listed", "transient", "retried"),
        (Reply(b"not gzip", 404, {"Content-Encoding": "gzip"}), "listed", "config", "url"),
        (Reply(b"<html>"), "listed", "config", "not to a page for people"),
        (Reply(b'{"data": [{"decision_id": "d-1"}'), "listed", "config", "Check the url"),
        (Reply(b"[" * 100_000), "listed", "config", "Check the url"),
        (json_reply({"records": []}), "listed", "config", "Set items"),
        (json_reply({"data": {}}), "listed", "config", "Set items"),
        (Reply(b"", 301, {"Location": "https://localhost/"}), "listed", "config", "redirects"),
        (Reply(gzip.compress(b'{"data": []}')[:-9]), "answered", "config", "operator"),
    ],
)
def test_each_fault_names_its_step_and_its_fix(serve: Serve, reply: Reply, step: str, cause: str, fix: str) -> None:
    reader = reader_of(serve(lambda _: reply), secret="s3cret")
    fault = reader.fault()
    assert (reader.failed.name, fault.cause) == (step, cause)
    assert fix in reader.failed.fix
    assert reader.cursor == {}


REACHED = ["address", "connection", "answered"]


@pytest.mark.parametrize(
    ("reply", "config"),
    [
        (Reply(b"<html>"), {}),
        (json_reply({"records": []}), {}),
        (Reply(b'{"decision_id": "d-1"}\n{"deci'), {"format": "ndjson"}),
    ],
)
def test_an_answer_without_a_list_is_shown_once_and_as_failed(
    serve: Serve, reply: Reply, config: dict[str, Any]
) -> None:
    reader = reader_of(serve(lambda _: reply), **config)
    reader.fault()
    assert [(step.name, step.ok) for step in reader.steps] == [*((name, True) for name in REACHED), ("listed", False)]


@pytest.mark.parametrize(
    ("second", "failed"), [(Reply(b"<html>"), "listed"), (Reply(b"{}", headers={"Content-Length": "9"}), "answered")]
)
def test_a_step_that_fails_on_a_later_page_is_shown_once(serve: Serve, second: Reply, failed: str) -> None:
    def answer(request: Request) -> Reply:
        return second if "cursor" in request.query else json_reply({"data": [], "next": "2"})

    reader = reader_of(serve(answer), pagination={"kind": "token", "next": "/next", "parameter": "cursor"})
    reader.fault(seconds=2)
    assert reader.failed.name == failed
    assert len({step.name for step in reader.steps}) == len(reader.steps)


@pytest.mark.parametrize("status", [302, 404, 408, 418, 429, 500])
def test_credentials_count_as_accepted_only_with_an_answer_that_says_so(serve: Serve, status: int) -> None:
    reader = reader_of(serve(lambda _: json_reply({}, status)), secret="s3cret")
    reader.fault()
    assert [step.name for step in reader.steps] == [*REACHED, "listed"]


def test_credentials_are_accepted_before_a_list_is_found(serve: Serve) -> None:
    reader = reader_of(serve(lambda _: json_reply({"data": []})), secret="s3cret")
    reader.poll()
    assert [step.name for step in reader.steps if step.ok] == [*REACHED, "signed in", "listed"]


@pytest.mark.parametrize("status", [401, 403])
def test_a_source_that_asks_for_credentials_where_there_are_none_says_so(serve: Serve, status: int) -> None:
    reader = reader_of(serve(lambda _: json_reply({}, status)))
    assert "asks for credentials" in reader.fault().sentence
    assert (reader.failed.name, reader.failed.fix) == ("signed in", "Name the secret in secret_ref.")


@pytest.mark.parametrize(
    "value", ["1000", lambda: format_datetime(datetime.now(UTC) + timedelta(0, 1000), usegmt=True)]
)
def test_a_busy_source_is_not_polled_before_its_retry_after(serve: Serve, value: Any) -> None:
    text = value if isinstance(value, str) else value()
    fault = reader_of(serve(lambda _: json_reply({}, 429, Retry_After=text))).fault()
    assert 1000 - HANGS_SECONDS < fault.retry_after <= 1000


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
    reader.cursor = {"place": f"{other.url}/"}  # a cursor of an earlier url
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


def test_a_closed_port_is_a_fault_of_the_connection(trusted: Any) -> None:
    reader = Reader(KIND, {"url": "https://localhost:1/"})
    assert reader.fault().cause == "transient"
    assert (reader.failed.name, "firewall" in reader.failed.fix) == ("connection", True)


@pytest.mark.parametrize("first_words", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"-ERR unknown command\r\n", b""])
def test_a_port_that_does_not_speak_tls_is_named(trusted: Any, first_words: bytes) -> None:
    with port_that_answers(first_words) as port:
        reader = Reader(KIND, {"url": f"https://localhost:{port}/"})
        fault = reader.fault()
    assert [(step.name, step.ok) for step in reader.steps] == [("address", True), ("connection", True), ("TLS", False)]
    assert "TLS" in fault.sentence
    assert ("http://" in fault.fix, "port" in fault.fix, "firewall" in fault.fix) == (True, True, False)
    assert fault.cause == ("config" if first_words else "transient")


@contextmanager
def port_that_answers(first_words: bytes) -> Iterator[int]:
    """Accept one connection, read one greeting, send the given words and close."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(2**16)
                connection.sendall(first_words)

        thread = threading.Thread(target=answer)
        thread.start()
        yield listener.getsockname()[1]
        thread.join()


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


@pytest.mark.parametrize("in_header", [True, False])
@pytest.mark.parametrize(
    "link",
    [
        "{other}\\@{own}/stolen",
        "{own}\\@{other}/stolen",
        "//{other_host}\\@{own_host}/stolen",
        "\\\\{other_host}/stolen",
        "http://user@{own_host}/stolen",
        "{other}\t@{own_host}/stolen",
        "{own}/a b",
        "/a\\b",
        "/a\x0bb",
        "http://[oops",
        "http://{own_host}:99999999/",
    ],
)
def test_a_link_that_can_be_read_in_two_ways_is_not_followed(serve: Serve, link: str, in_header: bool) -> None:
    other = serve(lambda _: json_reply({"data": []}), encrypted=False)

    def answer(_: Request) -> Reply:
        hosts = {"other_host": f"localhost:{other.port}", "own_host": f"localhost:{server.port}"}
        address = link.format(other=other.url, own=server.url, **hosts)
        if in_header:
            return json_reply({"data": RECORDS}, Link=f'<{address}>; rel="next"')
        return json_reply({"data": RECORDS, "next": address})

    server = serve(answer, encrypted=False)
    pagination = {"kind": "link"} if in_header else {"kind": "link", "next": "/next"}
    reader = reader_of(server, secret="s3cret", pagination=pagination)
    batches = KIND.read(reader.source(), {})
    first = next(batches)
    assert [json.loads(item.raw)["decision_id"] for item in first.items] == IDS
    with pytest.raises(SourceFault) as raised:
        next(batches)
    assert raised.value.cause == "config"
    assert reader.failed.name == "reading"
    assert (first.cursor, other.requests, len(server.requests)) == ({}, [], 1)


def test_a_link_with_a_backslash_that_an_older_cursor_holds_is_not_followed(serve: Serve) -> None:
    other = serve(lambda _: json_reply({"data": []}), encrypted=False)
    server = serve(lambda _: json_reply({"data": RECORDS}), encrypted=False)
    reader = reader_of(server, secret="s3cret", pagination={"kind": "link"})
    reader.cursor = {"place": f"{other.url}\\@localhost:{server.port}/stolen"}
    assert read_ids(reader) == IDS
    assert other.requests == []


@pytest.mark.parametrize("named", [{}, [1], {"href": "/records"}])
@pytest.mark.parametrize(
    "pagination",
    [{"kind": "link", "next": "/next"}, {"kind": "token", "next": "/next", "parameter": "cursor"}],
)
def test_a_page_with_a_malformed_link_or_token_keeps_its_items(
    serve: Serve, named: Any, pagination: dict[str, str]
) -> None:
    reader = reader_of(serve(lambda _: json_reply({"data": RECORDS, "next": named})), pagination=pagination)
    batches = KIND.read(reader.source(), {})
    assert len(next(batches).items) == len(RECORDS)
    with pytest.raises(SourceFault, match=r"pagination\.next"):
        next(batches)
    assert reader.failed.name == "reading"


@pytest.mark.parametrize("value", ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00+05:00", 10**3999, -(10**30)])
def test_an_unusable_position_does_not_move_the_cursor(serve: Serve, value: Any) -> None:
    server = serve(lambda _: json_reply({"data": [{"at": value}]}))
    reader = reader_of(server, since={"parameter": "after", "field": "/at"})
    (batch,) = reader.batches()
    assert (len(batch.items), batch.behind_seconds, set(reader.cursor)) == (1, None, {"all"})
    reader.cursor = {**reader.cursor, "highest": value}  # of an older version
    reader.ledger.clear()
    assert len(reader.poll()) == 1
