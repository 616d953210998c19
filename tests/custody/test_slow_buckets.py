"""A slow bucket delays no request of another organization."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from django.db import connections

from config import request_log
from custody import vaults
from custody.clouds import slow_uses
from custody.models import object_key
from custody.services.complete import Put
from custody.services.group_puts import GroupPuts
from custody.vaults import VaultUnavailable
from tests.system.live import wait_until
from tests.threads import HANGS_SECONDS

pytestmark = [pytest.mark.django_db, pytest.mark.once]

RAW = b'{"decision_id": "loan-1", "amount": 1.50}'


@pytest.fixture
def storage(storage_of):
    return storage_of("gcp")


@pytest.fixture
def held(storage, monkeypatch):
    """Hold back the bucket's answers until the event is set."""
    gate, answer = Event(), storage.front.answer

    def late(request):
        gate.wait(HANGS_SECONDS)
        return answer(request)

    monkeypatch.setattr(storage.front, "answer", late)
    yield gate
    gate.set()


def test_while_two_requests_wait_for_a_bucket_others_get_503_and_another_organization_is_served(
    api, other_api, organization, storage, use_storage, monkeypatch, request
):
    target = use_storage(organization, storage)
    api.ingest(RAW)
    other_api.ingest(RAW)
    monkeypatch.setattr(slow_uses, "SLOW_SECONDS", 0)
    gate = request.getfixturevalue("held")
    vault = vaults.of(target.pk)

    def read():
        request_log.is_answering.set(True)
        try:
            return vault.has("absent")
        except VaultUnavailable:
            return None
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        reading = [pool.submit(read) for _ in range(2)]
        wait_until(lambda: len(vault._slow_uses._began) == 2, "both wait for the bucket")
        refused = api.get("/v1/decisions/loan-1/record")
        assert (refused.status_code, refused["Retry-After"]) == (503, "5")
        assert api.get("/v1/decisions/loan-1").status_code == 200, "it needs no bucket"
        assert other_api.get("/v1/decisions/loan-1/record").content == RAW
        gate.set()
        assert [result.result() for result in reading] == [False, False]
    assert api.get("/v1/decisions/loan-1/record").content == RAW


def test_work_outside_of_requests_is_not_refused(organization, storage, use_storage, monkeypatch, request):
    vault = vaults.of(use_storage(organization, storage).pk)
    monkeypatch.setattr(slow_uses, "SLOW_SECONDS", 0)
    monkeypatch.setattr(slow_uses, "MAX_SLOW", 0)
    assert vault.has(object_key(organization.pk, organization.pk)) is False
    request_log.is_answering.set(True)
    try:
        with pytest.raises(VaultUnavailable):
            vault.has("absent")
    finally:
        request_log.is_answering.set(False)


def test_a_put_into_a_slow_vault_does_not_delay_a_put_into_another():
    """In the event loop, which stores records of all organizations."""
    gate = Event()

    def slow():
        gate.wait(HANGS_SECONDS)
        return Put.STORED

    async def both():
        puts = GroupPuts()
        late = [asyncio.create_task(puts.put("slow", 8, slow)) for _ in range(100)]
        await asyncio.sleep(0)
        quick = await puts.put("quick", 8, lambda: Put.STORED)
        waiting = [task for task in late if not task.done()]
        gate.set()
        await asyncio.gather(*late)
        return quick, len(waiting)

    assert asyncio.run(both()) == (Put.STORED, 100)
