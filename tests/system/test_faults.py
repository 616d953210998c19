"""Power cuts: an acknowledged record is never lost."""

import http.client
import itertools
import json
import random
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from tests.system.live import Client, Server, listens, server, wait_until

CALLERS = 4
LOST = (OSError, http.client.HTTPException)  # the connection broke, so the result of the request is unknown


@dataclass
class Load:
    """Callers that post distinct records until they are stopped, and remember the acknowledged ones.

    After a lost answer, a caller sends the same record again or, half the time, gives it up.
    """

    live: Server
    rng: random.Random
    receipts: dict[str, dict] = field(default_factory=dict)
    unanswered: set[str] = field(default_factory=set)
    refused: list[tuple[int, bytes]] = field(default_factory=list)
    stopping: threading.Event = field(default_factory=threading.Event)

    def record(self, decision_id: str) -> bytes:
        filling = random.Random(decision_id).choices("abcdefgh ", k=4000)
        return json.dumps({"decision_id": decision_id, "note": "".join(filling)}).encode()

    def post_until_stopped(self, caller: int) -> None:
        client = self.live.client()
        for number in itertools.count():
            if self.stopping.is_set():
                break
            client = self.post(client, f"{caller}-{number}")
        client.close()

    def post(self, client: Client, decision_id: str) -> Client:
        """Post a record, and return the connection for the next one."""
        while not self.stopping.is_set():
            try:
                answer = client.ingest(self.record(decision_id))
            except LOST:
                client.close()
                client = self.live.client()
                self.unanswered.add(decision_id)
                self.wait_for_the_server()
                if self.rng.random() < 0.5:
                    break
                continue
            if answer.status in (200, 201):
                self.receipts[decision_id] = answer.json()
            else:
                self.refused.append((answer.status, answer.body))
            break
        return client

    def wait_for_the_server(self) -> None:
        wait_until(lambda: self.stopping.is_set() or listens(self.live.port), "the server is back")


@contextmanager
def load_on(live: Server, rng: random.Random) -> Iterator[Load]:
    load = Load(live, rng)
    callers = [threading.Thread(target=load.post_until_stopped, args=(n,)) for n in range(CALLERS)]
    for caller in callers:
        caller.start()
    try:
        yield load
    finally:
        load.stopping.set()
        for caller in callers:
            caller.join()


@pytest.fixture
def rng() -> random.Random:
    """Return a random generator. pytest shows the seed of a failed test, so that the test can be repeated."""
    seed = random.SystemRandom().getrandbits(32)
    sys.stdout.write(f"seed {seed}\n")
    return random.Random(seed)


@pytest.mark.parametrize(("vault", "kills"), [("database", 6), pytest.param("filesystem", 4, marks=pytest.mark.once)])
def test_killing_every_process_at_random_moments_loses_no_acknowledged_record(vault, kills, rng):
    with server(CUSTODY_VAULT=vault) as live:
        with load_on(live, rng) as load:
            for _ in range(kills):
                goal = len(load.receipts) + rng.randint(1, 25)
                wait_until(lambda goal=goal: len(load.receipts) >= goal, "some records are acknowledged")
                live.kill()
                live.start()
        assert not load.refused
        assert live.answered_by_lane() > 0
        assert load.unanswered, "no kill hit a request"
        finish_what_the_kills_left(live)
        every_acknowledged_record_is_there(live, load)
        what_was_never_answered_can_be_sent_again(live, load)
        rows_and_objects_match(live, vault)


def finish_what_the_kills_left(live: Server) -> None:
    live.sql("UPDATE custody_waitingobject SET lease_until = '2000-01-01 00:00:00'")
    live.manage("custody_reconcile")
    assert live.sql("SELECT count(*) FROM custody_entry WHERE state <> 'stored'") == [(0,)]


def every_acknowledged_record_is_there(live: Server, load: Load) -> None:
    with live.client() as client:
        for decision_id, receipt in load.receipts.items():
            assert client.get(f"/v1/decisions/{decision_id}/record").body == load.record(decision_id)
            assert client.get(f"/v1/decisions/{decision_id}/receipt").json() == receipt


def what_was_never_answered_can_be_sent_again(live: Server, load: Load) -> None:
    with live.client() as client:
        for decision_id in load.unanswered:
            assert client.ingest(load.record(decision_id)).status in (200, 201)


def rows_and_objects_match(live: Server, vault: str) -> None:
    """Check that there are exactly one custody row, one index row and one object for each id."""
    rows = {f"{hex_of(key)}" for (key,) in live.sql("SELECT record_id FROM custody_entry")}
    index = [hex_of(key) for (key,) in live.sql("SELECT record_id FROM decisions_decision")]
    ids = [key for (key,) in live.sql("SELECT decision_id FROM decisions_decision")]
    assert len(set(ids)) == len(ids)
    assert (len(index), set(index)) == (len(rows), rows)
    in_database = {key.rpartition("/")[2] for (key,) in live.sql("SELECT key FROM custody_sealedobject")}
    files = live.data_dir.glob("vault/*/records/*/[0-9a-f]*")
    on_disk = {path.name for path in files}
    assert (in_database, on_disk) == ((rows, set()) if vault == "database" else (set(), rows))


def hex_of(key: object) -> str:
    return str(key).replace("-", "")
