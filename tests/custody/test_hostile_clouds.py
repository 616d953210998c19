"""A cloud with nonsensical answers harms only the organization that chose it."""

import itertools
import math
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from accounts.models import Organization
from custody import services, vaults
from custody.clouds import vault as cloud
from custody.clouds.vault import Locks
from custody.models import Entry, WaitingObject
from custody.services import reconciler, storage_watch
from custody.vaults import ObjectMissing, VaultUnavailable
from tests.custody.cloud_storage import PROVIDERS
from tests.support.web_server import Reply, json_reply
from tests.system.live import wait_until
from tests.threads import HANGS_SECONDS, at_once

pytestmark = [pytest.mark.django_db, pytest.mark.once, pytest.mark.usefixtures("marker_asked_for")]

RAW = b'{"decision_id": "loan-1", "amount": 1.50}'
NONSENSE = {
    "no markup": Reply(b"<html>", 200, {"Content-Type": "text/html"}),
    "an empty element": Reply(b"<a/>", 200, {"Content-Type": "application/xml"}),
    "a list": json_reply([]),
    "another object": json_reply({"name": 1, "items": 2, "error": []}),
    "an error that is none": json_reply([], 500),
    "nothing": Reply(b"", 200, {"Content-Type": "application/json"}),
}
USES = {
    "put_new": lambda vault: vault.put_new("0a/records/ff/ff00", b"x"),
    "locks": lambda vault: vault.immutable,
    "get": lambda vault: vault.get("0a/records/ff/ff00"),
    "has": lambda vault: vault.has("0a/records/ff/ff00"),
    "delete": lambda vault: vault.delete("0a/records/ff/ff00"),
    "list": lambda vault: list(vault.list("0a/records/")),
    "probe": lambda vault: vault.probe(),
}


@pytest.fixture(params=PROVIDERS)
def storage(request, storage_of):
    return storage_of(request.param)


@pytest.fixture
def answers(monkeypatch):
    """Make a cloud give one answer to all requests but those for its marker."""

    def set_to(storage, reply):
        known = storage.front.answer

        def answer(request):
            return known(request) if "MARKER" in request.target or "token" in request.path else reply

        monkeypatch.setattr(storage.front, "answer", answer)

    return set_to


def test_nonsense_is_an_answer_or_an_outage(storage, use_storage, organization, answers):
    target = use_storage(organization, storage)
    raised = []
    for nonsense, reply in NONSENSE.items():
        vaults.forget()
        vault = vaults.of(target.pk)
        vault.require_marker()
        answers(storage, reply)
        for use, call in USES.items():
            vault._locks_until = -math.inf
            try:
                call(vault)
            except (VaultUnavailable, ObjectMissing):
                pass
            except Exception as error:
                raised.append((nonsense, use, error))
    assert raised == []


@pytest.fixture
def other_organization(other_api, organization):
    return Organization.objects.exclude(pk=organization.pk).get()


@pytest.fixture
def waiting_ones(api, other_api, storage_of, use_storage, organization, other_organization):
    """Return buckets of two organizations after an outage, with a record waiting for each."""
    mine, theirs = storage_of("gcp"), storage_of("aws")
    use_storage(organization, mine)
    use_storage(other_organization, theirs)
    for storage in (mine, theirs):
        storage.faults.add(503, times=10_000)
    assert (api.ingest(RAW).status_code, other_api.ingest(RAW).status_code) == (503, 503)
    for storage in (mine, theirs):
        storage.faults.clear()
    with time_machine.travel(datetime.now(UTC) + services.LEASE + timedelta(seconds=1)):
        yield mine, theirs


def test_nonsense_from_one_organization_s_bucket_does_not_delay_another_s_record(
    waiting_ones, answers, other_organization
):
    answers(waiting_ones[0], json_reply([]))
    assert services.reconcile() == (1, 1)
    assert Entry.objects.get(state="stored").organization == other_organization


def test_a_damaged_waiting_object_does_not_delay_others(waiting_ones, organization, other_organization):
    vault = vaults.of(Entry.objects.get(organization=organization).target_id)
    vault._locks, vault._locks_until = Locks(of_objects=True, of_all=False), math.inf
    WaitingObject.objects.filter(record__organization=organization).update(body=b"x")
    assert services.reconcile() == (1, 1)
    assert Entry.objects.get(state="stored").organization == other_organization


