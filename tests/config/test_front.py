"""The front: limits on bodies, deadlines, queues and refusals."""

import asyncio
import errno
import json
import threading

import pytest
from django.db import OperationalError

from config.http import body_reader, fair_turns, request_threads, sender_name
from config.http.application import Front
from config.http.messages import ANONYMOUS, MAX_ANONYMOUS_BYTES
from tests.cases import each_case
from tests.support.loops import run
from tests.threads import HANGS_SECONDS

KIB, MIB = 2**10, 2**20
LENGTH = {"content-length": "5"}


def echo(environ, start_response):
    """Answer in place of Django with what arrived: length, bytes read, and whether the sender was unknown."""
    length = environ.get("CONTENT_LENGTH", "")
    body = environ["wsgi.input"].read()
    start_response("200 OK", [("Content-Type", "application/json")])
    return [json.dumps({"length": length, "read": len(body), "anonymous": environ[ANONYMOUS]}).encode()]


class Exchange:
    """One request to a front, with the chunks of its body. None is a client that stops sending."""

    def __init__(self, *chunks, method="POST", path="/v1/anything", **headers):
        named = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
        self.scope = {
            "type": "http", "http_version": "1.1", "method": method, "path": path, "raw_path": path.encode(),
            "query_string": b"", "scheme": "http", "headers": [(b"host", b"localhost"), *named],
            "server": ("127.0.0.1", "80"), "client": ("192.0.2.1", "5000"),
        }  # fmt: skip
        self.chunks, self.sent, self.leaves, self.is_read = list(chunks), [], asyncio.Event(), False

    async def receive(self):
        if self.is_read:
            await self.leaves.wait()
            return {"type": "http.disconnect"}
        if not self.chunks:
            self.is_read = True
            return {"type": "http.request", "body": b"", "more_body": False}
        chunk = self.chunks.pop(0)
        if chunk is None:
            await asyncio.Event().wait()
        return {"type": "http.request", "body": chunk, "more_body": True}

    async def send(self, message):
        self.sent.append(message)

    @property
    def status(self):
        return self.sent[0]["status"]

    @property
    def headers(self):
        return {name.decode(): value.decode() for name, value in self.sent[0]["headers"]}

    def json(self):
        return json.loads(b"".join(message["body"] for message in self.sent[1:]))


def front(django=echo, anonymous=MIB, known=2 * MIB):
    return Front(django, threads=1, waiting=2, anonymous=anonymous, authenticated=known)


def ask(exchange, asked=None):
    run((asked or front())(exchange.scope, exchange.receive, exchange.send))
    return exchange


@pytest.fixture
def known(monkeypatch):
    """Identify senders by the header `X-Known`."""
    monkeypatch.setattr(sender_name, "identify", lambda environ: environ.get("HTTP_X_KNOWN", ""))


def test_an_anonymous_body_is_read_up_to_64_kib_whether_announced_or_chunked(known):
    size = 100 * KIB
    announced = ask(Exchange(b"x" * size, content_length=str(size)))
    assert announced.json() == {"length": str(size), "read": 0, "anonymous": True}
    chunked = ask(Exchange(*[b"x" * KIB] * 100, transfer_encoding="chunked")).json()
    assert chunked["anonymous"] is True
    assert chunked["read"] <= MAX_ANONYMOUS_BYTES < int(chunked["length"]) + 1


def test_an_authenticated_body_is_read_up_to_the_limit_of_its_type(known):
    size = 100 * KIB
    assert ask(Exchange(*[b"x" * KIB] * 100, content_length=str(size), x_known="1")).json()["read"] == size
    large = ask(Exchange(*[b"x" * MIB] * 9, transfer_encoding="chunked", x_known="1"), front(known=64 * MIB)).json()
    assert large["read"] == 5 * MIB  # one chunk more than 4 MiB, so that Django refuses it as too large
    upload = Exchange(*[b"x" * MIB] * 9, content_type="application/x-ndjson", transfer_encoding="chunked", x_known="1")
    assert ask(upload, front(known=64 * MIB)).json()["read"] == 9 * MIB


def test_an_unread_body_is_drained_so_that_the_client_sees_its_answer(known):
    exchange = ask(Exchange(*[b"x" * KIB] * 200, content_length=str(200 * KIB)))
    assert exchange.chunks == []


