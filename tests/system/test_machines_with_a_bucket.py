"""Two machines that share only PostgreSQL, Redis, a bucket and the master key.

Each has a web server, a worker, a clock and its own DATA_DIR.
"""

import itertools
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import pytest

from tests import databases
from tests.support.aws_server import REGION, AwsServer, aws_server
from tests.support.broker import Broker
from tests.support.machines import Machine
from tests.support.web_server import Reply, Request
from tests.system.live import Client, wait_until
from tests.system.test_faults import LOST, hex_of

pytestmark = pytest.mark.once  # machines share a database server
CALLERS = 6
RECORDS = 5
"""Acknowledged records of each caller before and after a machine dies."""


class Gate:
    """A gate in front of the bucket. While it is closed, every put waits, and may then be lost."""

    def __init__(self, bucket: AwsServer) -> None:
        self._answer, bucket.front.answer = bucket.front.answer, self._pass
        self._open, self.loses = threading.Event(), False
        self.waiting: list[Request] = []
        self._open.set()

    def _pass(self, request: Request) -> Reply:
        if request.method == "PUT" and not self._open.is_set():
            self.waiting.append(request)
            self._open.wait()
            if self.loses:
                raise ConnectionError
        return self._answer(request)

    @contextmanager
    def closed(self, *, loses: bool) -> Iterator[None]:
        self.waiting, self.loses = [], loses
        self._open.clear()
        try:
            yield
        finally:
            self._open.set()


class Place(NamedTuple):
    machines: tuple[Machine, Machine]
    bucket: AwsServer
    gate: Gate

    @property
    def config(self) -> dict[str, str]:
        named = {"bucket": "records", "region": REGION, "secret_ref": "env:DRS_SECRET_BUCKET"}
        return {**named, "endpoint": self.bucket.url, "sts_endpoint": self.bucket.url}

    def record_ids(self) -> Counter[str]:
        """Return the record ids of all objects in the bucket, counting their versions."""
        pages = self.bucket.client("s3").get_paginator("list_object_versions").paginate(Bucket="records")
        keys = [version["Key"] for page in pages for version in page.get("Versions", ())]
        return Counter(key.rpartition("/")[2] for key in keys if "/records/" in key)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    directory, broker = tmp_path_factory.mktemp("machines"), Broker()
    with aws_server() as bucket, databases.installation(None, directory / "installed", "database") as (url, key):
        s3 = bucket.client("s3")
        s3.create_bucket(Bucket="records")
        s3.put_bucket_versioning(Bucket="records", VersioningConfiguration={"Status": "Enabled"})
        broker.start()
        shared = {
            "DATABASE_URL": url,
            "REDIS_URL": broker.url,
            "MASTER_KEY": (directory / "installed/keys/master_key").read_text(),
            "DRS_SECRET_BUCKET": bucket.person("keeper", ("s3:*", "arn:aws:s3:::records*")),
            "ALLOWED_PRIVATE_HOSTS": "localhost",
        }
        both = Machine(directory / "first", shared), Machine(directory / "second", shared)
        try:
            for machine in both:
                machine.key = key
                machine.start()
            yield Place(both, bucket, Gate(bucket))
        finally:
            for machine in both:
                machine.end()
            broker.kill()


def choose(machine: Machine, provider: str, config: dict[str, str] | None = None) -> str:
    """Choose the storage target of new records, and return its id."""
    with machine.client() as client:
        chosen = client.request("PUT", "/v1/custody", json.dumps({"provider": provider, "config": config or {}}))
    assert chosen.status == 200, chosen.body
    return str(chosen.json()["target_id"])


