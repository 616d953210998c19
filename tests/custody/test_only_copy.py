"""Finishing a record never deletes its only copy, whatever happened to row and vault meanwhile."""

import json
import uuid
from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from config import leases
from custody import selectors, services, vaults
from custody.models import Entry, SealedObject, WaitingObject, object_key
from custody.services import Submission
from custody.services.complete import NotAdoptable, StoredObject, adopt, complete
from custody.vaults.filesystem import MARKER
from decisions.models import Decision
from tests.support.unguarded import unguarded

pytestmark = pytest.mark.django_db

RAW = b'{"decision_id": "loan-1", "amount": 1.50}'


def waiting() -> list[WaitingObject]:
    return list(WaitingObject.objects.select_related("record").order_by("record__received_at"))


@pytest.fixture
def reserve(organization, filesystem_vault, monkeypatch):
    """Return a function that accepts records in an outage, ends the outage, and returns the waiting rows."""

    def down(key, body):
        raise vaults.VaultUnavailable("down")

    def make(*numbers: int) -> list[WaitingObject]:
        with monkeypatch.context() as patch:
            patch.setattr(vaults.current(), "put_new", down)
            for number in numbers:
                raw = b'{"decision_id": "loan-%d"}' % number
                submission = Submission("decision", f"loan-{number}", raw, json.loads(raw), "api")
                services.store_records(organization_id=organization.id, submissions=[submission])
        return waiting()

    return make


def copies(waiting: WaitingObject) -> list[bytes]:
    """Return every remaining copy of the record."""
    bodies = [bytes(row.body) for row in WaitingObject.objects.filter(pk=waiting.pk)]
    vault = vaults.of("filesystem")
    return [*bodies, *([vault.get(waiting.key)] if vault.has(waiting.key) else [])]


def test_a_row_that_has_moved_to_another_target_keeps_its_object(reserve):
    """Between reserving and finishing, another target was chosen and the record moved."""
    (waiting,) = reserve(1)
    services.choose_target(provider="database")
    with unguarded():
        Entry.objects.update(target="database", state=Entry.State.STORED)
    assert complete([waiting]) == set()
    assert waiting.body in copies(waiting)


@pytest.mark.parametrize("answer", [True, False])
def test_a_vault_that_wrongly_claims_to_have_the_object_is_not_believed(reserve, monkeypatch, answer):
    (waiting,) = reserve(1)
    monkeypatch.setattr(vaults.current(), "put_new", lambda key, body: answer)
    assert complete([waiting]) == set()
    assert Entry.objects.get().state == Entry.State.RESERVED
    assert copies(waiting) == [waiting.body]


def test_a_vault_that_returns_other_bytes_is_not_believed(reserve, monkeypatch):
    (waiting,) = reserve(1)
    monkeypatch.setattr(vaults.current(), "get", lambda key: waiting.body[:-1])
    assert complete([waiting]) == set()
    monkeypatch.undo()
    assert Entry.objects.get().state == Entry.State.RESERVED
    assert bytes(WaitingObject.objects.get().body) == waiting.body


def test_a_deleted_row_leaves_the_object_in_the_vault(reserve):
    (waiting,) = reserve(1)
    for rows in (Decision.objects.all(), WaitingObject.objects.all(), Entry.objects.all()):
        with unguarded():
            rows.delete()
    assert complete([waiting]) == set()
    assert copies(waiting) == [waiting.body]


def test_a_worker_from_before_a_restore_leaves_the_copy_of_the_newly_reserved_record(reserve):
    """Its object is in the vault first, and so is the record, but the row was sealed for another object."""
    (before,) = reserve(1)
    for rows in (Decision.objects.all(), WaitingObject.objects.all(), Entry.objects.all()):
        with unguarded():
            rows.delete()
    (anew,) = reserve(1)
    assert complete([before]) == set()
    assert Entry.objects.get().state == Entry.State.RESERVED
    assert sorted(copies(anew)) == sorted([before.body, anew.body])
    complete([anew])
    assert copies(anew) == [before.body]
    entry = Entry.objects.get()
    assert (entry.state, bytes(entry.signature)) == (Entry.State.STORED, before.record.signature)
    assert selectors.opened(entry).payload == b'{"decision_id": "loan-1"}'