@pytest.mark.parametrize("kind", ["application/x-ndjson", "Application/X-NDJSON; charset=utf-8"])
def test_a_media_type_has_no_case(known, kind):
    upload = Exchange(*[b"x" * MIB] * 9, content_type=kind, transfer_encoding="chunked", x_known="1")
    assert ask(upload, front(known=64 * MIB)).json()["read"] == 9 * MIB


def test_one_sender_gets_at_most_half_of_the_memory_budget(known):
    async def two():
        asked = front(known=2 * MIB)
        held = Exchange(b"x" * 900 * KIB, None, content_length=str(MIB), x_known="1")
        holding = asyncio.create_task(asked(held.scope, held.receive, held.send))
        while not asked.reader.authenticated.used:
            await asyncio.sleep(0)
        same, other = (Exchange(b"x" * 500 * KIB, content_length=str(500 * KIB), x_known=name) for name in "12")
        for exchange in (same, other):
            await asked(exchange.scope, exchange.receive, exchange.send)
        holding.cancel()
        await asyncio.gather(holding, return_exceptions=True)
        return same.status, other.status

    assert run(two()) == (503, 200)


def test_a_large_body_during_a_database_outage_is_a_503_rather_than_a_413(known, monkeypatch):
    def out_of_order(environ):
        raise OperationalError

    monkeypatch.setattr(sender_name, "identify", out_of_order)
    exchange = ask(Exchange(b"x" * 100 * KIB, content_length=str(100 * KIB)))
    assert exchange.status == 503
    assert int(exchange.headers["retry-after"]) > 0