def each_sees_within_a_second(clients: list[Client], change: Callable[[], Any], now: Callable[[Client], Any]) -> None:
    """Check that every request that starts a second after a change sees it. The duration of a request does not count,
    so a busy computer causes no failure. All clients also ask during the change, so that they cache the old state.

    Args:
        now: returns the state that a client sees.
    """
    before = [now(client) for client in clients]
    with ThreadPoolExecutor(1) as pool:
        changing = pool.submit(change)
        while not changing.done():
            for client in clients:
                now(client)
        changing.result()
    changed, blind = time.monotonic(), list(zip(clients, before, strict=True))
    while blind:
        begun = time.monotonic() - changed
        blind = [(client, then) for client, then in blind if now(client) == then]
        assert not blind or begun <= 1, f"a request that began {begun:.2f} s after the change does not see it"


numbers = itertools.count()


def ingest(client: Client) -> Any:
    """Ingest another record, and return its receipt."""
    answer = client.ingest(b'{"decision_id": "seen-%d"}' % next(numbers))
    assert answer.status == 201, answer.body
    return answer.json()


def target_of(place: Place, client: Client) -> str:
    """Ingest another record, and return its storage target."""
    pk = ingest(client)["record_id"]
    rows = place.machines[0].sql(f"SELECT vault FROM custody_entry WHERE record_id IN ('{pk}', '{hex_of(pk)}')")
    return str(rows[0][0])


def signing_key_of(client: Client) -> str:
    """Ingest another record, and return its signing key."""
    return str(ingest(client)["key_id"])


@pytest.fixture
def both(place: Place) -> Iterator[list[Client]]:
    """Yield a client of each machine."""
    with place.machines[0].client() as first, place.machines[1].client() as second:
        yield [first, second]


def test_a_new_organization_works_on_both_machines_at_once(place):
    first, second = place.machines
    first.manage("create_organization", "New Bank", "--owner", "owner@new.example", "--slug", "new")
    token = first.manage("create_api_key", "--organization", "new", "--name", "n", "--role", "sender")
    with first.client(token) as here, second.client(token) as there:
        assert ingest(there)["key_id"] == ingest(here)["key_id"]
    with first.client() as here, second.client() as there:
        first_answer, again = here.ingest(record("shared")), there.ingest(record("shared"))
        assert (first_answer.status, again.status, again.json()) == (201, 200, first_answer.json())
        assert there.get("/v1/decisions/shared/record").body == record("shared")
    assert not any((machine.data_dir / "keys").exists() for machine in place.machines)  # they create no keys


def test_a_rotation_is_seen_by_both_machines_within_a_second(place, both):
    rotation = ["custody_rotate_key", "--organization", "live-bank", "--purpose", "signing"]
    before = ingest(both[1])
    each_sees_within_a_second(both, lambda: place.machines[0].manage(*rotation), signing_key_of)
    assert both[1].get(f"/v1/decisions/{before['decision_id']}/receipt").json() == before


def test_a_revoked_key_is_refused_by_both_machines_within_a_second(place):
    first, second = place.machines
    with first.client() as owner:
        key = owner.request("POST", "/v1/auth/api-keys", b'{"name": "lost", "role": "sender"}').json()
        path = f"/v1/auth/api-keys/{key['key_id']}"
        with first.client(key["api_key"]) as here, second.client(key["api_key"]) as there:
            revoke = lambda: owner.request("DELETE", path)  # noqa: E731
            each_sees_within_a_second([here, there], revoke, lambda client: client.get("/v1/decisions").status)
            assert {client.get("/v1/decisions").status for client in (here, there)} == {401}


def test_a_changed_target_is_seen_by_both_machines_within_a_second(place, both):
    first, _ = place.machines
    now = partial(target_of, place)
    assert [now(client) for client in both] == ["database"] * 2
    each_sees_within_a_second(both, lambda: choose(first, "aws", place.config), now)
    each_sees_within_a_second(both, lambda: choose(first, "deployment"), now)
    assert [now(client) for client in both] == ["database"] * 2


