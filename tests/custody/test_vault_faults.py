"""The filesystem vault on a failing or full disk: the caller gets a 503, and no record is lost or doubled."""

import errno
import itertools
import json
from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from custody import services, vaults
from custody.models import Entry, WaitingObject
from custody.services import mark_vault
from custody.vaults import storage_targets
from decisions.models import Decision
from tests.custody.faulty_disk import faulty_disk, full_disk
from tests.reconsiderations.conftest import forget_all_records
from tests.support.unguarded import unguarded

pytestmark = pytest.mark.django_db

RAW = b'{"decision_id": "loan-1",  "amount": 1.50}'
PATH = "/v1/decisions/loan-1"
EVERY_CALL = ["mkdir", "open", "fsync", "link", "unlink"]
ERRORS = [errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EROFS]


def calls_of_one_put(vault_root, put):
    """Return the names of the calls of one undisturbed put."""
    with faulty_disk(vault_root) as disk:
        put()
    return disk.calls


@pytest.fixture
def fresh_root(filesystem_vault):
    """Return a function that gives the vault a new empty directory, so that every put makes the same calls."""
    numbers = itertools.count()

    def empty():
        root = filesystem_vault / f"vault{next(numbers)}"
        vaults.current().root = root
        mark_vault(target=storage_targets.current(), force=True)
        return root

    return empty


@pytest.fixture
def forget():
    """Return a function that forgets the record, so that the next fault meets it for the first time."""

    def empty():
        with unguarded():
            WaitingObject.objects.all().delete()
        forget_all_records()

    return empty


def assert_the_record_is_kept_once(api):
    assert api.get(PATH + "/record").content == RAW
    assert api.get(PATH).json()["custody"] == "stored"
    assert Decision.objects.count() == Entry.objects.count() == 1
    assert WaitingObject.objects.count() == 0
    assert len(list(vaults.current().list(f"{api.organization.id.hex}/records/"))) == 1


def faults(api, fresh_root, forget):
    """For each call of a put in turn: the disk that fails there, and the answer the record's first post then gets.

    The vault tells no error from another, so the calls fail with one of them each.
    """
    api.ingest({"decision_id": "warm-up"})  # creates the keys, whose files do not fail here
    forget()
    every_call = calls_of_one_put(fresh_root(), lambda: api.ingest(RAW))
    assert set(EVERY_CALL) <= set(every_call)
    for number, (name, error) in enumerate(zip(every_call, itertools.cycle(ERRORS), strict=False)):
        forget()
        root = fresh_root()
        with faulty_disk(root, number, error) as disk:
            response = api.ingest(RAW)
            assert disk.failed, f"call {number} ({name}) was not reached"
        yield f"{name}, call {number}", response


def assert_asks_to_come_back(response, where):
    assert response.status_code == 503, where
    assert int(response["Retry-After"]) >= 1
    assert b"1.50" not in response.content
    assert "receipt" not in response.json()


@pytest.mark.once
def test_after_any_failing_call_the_record_is_readable_or_a_retry_stores_it(api, fresh_root, forget):
    for where, response in faults(api, fresh_root, forget):
        assert_asks_to_come_back(response, where)
        assert api.get(PATH + "/record").content == RAW, where
        assert api.get(PATH).json()["custody"] == "reserved"
        retry = api.ingest(RAW)
        assert retry.status_code in (200, 201), where
        assert retry.json() == api.get(PATH + "/receipt").json()
        assert_the_record_is_kept_once(api)


@pytest.mark.once
def test_after_any_failing_call_the_reconciler_finishes_once_the_lease_is_over(api, fresh_root, forget):
    for where, response in faults(api, fresh_root, forget):
        assert_asks_to_come_back(response, where)
        assert services.reconcile() == (0, 0), "the lease protects a worker that is still busy"
        with time_machine.travel(datetime.now(UTC) + services.LEASE + timedelta(seconds=1)):
            assert services.reconcile() == (1, 0), where
            assert services.reconcile() == (0, 0)
        assert_the_record_is_kept_once(api)


@pytest.mark.once
def test_after_any_failing_call_other_content_is_a_conflict_and_never_stored(api, fresh_root, forget):
    for where, _ in faults(api, fresh_root, forget):
        assert api.ingest(RAW.replace(b"1.50", b"2.50")).status_code == 409, where
        assert api.ingest(RAW).status_code == 200
        assert_the_record_is_kept_once(api)


@pytest.fixture
def disk_that_stays_full(api, filesystem_vault):
    """Make every new file meet a full disk until the test or its `with` ends."""
    api.ingest({"decision_id": "warm-up"})
    return full_disk(filesystem_vault)


