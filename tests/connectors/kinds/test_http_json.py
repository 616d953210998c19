"""HTTP APIs: each pagination is read to its last page, and the next poll continues from there."""

import json
import time
from datetime import UTC, datetime
from typing import Any

import pytest

from connectors.kinds.http_json import KIND
from tests.connectors.kinds.paged_api import IDS, RECORDS, Serve, paged_by_number, read_ids, reader_of
from tests.support.reader import Reader
from tests.support.web_server import Reply, Request, json_reply
from tests.threads import HANGS_SECONDS

pytestmark = pytest.mark.once


def paged_by_offset(request: Request) -> Reply:
    offset = int(request.query["offset"])
    return json_reply({"data": RECORDS[offset : offset + 7]})


def paged_by_number_from_0(request: Request) -> Reply:
    page = int(request.query["page"])
    return json_reply({"data": RECORDS[page * 10 : (page + 1) * 10]})


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


@EACH_PAGINATION
def test_each_pagination_is_read_to_its_end(serve: Serve, answer: Any, pagination: dict[str, str]) -> None:
    reader = reader_of(serve(answer), pagination=pagination)
    assert read_ids(reader) == IDS
    assert [step.name for step in reader.steps] == ["address", "connection", "answered", "listed"]


@EACH_PAGINATION
def test_an_interrupted_poll_continues_at_its_page(serve: Serve, answer: Any, pagination: dict[str, str]) -> None:
    reader = reader_of(serve(answer), pagination=pagination)
    read: list[str] = []
    for _ in range(9):
        read += read_ids(reader, max_batches=1)
    assert set(read) == set(IDS)
    assert read[:25] == IDS


@EACH_PAGINATION
def test_small_batches_lose_nothing(serve: Serve, answer: Any, pagination: dict[str, str]) -> None:
    reader = reader_of(serve(answer), pagination=pagination)
    assert read_ids(reader, batch_items=3) == IDS
    reader.forget()
    assert read_ids(reader, batch_items=3, max_batches=5) + read_ids(reader) == IDS  # cut off within a page


@pytest.mark.parametrize(
    ("answer", "pagination", "positions"),
    [
        (paged_by_number, {"kind": "page"}, ["page 1, item 1", "page 2, item 1", "page 3, item 1"]),
        (paged_by_number_from_0, {"kind": "page", "first": 0}, ["page 0, item 1", "page 1, item 1", "page 2, item 1"]),
        (paged_by_offset, {"kind": "offset"}, ["offset 0, item 1", "offset 7, item 1", "offset 14, item 1"]),
        (
            paged_by_token,
            {"kind": "token", "next": "/meta/next", "parameter": "cursor"},
            ["page 1, item 1", "page 2, item 1", "page 3, item 1"],
        ),
        (paged_by_link, {"kind": "link"}, ["page 1, item 1", "page 2, item 1", "page 3, item 1"]),
    ],
)
def test_a_position_says_on_which_page_an_item_is(
    serve: Serve, answer: Any, pagination: dict[str, Any], positions: list[str]
) -> None:
    batches = reader_of(serve(answer), pagination=pagination).batches()
    assert [batch.items[0].position for batch in batches if batch.items][:3] == positions


def test_a_position_in_the_only_answer_names_no_page(serve: Serve) -> None:
    items = reader_of(serve(lambda _: json_reply({"data": RECORDS}))).items()
    assert [item.position for item in items[:2]] == ["the answer, item 1", "the answer, item 2"]


def test_a_line_has_a_position_on_its_page(serve: Serve) -> None:
    lines = b"".join(json.dumps(record).encode() + b"\n" for record in RECORDS[:2])
    reader = reader_of(serve(lambda _: Reply(lines)), format="ndjson", pagination={"kind": "page"})
    assert [item.position for item in reader.items()] == ["page 1, item 1", "page 1, item 2"]


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


def test_an_expired_token_begins_a_new_pass(serve: Serve) -> None:
    def forgetful(request: Request) -> Reply:
        return json_reply({}, 410) if "cursor" in request.query else json_reply({"data": RECORDS, "next": "t"})

    reader = reader_of(serve(forgetful), pagination={"kind": "token", "next": "/next", "parameter": "cursor"})
    reader.cursor = {"place": "expired"}
    assert read_ids(reader, max_batches=1) == IDS
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
        (datetime.now(UTC) - datetime(2026, 1, 1, 0, 24, tzinfo=UTC)).total_seconds(), abs=HANGS_SECONDS
    )
    reader.poll()
    assert server.requests[1].query["updated_after"] == "2026-01-01T00:23:00Z"


def test_since_stays_the_same_within_a_pass(serve: Serve) -> None:
    server = serve(paged_by_number)
    reader = reader_of(server, pagination={"kind": "page"}, since={"parameter": "after", "field": "/at"})
    reader.poll(max_batches=1)
    reader.poll()
    assert [request.query.get("after") for request in server.requests] == [None] * 4
    reader.poll(max_batches=1)
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


def test_items_hidden_by_a_wrong_value_of_since_are_read_within_a_day(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = [{"seq": 1}, {"seq": 999_999_999}]

    def answer(request: Request) -> Reply:
        return json_reply({"data": [item for item in items if item["seq"] >= int(request.query.get("min", 0))]})

    server = serve(answer)
    reader = reader_of(server, since={"parameter": "min", "field": "/seq", "lag": 0})
    reader.poll()
    items[1:] = [{"seq": 2}]
    assert reader.poll() == []
    now = time.time()
    monkeypatch.setattr("connectors.kinds.http_json.passes.time.time", lambda: now + 86401)
    assert len(reader.poll()) == 2
    reader.poll()
    assert [request.query.get("min") for request in server.requests] == [None, "999999999", None, "2"]


def test_a_full_read_continues_without_since_to_its_last_page(serve: Serve) -> None:
    server = serve(paged_by_number)
    reader = reader_of(server, pagination={"kind": "page"}, since={"parameter": "after", "field": "/at"})
    reader.cursor = {"since": "2026-01-01T00:19:00Z", "highest": "2030-01-01T00:00:00Z"}  # a cursor of an older version
    reader.poll(max_batches=2)
    reader.poll()
    assert [request.query.get("after") for request in server.requests] == [None] * 4
    assert reader.cursor["since"] == "2026-01-01T00:19:00Z"
