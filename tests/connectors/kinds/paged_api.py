"""An API of 25 records, and a reader of it."""

import json
from collections.abc import Callable
from typing import Any

from connectors.kinds.http_json import KIND
from tests.support.reader import Reader
from tests.support.web_server import Reply, Request, WebServer, json_reply

Serve = Callable[..., WebServer]

RECORDS = [{"decision_id": f"d-{number}", "at": f"2026-01-01T00:{number:02}:00Z"} for number in range(25)]
IDS = [record["decision_id"] for record in RECORDS]


def reader_of(server: WebServer, secret: str = "", **config: Any) -> Reader:
    return Reader(KIND, {"url": f"{server.url}/records", "items": "/data", **config}, secret)


def read_ids(reader: Reader, **limits: Any) -> list[str]:
    return [json.loads(raw)["decision_id"] for raw in reader.poll(**limits)]


def paged_by_number(request: Request) -> Reply:
    page = int(request.query["page"])
    return json_reply({"data": RECORDS[(page - 1) * 10 : page * 10]})