@dataclass
class Callers:
    """Callers that send one record after another, half of them first to each machine. Without an answer, a caller turns
    to the other machine: most send the same record again, some give it up."""

    place: Place
    run: str
    receipts: dict[str, Any] = field(default_factory=dict)
    given_up: set[str] = field(default_factory=set)
    acknowledged: list[int] = field(default_factory=lambda: [0] * CALLERS)
    stopping: threading.Event = field(default_factory=threading.Event)

    def send(self, caller: int) -> None:
        machines = itertools.cycle(self.place.machines[:: -1 if caller % 2 else 1])
        gives_up = caller // 2 % 2 == 1
        client = next(machines).client()
        for number in itertools.count():
            decision_id = f"{self.run}-{caller}-{number}"
            while self.receipts.get(decision_id) is None:
                try:
                    answer = client.ingest(record(decision_id))
                except LOST:
                    client.close()
                    client = next(machines).client()
                    if gives_up:
                        self.given_up.add(decision_id)
                        break
                    continue
                if answer.status != 503:
                    assert answer.status in (200, 201), answer.body
                    self.receipts[decision_id] = answer.json()
                    self.acknowledged[caller] += 1
            if self.stopping.is_set():
                return client.close()


def record(decision_id: str) -> bytes:
    return b'{"decision_id": "%s", "amount": 1.50}' % decision_id.encode()


@contextmanager
def load(place: Place, run: str) -> Iterator[tuple[Callers, Callable[[], None]]]:
    """Yield callers, and a function that waits until each of them has `RECORDS` more acknowledged records."""
    with ThreadPoolExecutor(CALLERS) as pool:
        callers = Callers(place, run)
        at_work = [pool.submit(callers.send, number) for number in range(CALLERS)]

        def go_on() -> None:
            goals = [done + RECORDS for done in callers.acknowledged]
            wait_until(
                lambda: (
                    any(future.done() for future in at_work)
                    or all(done >= goal for done, goal in zip(callers.acknowledged, goals, strict=True))
                ),
                "every caller goes on",
            )

        try:
            yield callers, go_on
        finally:
            callers.stopping.set()
        for future in at_work:
            future.result()


@pytest.mark.parametrize(("dies", "survives"), [(0, 1), (1, 0)], ids=["the first", "the second"])
def test_after_a_machine_dies_the_other_has_all_its_acknowledged_and_started_records(place, dies, survives):
    dead, living = place.machines[dies], place.machines[survives]
    for machine in place.machines:
        if machine.process is None:
            machine.start()
    bucket = choose(living, "aws", place.config)
    for machine in place.machines:
        with machine.client() as client:
            wait_until(lambda client=client: target_of(place, client) == bucket, "its records go to the bucket")
    run = f"load-{dies}"
    with load(place, run) as (callers, go_on):
        go_on()
        with place.gate.closed(loses=bool(dies)):
            # Some callers wait for others of their machine, whose puts would first have to fail.
            reserved = lambda: dead.sql("SELECT 1 FROM custody_waitingobject")  # noqa: E731
            wait_until(lambda: len(reserved()) >= CALLERS, "each caller's record is reserved")
            wait_until(lambda: len(place.gate.waiting) > 1, "some are on their way")
            dead.kill()
        assert reserved(), "no record was left unfinished"
        dead.sql("UPDATE custody_waitingobject SET lease_until = '2000-01-01 00:00:00'")
        go_on()
    assert callers.given_up
    wait_until(lambda: not reserved(), "the other machine finishes the started records")
    with living.client() as client:
        for decision_id, receipt in callers.receipts.items():
            again = client.ingest(record(decision_id))
            assert (again.status, again.json()) == (200, receipt)
        for decision_id in callers.given_up:
            assert client.get(f"/v1/decisions/{decision_id}/record").body == record(decision_id)
    rows = dead.sql(f"SELECT decision_id, record_id FROM decisions_decision WHERE decision_id LIKE '{run}-%'")
    assert Counter(decision_id for decision_id, _ in rows) == Counter({*callers.receipts, *callers.given_up})
    entries = living.sql(f"SELECT record_id FROM custody_entry WHERE vault = '{bucket}' AND state = 'stored'")
    assert place.record_ids() == Counter(hex_of(pk) for (pk,) in entries)
    assert {hex_of(pk) for _, pk in rows} <= set(place.record_ids())