def test_two_workers_that_complete_one_record_both_see_it_stored_once(reserve):
    (waiting,) = reserve(1)
    assert complete([waiting]) == complete([waiting]) == {waiting.pk}
    assert copies(waiting) == [waiting.body]
    assert Entry.objects.get().state == Entry.State.STORED


def test_a_worker_without_its_lease_completes_nothing(reserve):
    """The worker was stopped, and another has claimed its rows and is still working."""
    reserve(1, 2)
    now = timezone.now() + services.LEASE
    with time_machine.travel(now + timedelta(seconds=1)):
        stopped = leases.claim(WaitingObject.objects.select_related("record"), lasts=services.LEASE, limit=2)
    with time_machine.travel(now + services.LEASE + timedelta(seconds=2)):
        (other,) = leases.claim(WaitingObject.objects.select_related("record"), lasts=services.LEASE)
        assert complete(stopped) == {row.pk for row in stopped} - {other.pk}
        assert Entry.objects.get(pk=other.pk).state == Entry.State.RESERVED
        assert WaitingObject.objects.get().lease_token == other.lease_token
        assert complete([other]) == {other.pk}
    assert not WaitingObject.objects.exists()


def test_a_worker_without_its_lease_adopts_nothing(reserve):
    (waiting,) = reserve(1)
    vaults.current().put_new(waiting.key, b"something else")
    WaitingObject.objects.update(lease_token=uuid.uuid4())
    assert complete([waiting]) == set()
    assert bytes(WaitingObject.objects.get().body) == waiting.body


def test_a_record_that_contradicts_the_index_keeps_its_copy_and_stops_no_other(reserve, monkeypatch):
    bad, good = reserve(1, 2)
    vaults.current().put_new(bad.key, b"something else")

    def contradiction(objects, *, waiting):
        raise NotAdoptable

    monkeypatch.setattr("custody.services.complete.adopt", contradiction)
    assert complete([bad, good]) == {good.pk}
    assert Entry.objects.get(pk=bad.pk).state == Entry.State.RESERVED
    assert bad.body in copies(bad)
    assert Entry.objects.get(pk=good.pk).state == Entry.State.STORED


def test_adopting_replaces_no_record_that_is_stored_elsewhere(api, filesystem_vault):
    """A forgotten object is in a vault that did not answer when the same id was stored in another one."""
    api.ingest(RAW)
    forgotten = StoredObject(api.organization.id, Entry.objects.get().pk, "filesystem")
    with unguarded():
        Decision.objects.all().delete()
        Entry.objects.all().delete()
    services.choose_target(provider="database")
    marker = filesystem_vault / MARKER
    marker.rename(filesystem_vault / "away")
    receipt = api.ingest(RAW).json()
    (filesystem_vault / "away").rename(marker)
    assert not adopt(forgotten)
    assert api.get("/v1/decisions/loan-1/receipt").json() == receipt
    assert SealedObject.objects.filter(key=object_key(api.organization.id, forgotten.record_id)).exists()


def test_a_record_reserved_for_one_vault_is_finished_there_after_another_was_chosen(reserve, api):
    (waiting,) = reserve(1)
    services.choose_target(provider="database")
    assert api.ingest(b'{"decision_id": "loan-1"}').status_code == 200
    entry = Entry.objects.get()
    assert (entry.target_id, entry.state) == ("filesystem", Entry.State.STORED)
    assert copies(waiting) == [waiting.body]
    assert api.get("/v1/decisions/loan-1/record").status_code == 200