def test_a_slow_organization_lets_others_go_first(waiting_ones, organization, other_organization, monkeypatch):
    first, then = Entry.objects.order_by("received_at")
    done = []

    def slowly(ready):
        done.extend(row.record.organization_id for row in ready)
        clock[0] += 30

    clock = [0.0]
    monkeypatch.setattr(reconciler, "_CHUNK", 1)
    monkeypatch.setattr(reconciler, "complete", slowly)
    monkeypatch.setattr(reconciler.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(reconciler.leases, "fail", lambda row, **_: type(row).objects.update(lease_until=None))
    services.reconcile(limit=4)
    assert done == [first.organization_id, then.organization_id] * 2


def test_once_a_cloud_was_too_slow_one_thread_tries_it_and_the_others_are_refused_at_once(
    storage, use_storage, organization, monkeypatch
):
    monkeypatch.setattr(cloud, "MARKED_SECONDS", HANGS_SECONDS)  # so that a put is one request
    vault = vaults.of(use_storage(organization, storage).pk)
    vault.put_new("0a/records/ff/ff00", b"x")
    known, asked, let_go = storage.front.answer, threading.Semaphore(0), threading.Event()

    def held(request):
        asked.release()
        let_go.wait(HANGS_SECONDS)
        return known(request)

    def refused(_):
        with pytest.raises(VaultUnavailable, match="being tried"):
            vault.put_new("0a/records/ff/ff01", b"x")

    storage.faults.add("timeout", method=storage.put_method)
    vault.connections.request_seconds = 0.3
    with pytest.raises(VaultUnavailable):
        vault.put_new("0a/records/ff/ff01", b"x")
    wait_until(lambda: not storage.faults.coming, "the request has arrived")
    vault.connections.request_seconds = HANGS_SECONDS
    vault.require_marker()
    storage.front.answer = held
    with ThreadPoolExecutor(1) as pool:
        trying = pool.submit(vault.put_new, "0a/records/ff/ff01", b"x")
        assert asked.acquire(timeout=HANGS_SECONDS)
        at_once(3, refused)
        assert not asked.acquire(blocking=False), "no other thread has asked"
        let_go.set()
        assert trying.result()
    storage.front.answer = known
    assert at_once(4, lambda n: vault.put_new(f"0a/records/ff/ff1{n}", b"x")) == [True] * 4


def test_a_use_ends_after_a_limit_of_pages(storage_of, use_storage, organization, monkeypatch):
    storage = storage_of("gcp")
    vault = vaults.of(use_storage(organization, storage).pk)
    monkeypatch.setattr(cloud, "USE_SECONDS", 1)
    known, pages = storage.front.answer, itertools.count()

    def answer(request):
        is_list = request.path.endswith("/o") and request.method == "GET"
        return json_reply({"nextPageToken": str(next(pages))}) if is_list else known(request)

    monkeypatch.setattr(storage.front, "answer", answer)
    with pytest.raises(VaultUnavailable):
        vault.delete("0a/records/ff/ff00")
    assert next(pages) > 1


def test_an_object_that_claims_to_be_huge_is_not_read(storage_of, use_storage, organization, monkeypatch):
    storage = storage_of("azure")
    vault = vaults.of(use_storage(organization, storage).pk)
    vault.put_new("0a/records/ff/ff00", b"x")
    known, asked = storage.front.answer, []

    def answer(request):
        if "ff00" not in request.target:
            return known(request)
        asked.append(request)
        reply = known(request)
        return reply._replace(status=206, headers={**reply.headers, "Content-Range": f"bytes 0-0/{10**12}"})

    monkeypatch.setattr(storage.front, "answer", answer)
    with pytest.raises(VaultUnavailable):
        vault.get("0a/records/ff/ff00")
    assert len(asked) == 1


def test_slow_buckets_do_not_block_the_worker_that_watches_them(storage_of, use_storage, organization, monkeypatch):
    use_storage(organization, storage_of("gcp"))
    probed = []
    monkeypatch.setattr(storage_watch, "_probe", lambda vault: probed.append(vault) or "slow")
    monkeypatch.setattr(storage_watch, "SLICE_SECONDS", 0)
    assert (services.watch_targets(), probed) == (0, [])
    monkeypatch.setattr(storage_watch, "SLICE_SECONDS", HANGS_SECONDS)
    assert (services.watch_targets(), len(probed)) == (1, 1)
