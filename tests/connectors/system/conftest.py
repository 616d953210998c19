import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.broker import Broker
from tests.support.workers import Workers
from tests.system.live import Server, server

RUN_OUT = "UPDATE connectors_connector SET lease_until = '2000-01-01 00:00:00+00:00' WHERE lease_token IS NOT NULL"


class Source:
    """A folder of records, and the connector that reads it."""

    def __init__(self, live: Server, folder: Path) -> None:
        self.live, self.folder, self.name = live, folder, folder.name
        folder.mkdir()
        self.source_id = ""

    def put(self, file: str, numbers: range) -> None:
        """Records in a file that was written a minute ago; it appears at once and whole."""
        hidden = self.folder.parent / f".{self.name}"
        hidden.write_text("".join(f'{{"decision_id": "{self.name}-{number}"}}\n' for number in numbers))
        os.utime(hidden, (time.time() - 60,) * 2)
        hidden.rename(self.folder / file)

    def connect(self) -> None:
        settings = {"kind": "directory", "name": self.name, "config": {"path": str(self.folder)}}
        with self.live.client() as client:
            body = json.dumps({**settings, "schedule_seconds": 86_400}).encode()
            answer = client.request("POST", "/v1/connectors", body)
        assert answer.status == 201, answer.body
        assert answer.json()["problems"] == []
        self.source_id = answer.json()["source_id"]

    def shown(self) -> Any:
        with self.live.client() as client:
            return client.get(f"/v1/connectors/{self.source_id}").json()

    def patch(self, **changes: Any) -> None:
        with self.live.client() as client:
            answer = client.request("PATCH", f"/v1/connectors/{self.source_id}", json.dumps(changes).encode())
        assert answer.status == 200, answer.body

    def delete(self) -> None:
        with self.live.client() as client:
            assert client.request("DELETE", f"/v1/connectors/{self.source_id}").status == 200

    def poll_soon(self) -> None:
        with self.live.client() as client:
            assert client.request("POST", f"/v1/connectors/{self.source_id}/poll").status == 200

    def records(self) -> int:
        """Return how many records are in custody. The database refuses a second record of one `decision_id`."""
        return count(self.live, f"SELECT count(*) FROM decisions_decision WHERE decision_id LIKE '{self.name}-%'")

    def outcomes(self) -> list[str]:
        """Return the outcomes of its polls in order."""
        rows = self.live.sql(
            "SELECT outcome FROM connectors_pollrun r JOIN connectors_connector c ON c.id = r.connector_id "
            f"WHERE c.name = '{self.name}' ORDER BY r.id"
        )
        return [outcome for (outcome,) in rows]


def count(live: Server, statement: str) -> int:
    return int(live.sql(statement)[0][0])


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    running = Broker()
    running.start()
    yield running
    running.kill()


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("folders")


@pytest.fixture(scope="module")
def live(folders: Path, broker: Broker) -> Iterator[Server]:
    """Run one installation for the tests of a module. Only workers that a test starts poll."""
    with server(workers=1, CONNECTOR_DIRECTORIES=str(folders), REDIS_URL=broker.url) as running:
        yield running


@pytest.fixture(scope="module")
def working(live: Server) -> Workers:
    return Workers(live)


@pytest.fixture
def source(live: Server, folders: Path) -> Iterator[Callable[[str], Source]]:
    """Return a function that makes sources, and delete their connectors after the test."""
    made: list[Source] = []

    def make(name: str) -> Source:
        made.append(Source(live, folders / name))
        return made[-1]

    yield make
    with live.client() as client:
        for made_source in made:
            client.request("DELETE", f"/v1/connectors/{made_source.source_id}")