def test_a_full_disk_makes_a_large_body_a_503(known, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("config.http.spool.TemporaryFile", full)
    upload = Exchange(*[b"x" * MIB] * 2, content_length=str(2 * MIB), x_known="1")
    assert ask(upload, front(known=64 * MIB)).status == 503


def test_a_client_that_expects_100_continue_is_answered_before_it_sends(known):
    exchange = ask(Exchange(None, content_length=str(MIB), expect="100-continue"))
    assert exchange.json()["anonymous"] is True


@pytest.mark.parametrize("chunks", [[None], [b"x", None], [b"x" * KIB, b"x", None]])
def test_a_body_that_does_not_arrive_in_time_is_a_408(known, monkeypatch, chunks):
    monkeypatch.setattr(body_reader, "_SECONDS", 0.01)
    monkeypatch.setattr(body_reader, "_DRAIN_SECONDS", 0.01)
    exchange = ask(Exchange(*chunks, content_length="5000"))
    assert exchange.status == 408
    assert exchange.headers["connection"] == "close"
    assert list(exchange.json()) == ["detail"]


def test_a_body_that_keeps_arriving_has_more_time(known, monkeypatch):
    """Twenty seconds suffice for the first bytes of any upload, but not for a large one."""
    monkeypatch.setattr(body_reader, "_SECONDS", 1)
    monkeypatch.setattr(body_reader, "_DRAIN_SECONDS", 0.01)

    class Slow(Exchange):
        async def receive(self):
            await asyncio.sleep(0.15)  # so that all of it takes longer than the first bytes may
            return await super().receive()

    def status(bytes_a_second):
        monkeypatch.setattr(body_reader, "_BYTES_A_SECOND", bytes_a_second)
        return ask(Slow(*[b"x" * 100] * 10, content_length="1000")).status

    assert status(1) == 200  # a second more for each byte
    assert status(2**20) == 408


def test_anonymous_bodies_exhaust_only_their_own_budget(known):
    async def many():
        asked, held = front(anonymous=100 * KIB), []
        for _ in range(2):
            exchange = Exchange(b"x" * 45 * KIB, None, content_length=str(50 * KIB))
            held.append(asyncio.create_task(asked(exchange.scope, exchange.receive, exchange.send)))
        while asked.reader.anonymous.used < 90 * KIB:
            await asyncio.sleep(0)
        unknown = Exchange(b"x" * 20 * KIB, content_length=str(20 * KIB))
        sender = Exchange(b"x" * 20 * KIB, content_length=str(20 * KIB), x_known="1")
        for exchange in (unknown, sender):
            await asked(exchange.scope, exchange.receive, exchange.send)
        for task in held:
            task.cancel()
        await asyncio.gather(*held, return_exceptions=True)
        return asked, unknown, sender

    asked, unknown, sender = run(many())
    assert (unknown.status, sender.status) == (503, 200)
    assert int(unknown.headers["retry-after"]) > 0
    assert asked.reader.anonymous.used == asked.reader.authenticated.used == 0, "the bytes are released"


def test_authenticated_bytes_in_flight_are_bounded_too(known):
    exchange = Exchange(*[b"x" * 500 * KIB] * 4, content_length=str(2000 * KIB), x_known="1")
    assert ask(exchange, front(known=MIB)).status == 503


def test_requests_beyond_the_queue_s_limit_are_a_503(known):
    import threading

    goes_on = threading.Event()

    def slow(environ, start_response):
        assert goes_on.wait(HANGS_SECONDS)
        return echo(environ, start_response)

    async def many():
        asked = front(slow)
        exchanges = [Exchange(method="GET") for _ in range(5)]
        tasks = [asyncio.create_task(asked(request.scope, request.receive, request.send)) for request in exchanges]
        alive = Exchange(method="GET", path="/healthz")
        await asyncio.sleep(0)
        await asked(alive.scope, alive.receive, alive.send)
        goes_on.set()
        await asyncio.gather(*tasks)
        return alive, exchanges

    alive, exchanges = run(many())
    assert (alive.status, alive.json()) == (200, {"status": "ok"})
    assert sorted(asking.status for asking in exchanges) == [200, *[503] * 4]  # a group gets half of the queue


@pytest.mark.parametrize("path", ["/v1/anything", "/sign-in/"])
def test_a_body_that_breaks_off_is_a_400_and_reaches_no_view(path):
    """The server reports malformed chunks, a disconnect and a closed sending side in the same way."""

    class Broken(Exchange):
        async def receive(self):
            return {"type": "http.disconnect"}

    def unreached(environ, start_response):
        raise AssertionError

    exchange = ask(Broken(path=path, content_length="5"), front(unreached))
    assert (exchange.status, exchange.headers["connection"]) == (400, "close")
    assert exchange.headers["content-type"].startswith("application/json" if path[1] == "v" else "text/html")


@each_case(
    ("name", "value", "status"),
    [
        ("transfer_encoding", "chunked", 200),
        ("transfer_encoding", " Chunked ,", 200),
        ("transfer_encoding", "gzip, chunked", 501),
        ("transfer_encoding", "chunked, chunked", 501),
        ("transfer_encoding", "identity", 501),
        ("content_encoding", "identity", 200),
        ("content_encoding", "", 200),
        ("content_encoding", "gzip", 415),
        ("content_encoding", "identity, BR", 415),
    ],
)
def test_a_body_in_an_unsupported_coding_is_refused(name, value, status):
    length = {} if name == "transfer_encoding" else LENGTH
    exchange = ask(Exchange(b"hello", **{name: value}, **length))
    assert exchange.status == status
    assert exchange.is_read, "a refused body is drained"
    if status == 415:
        assert exchange.headers["accept-encoding"] == "identity"


def test_a_request_without_a_body_may_name_a_content_coding():
    assert ask(Exchange(method="GET", content_encoding="gzip")).status == 200


def test_an_answer_is_complete_before_its_first_byte_is_sent_however_large(known):
    closed = []

    class Blocks:
        def __iter__(self):
            return iter([b"x" * MIB] * 3)

        def close(self):
            closed.append(True)

    def large(environ, start_response):
        start_response("200 OK", [])
        return Blocks()

    class Reader(Exchange):
        async def send(self, message):
            assert closed
            await super().send(message)

    exchange = ask(Reader(method="GET"), front(large))
    assert sum(len(message.get("body", b"")) for message in exchange.sent) == 3 * MIB
    assert not exchange.sent[-1].get("more_body")


def test_a_header_with_an_underscore_is_not_taken_for_one_with_a_hyphen(known):
    seen = {}

    def look(environ, start_response):
        seen.update(environ)
        return echo(environ, start_response)

    exchange = Exchange(method="GET")
    exchange.scope["headers"] += [(b"x_forwarded_for", b"203.0.113.9"), (b"x-forwarded-for", b"192.0.2.7")]
    ask(exchange, front(look))
    assert seen["HTTP_X_FORWARDED_FOR"] == "192.0.2.7"


def test_threads_are_stuck_once_all_are_taken_and_none_becomes_free(monkeypatch):
    monkeypatch.setattr(request_threads, "STUCK_SECONDS", 0)
    ends = threading.Event()

    async def taken(size):
        pool = request_threads.Threads(echo, size=size, limit=2)
        waiting = asyncio.create_task(pool.run(lambda _: ends.wait(HANGS_SECONDS), {}))
        await asyncio.sleep(0)
        was_stuck = pool.are_stuck()
        ends.set()
        await waiting
        return was_stuck, pool.are_stuck()

    assert run(taken(1)) == (True, False)
    assert run(taken(2)) == (False, False)


class Held:
    """A front whose only thread is busy, and the requests waiting for it."""

    def __init__(self, *waiting):
        self.served = Front(self.django, threads=1, waiting=16, anonymous=MIB, authenticated=MIB)
        self.waiting, self.begun, self.ends, self.paths = waiting, threading.Event(), threading.Event(), []

    def django(self, environ, start_response):
        self.paths.append(environ["PATH_INFO"])
        self.begun.set()
        self.ends.wait(HANGS_SECONDS)
        return echo(environ, start_response)

    async def while_busy(self, act):
        """Call `act` while requests wait. They must end before the thread is free."""
        first = self.ask(Exchange(path="/first"))
        await asyncio.to_thread(self.begun.wait, HANGS_SECONDS)
        tasks = [self.ask(exchange) for exchange in self.waiting]
        act()
        try:
            async with asyncio.timeout(HANGS_SECONDS):
                await asyncio.gather(*tasks)
        finally:
            self.ends.set()
            await first
        return self.paths

    def ask(self, exchange):
        return asyncio.create_task(self.served(exchange.scope, exchange.receive, exchange.send))


def test_a_request_whose_client_disconnected_while_waiting_takes_no_thread(capsys):
    waiting = [Exchange(*body, content_length=str(len(body) * 2)) for body in ([], [b"{}"]) * 3]
    held = Held(*waiting)
    paths = run(held.while_busy(lambda: [exchange.leaves.set() for exchange in waiting]))
    assert paths == ["/first"]
    assert held.served.threads.turns.count == 0
    assert [exchange.sent for exchange in waiting] == [[]] * len(waiting)
    assert capsys.readouterr().err.count('"status": 499') == len(waiting)


def test_a_request_that_has_waited_too_long_is_a_503(monkeypatch):
    monkeypatch.setattr(fair_turns, "MAX_WAIT_SECONDS", 0.01)
    waiting = [Exchange(method="GET"), Exchange(b"{}", content_length="2")]
    assert run(Held(*waiting).while_busy(lambda: None)) == ["/first"]
    assert [(exchange.status, exchange.headers["retry-after"]) for exchange in waiting] == [(503, "5")] * 2


def test_a_group_that_fills_its_share_of_threads_gets_a_503_while_another_is_answered(monkeypatch):
    ends, begun = threading.Event(), threading.Event()

    def slow(environ, start_response):
        if environ["PATH_INFO"] == "/slow":
            begun.set()
            ends.wait(HANGS_SECONDS)
        return echo(environ, start_response)

    async def asked(exchange):
        await served(exchange.scope, exchange.receive, exchange.send)
        return exchange

    async def scenario():
        first = asyncio.create_task(asked(Exchange(path="/slow")))
        await asyncio.to_thread(begun.wait, HANGS_SECONDS)
        crowd = [asyncio.create_task(asked(Exchange(path="/slow"))) for _ in range(3)]
        await asyncio.sleep(0)
        refused = await asked(Exchange(path="/slow"))
        other = Exchange()
        other.scope["client"] = ("198.51.100.7", "5000")
        answered = await asked(other)
        ends.set()
        await asyncio.gather(first, *crowd)
        return refused, answered

    served = Front(slow, threads=2, waiting=8, anonymous=MIB, authenticated=MIB)
    refused, answered = run(scenario())
    assert (refused.status, refused.headers["retry-after"]) == (503, "5")
    assert answered.status == 200