def test_a_retry_on_a_full_disk_is_a_503_again(api, disk_that_stays_full):
    with disk_that_stays_full:
        for _ in range(3):
            assert_asks_to_come_back(api.ingest(RAW), "full")
        assert_asks_to_come_back(api.get(PATH + "/receipt"), "full")
        assert api.get(PATH + "/record").content == RAW
        assert Entry.objects.filter(state=Entry.State.RESERVED).count() == 1
    assert api.ingest(RAW).status_code == 200
    assert Entry.objects.filter(state=Entry.State.RESERVED).count() == 0


@pytest.mark.once
def test_a_full_disk_leaves_no_draft_and_no_half_object(api, filesystem_vault, disk_that_stays_full):
    before = sorted(path for path in filesystem_vault.rglob("*") if path.is_file())
    with disk_that_stays_full:
        api.ingest(RAW)
    assert sorted(path for path in filesystem_vault.rglob("*") if path.is_file()) == before


def test_the_reconciler_reports_how_many_still_wait_and_retries_after_another_lease(api, disk_that_stays_full):
    with disk_that_stays_full:
        for number in range(3):
            api.ingest({"decision_id": f"loan-{number}"})
        with time_machine.travel(datetime.now(UTC) + services.LEASE + timedelta(seconds=1)):
            assert services.reconcile() == (0, 3)
            assert services.reconcile() == (0, 0), "claimed just now"
    with time_machine.travel(datetime.now(UTC) + 2 * services.LEASE + timedelta(seconds=5)):
        assert services.reconcile() == (3, 0)
    assert WaitingObject.objects.count() == 0


@pytest.mark.once
def test_an_unfinished_record_is_retried_after_pauses_that_grow_to_ten_minutes(api, disk_that_stays_full):
    pauses = []
    with disk_that_stays_full:
        api.ingest(RAW)
        now = datetime.now(UTC) + services.LEASE
        for _ in range(8):
            now += timedelta(seconds=1)
            with time_machine.travel(now, tick=False):
                assert services.reconcile() == (0, 1)
                assert services.reconcile() == (0, 0)
            now, before = WaitingObject.objects.get().next_try_at, now
            pauses.append(now - before)
    assert pauses[0] < pauses[2] < pauses[4]
    assert timedelta(minutes=7) < max(pauses) <= timedelta(minutes=10)


def test_an_administrator_who_has_fixed_the_vault_need_not_wait_for_the_next_try(api, disk_that_stays_full):
    with time_machine.travel(datetime.now(UTC) + services.LEASE + timedelta(seconds=1)):
        with disk_that_stays_full:
            api.ingest(RAW)
            WaitingObject.objects.update(lease_until=None)
            assert services.reconcile() == (0, 1)
        assert services.reconcile() == (0, 0)
        assert services.reconcile(retry_now=True) == (1, 0)


def test_bulk_names_the_lines_that_could_not_be_stored_and_a_retry_stores_them(api, disk_that_stays_full):
    lines = b"".join(b'{"decision_id": "loan-%d"}\n' % number for number in range(5))
    with disk_that_stays_full:
        assert statuses(api, lines) == ["unavailable"] * 5
    assert statuses(api, lines) == ["replayed"] * 5
    assert WaitingObject.objects.count() == 0


def statuses(api, lines):
    response = api.post("/v1/ingest/srf/batch", lines, "application/x-ndjson")
    return [json.loads(line)["status"] for line in response.getvalue().splitlines()]


class Killed(BaseException):
    """An exception that ends a process like a kill: no error handler may catch it."""


@pytest.mark.parametrize("after_the_put", [False, True])
def test_a_record_left_by_a_crash_between_reserving_and_finishing_is_finished(
    api, filesystem_vault, monkeypatch, after_the_put
):
    vault, real = vaults.current(), vaults.current().put_new

    def killed(key, body):
        if after_the_put:
            real(key, body)
        raise Killed

    monkeypatch.setattr(vault, "put_new", killed)
    with pytest.raises(Killed):
        api.client.post("/v1/ingest/srf", RAW, content_type="application/json")
    monkeypatch.undo()
    assert Entry.objects.get().state == Entry.State.RESERVED
    with time_machine.travel(datetime.now(UTC) + services.LEASE + timedelta(seconds=1)):
        assert services.reconcile() == (1, 0)
    assert_the_record_is_kept_once(api)
    assert api.ingest(RAW).status_code == 200


def test_a_record_sent_again_after_a_crash_has_the_receipt_of_the_reserved_one(api, filesystem_vault, monkeypatch):
    monkeypatch.setattr(vaults.current(), "put_new", lambda key, body: (_ for _ in ()).throw(Killed()))
    with pytest.raises(Killed):
        api.client.post("/v1/ingest/srf", RAW, content_type="application/json")
    monkeypatch.undo()
    signed = bytes(Entry.objects.get().signature)
    assert api.ingest(RAW).status_code == 200
    assert bytes(Entry.objects.get().signature) == signed
    assert_the_record_is_kept_once(api)
