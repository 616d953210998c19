"""Growing HTTP APIs: new pages are read whatever the validators cover, and circular pages are a fault."""

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from hashlib import sha256
from typing import Any

import pytest

from connectors.kinds import SourceFault
from tests.connectors.kinds.paged_api import IDS, RECORDS, Serve, read_ids, reader_of
from tests.support.web_server import Reply, Request, json_reply

pytestmark = pytest.mark.once

LINK = {"kind": "link"}
TOKEN = {"kind": "token", "next": "/next", "parameter": "start"}
PAGINATIONS = [
    LINK,
    {"kind": "link", "next": "/link"},
    TOKEN,
    {"kind": "page", "parameter": "page"},
    {"kind": "offset", "parameter": "start"},
]


class Api:
    """Pages of ten records, with ETags that cover the list alone."""

    def __init__(self, count: int, *, links_on_304: bool = True) -> None:
        self.records, self.links_on_304 = RECORDS[:count], links_on_304
        self.statuses: list[int] = []

    def next(self, start: int) -> int | None:
        return start + 10 if start + 10 < len(self.records) else None

    def __call__(self, request: Request) -> Reply:
        reply = self.answer(request, 10 * int(request.query.get("page", "1")) - 10 + int(request.query.get("start", 0)))
        self.statuses.append(reply.status)
        return reply

    def answer(self, request: Request, start: int) -> Reply:
        listed, following = self.records[start : start + 10], self.next(start)
        link = f"/records?start={following}" if following is not None else None
        headers = {"Link": f'<{link}>; rel="next"'} if link else {}
        tag = f'"{sha256(json.dumps(listed).encode()).hexdigest()}"'
        if request.headers.get("If-None-Match") == tag:
            return Reply(b"", 304, {"ETag": tag} | (headers if self.links_on_304 else {}))
        return json_reply({"data": listed, "link": link, "next": following}, ETag=tag, **headers)


@pytest.mark.parametrize("links_on_304", [True, False])
@pytest.mark.parametrize("pagination", PAGINATIONS)
def test_pages_added_later_are_read(serve: Serve, pagination: Any, links_on_304: bool) -> None:
    reader = reader_of(serve(api := Api(10, links_on_304=links_on_304)), pagination=pagination)
    for count in (10, 20, 25):
        known, api.records = len(reader.ledger) and len(api.records), RECORDS[:count]
        assert read_ids(reader) == IDS[known:count]
    api.statuses.clear()
    assert (read_ids(reader), api.statuses[:2]) == ([], [304, 304])
    assert set(api.statuses[3:]) <= {200}


def test_a_304_leads_to_the_page_that_its_own_link_names(serve: Serve) -> None:
    reader = reader_of(serve(api := Api(20)), pagination=LINK)
    assert read_ids(reader) == IDS[:20]
    api.records = RECORDS
    api.next = lambda start: {0: 15}.get(start)  # type: ignore[method-assign]
    assert read_ids(reader) == IDS[15:25]


def test_a_remembered_page_that_leads_to_a_gone_page_is_requested_again(serve: Serve) -> None:
    api = Api(20, links_on_304=False)

    def answer(request: Request) -> Reply:
        return json_reply({}, 410) if api.next(0) == 12 and request.query.get("start") == "10" else api(request)

    reader = reader_of(serve(answer), pagination=LINK)
    assert read_ids(reader) == IDS[:20]
    api.records = RECORDS
    api.next = lambda start: {0: 12, 12: 22}.get(start)  # type: ignore[method-assign]
    reader.fault()
    assert read_ids(reader) == IDS[12:25]


@pytest.mark.parametrize(("age", "is_sent"), [(timedelta(0), False), (timedelta(days=1), True)])
def test_a_time_of_change_is_sent_back_once_it_tells_versions_apart(
    serve: Serve, age: timedelta, is_sent: bool
) -> None:
    modified = format_datetime(datetime.now(UTC) - age, usegmt=True)
    server = serve(lambda _: json_reply({"data": RECORDS}, **{"Last-Modified": modified}))
    reader = reader_of(server)
    assert (read_ids(reader), read_ids(reader)) == (IDS, [])
    assert [request.headers.get("If-Modified-Since") for request in server.requests] == [
        None,
        modified if is_sent else None,
    ]


def test_a_source_that_ignores_the_page_gets_no_more_requests_with_each_poll(serve: Serve) -> None:
    server = serve(lambda request: Api(25).answer(request, 0))
    reader = reader_of(server, pagination={"kind": "page"})
    assert [read_ids(reader) for _ in range(4)] == [IDS[:10], [], [], []]
    assert len(server.requests) == 8


@pytest.mark.parametrize("pagination", [LINK, {"kind": "link", "next": "/link"}, TOKEN])
@pytest.mark.parametrize("length", [2, 3, 7])
@pytest.mark.parametrize("limits", [{}, {"max_batches": 1}])
def test_pages_that_lead_in_a_circle_are_a_fault(serve: Serve, pagination: Any, length: int, limits: Any) -> None:
    api = Api(25)
    api.answer = lambda request, start: circle(request, start, length)  # type: ignore[method-assign]
    server = serve(api)
    reader = reader_of(server, pagination=pagination)
    with pytest.raises(SourceFault, match="in a circle"):
        all(read_ids(reader, **limits) or True for _ in range(100))
    assert reader.failed.name == "reading"
    assert len(server.requests) <= 4 * length
    for _ in range(2):
        assert "in a circle" in reader.fault().sentence
    assert len(server.requests) <= 4 * length + 2
    assert len(reader.ledger) == length + 1, "the first page has two addresses"


def circle(request: Request, start: int, length: int) -> Reply:
    following = (start + 1) % length
    tag = f'"{start}"'
    headers = {"ETag": tag, "Link": f'</records?start={following}>; rel="next"'}
    if request.headers.get("If-None-Match") == tag:
        return Reply(b"", 304, headers)
    body = {"data": RECORDS[start : start + 1], "link": f"/records?start={following}", "next": str(following)}
    return json_reply(body, **headers)
