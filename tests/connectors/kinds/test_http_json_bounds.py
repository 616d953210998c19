"""Bounds of HTTP APIs: slow, large and endless responses."""

import json
import time
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest

from connectors.kinds import SourceFault
from connectors.kinds.batch_bounds import PAGE_BYTES
from connectors.kinds.http_json import KIND
from connectors.kinds.http_json.answers import Response
from tests.connectors.bombs import MIB, bomb
from tests.connectors.kinds.paged_api import IDS, RECORDS, Serve, paged_by_number, reader_of
from tests.support.reader import Reader
from tests.support.web_server import Reply, Request, json_reply

pytestmark = pytest.mark.once

SIZE = 8 * 2**20
TINY: dict[str, tuple[bytes, dict[str, Any]]] = {
    "numbers": (
        b'{"data":[' + b"1," * (SIZE // 2) + b'1],"next":null}',
        {"pagination": {"kind": "link", "next": "/next"}},
    ),
    "objects": (b"[" + b"{}," * (SIZE // 3) + b"{}]", {"items": ""}),
    "lines": (b"10\n" * (SIZE // 3), {"items": "", "format": "ndjson"}),
    "one line": (b"[" + b"{}," * (SIZE // 3) + b"{}]", {"items": "", "format": "ndjson"}),
}


def slowly(body: bytes) -> Iterator[bytes]:
    for position in range(len(body)):
        time.sleep(0.05)
        yield body[position : position + 1]


def test_a_slow_answer_ends_at_the_deadline(serve: Serve) -> None:
    server = serve(lambda _: Reply(slowly(b" " * 10_000 + json.dumps({"data": RECORDS}).encode())))
    reader = reader_of(server)
    fault = reader.fault(seconds=2)  # shorter than the response takes
    assert fault.cause == "transient"
    assert (reader.failed.name, "in time" in reader.failed.detail) == ("answered", True)


def test_a_page_is_yielded_before_a_slow_next_page(serve: Serve) -> None:
    def answer(request: Request) -> Reply:
        reply = paged_by_number(request)
        return reply if request.query["page"] == "1" else reply._replace(body=slowly(b" " * 10_000))

    reader = reader_of(serve(answer), pagination={"kind": "page"})
    batches = KIND.read(reader.source(seconds=3), {})
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
    body = bomb(8 * PAGE_BYTES // MIB, b" ", start=b"[")
    server = serve(lambda _: Reply(body, headers={"Content-Encoding": "gzip"}))
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


@pytest.mark.parametrize("name", list(TINY))
def test_a_page_of_many_tiny_items_is_never_built_at_once(serve: Serve, name: str) -> None:
    body, config = TINY[name]
    reader = reader_of(serve(lambda _: Reply(body)), **config)
    source = reader.source(batch_items=1)
    tracemalloc.start()
    batch = next(KIND.read(source, {}))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(batch.items) == 1
    assert peak < 8 * SIZE


def test_looking_through_a_page_ends_at_the_deadline() -> None:
    page = Response("https://host/", {}, b"[" + b"[[[]]]," * 1000 + b"1]", deadline=time.monotonic())
    with pytest.raises(SourceFault, match="not enough time") as raised:
        page.items(KIND.Config(url="https://host/"), "page 1")
    assert raised.value.cause == "transient"


def test_a_page_that_takes_longer_than_there_is_time_ends_at_a_batch(serve: Serve) -> None:
    reader = reader_of(serve(lambda _: json_reply({"data": RECORDS})))
    source = reader.source(batch_items=10)
    batches = KIND.read(source, {})
    assert len(next(batches).items) == 10
    source.deadline = time.monotonic()
    assert list(batches) == []


def test_a_bad_item_does_not_spoil_its_page(serve: Serve) -> None:
    reader = reader_of(serve(lambda _: Reply(b'{"data": [{"a": 01}, {"b": 1}]}')))
    assert reader.poll() == [b'{"a": 01}', b'{"b": 1}']


@pytest.mark.parametrize(
    "body", [b"[1]]", b"[1}", b'["a]', b"[1] 2", b"{]", b"[" * 5000 + b"]" * 5000, b"\xff\xfe[\0]\0"]
)
def test_brackets_that_do_not_match_are_no_json(serve: Serve, body: bytes) -> None:
    assert "not JSON" in Reader(KIND, {"url": serve(lambda _: Reply(body)).url}).fault().sentence
