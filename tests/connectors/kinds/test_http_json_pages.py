"""Remembered pages: an unchanged page is not read twice, and a large page is continued by the next poll."""

import json
import time
from typing import Any

import pytest
import time_machine
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connectors.kinds.http_json import KIND
from connectors.kinds.http_json.memory import TRUSTED_SECONDS
from tests.connectors.kinds.paged_api import IDS, RECORDS, Serve, read_ids, reader_of
from tests.support.reader import Reader
from tests.support.web_server import Reply, Request, json_reply

pytestmark = pytest.mark.once


class Api:
    """Numbered pages with validators, whose envelopes change with each response."""

    def __init__(self, records: list[dict[str, Any]] = RECORDS, size: int = 10, validator: str = "ETag") -> None:
        self.pages = [records[start : start + size] for start in range(0, len(records), size)]
        self.validator, self.asked = validator, []

    def __call__(self, request: Request) -> Reply:
        number = int(request.query.get("page", "1"))
        listed = self.pages[number - 1] if number <= len(self.pages) else []
        tag = f'"{hash(json.dumps(listed))}"' if self.validator == "ETag" else "Thu, 01 Jan 2026 10:00:00 GMT"
        condition = {"ETag": "If-None-Match", "Last-Modified": "If-Modified-Since"}.get(self.validator, "")
        sent = request.headers.get(condition)
        self.asked.append(sent)
        if sent == tag:
            return Reply(b"", status=304)
        headers = {self.validator: tag} if self.validator else {}
        return json_reply({"at": time.time_ns(), "data": listed}, **headers)


@pytest.mark.parametrize("validator", ["ETag", "Last-Modified", ""])
def test_a_page_that_has_not_changed_is_not_taken_again(serve: Serve, validator: str) -> None:
    api = Api(validator=validator)
    reader = reader_of(serve(api), pagination={"kind": "page"})
    assert (read_ids(reader), read_ids(reader)) == (IDS, [])
    assert (None in api.asked[4:7]) == (not validator)
    assert api.asked[7] is None, "the last page, which is empty, is asked for without conditions"
    api.pages[1][0:1] = [{"decision_id": "new"}]
    if validator != "Last-Modified":
        assert read_ids(reader)[0] == "new"


def test_a_wrong_304_is_trusted_for_a_day(serve: Serve) -> None:
    reader = reader_of(serve(api := Api(validator="Last-Modified")), pagination={"kind": "page"})
    assert read_ids(reader) == IDS
    api.pages[0] = [{"decision_id": "missed"}]
    assert read_ids(reader) == []
    with time_machine.travel(time.time() + TRUSTED_SECONDS + 1, tick=True):
        assert read_ids(reader) == ["missed"]


def test_a_304_to_a_request_without_conditions_is_a_fault(serve: Serve) -> None:
    reader = reader_of(serve(lambda _: Reply(b"", status=304)))
    assert "not changed (HTTP 304), although the request had no conditions" in reader.fault().sentence
    assert (reader.failed.name, "If-None-Match" in reader.failed.fix) == ("listed", True)


def test_other_settings_make_every_page_a_new_one(serve: Serve) -> None:
    server = serve(Api(RECORDS[:10]))
    reader = reader_of(server)
    assert read_ids(reader) == IDS[:10]
    changed = {"url": f"{server.url}/records", "items": "/data", "map": {"fields": {"decision_id": "/at"}}}
    reader.config = KIND.Config.model_validate(changed)
    assert len(reader.poll()) == 10


def test_a_page_larger_than_a_poll_is_read_in_several_and_begins_again_once_it_changes(serve: Serve) -> None:
    reader = reader_of(serve(api := Api(size=25)))
    polls = [read_ids(reader, batch_items=4, max_batches=2) for _ in range(3)]
    assert polls == [IDS[:8], IDS[8:16], IDS[16:24]]
    api.pages[0] = [{"decision_id": "first"}, *api.pages[0]]
    assert read_ids(reader) == ["first", *IDS]


@given(data=st.data())
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_pages_that_change_between_interrupted_polls_lose_no_item(serve: Serve, data: Any) -> None:
    """Kill each poll after some batches, sometimes before its last cursor is stored, and change pages in between."""
    api = Api(size=7)
    api.pages = [list(page) for page in api.pages]
    reader = reader_of(serve(api), pagination={"kind": "page"})
    ingested: set[str] = set()
    for _ in range(data.draw(st.integers(1, 6))):
        ingested |= _cut_off(reader, data.draw(st.integers(1, 5)), data.draw(st.booleans()))
        if data.draw(st.booleans()):
            page = data.draw(st.sampled_from(api.pages))
            page.insert(data.draw(st.integers(0, len(page))), {"decision_id": f"late-{len(ingested)}-{len(page)}"})
    for _ in range(2):
        ingested |= set(read_ids(reader))
    assert ingested == {record["decision_id"] for page in api.pages for record in page}


def _cut_off(reader: Reader, batches: int, dies: bool) -> set[str]:
    """Return the ids of one poll. A poll that dies has its last batch in custody, and its old cursor."""
    ingested, before = set(), (reader.cursor, reader.ledger)
    for batch in KIND.read(reader.source(batch_items=3), reader.cursor):
        ingested |= {json.loads(item.raw)["decision_id"] for item in batch.items}
        before = reader.cursor, reader.ledger
        reader.keep(batch)
        batches -= 1
        if not batches:
            break
    if dies:
        reader.cursor, reader.ledger = before
    return ingested
