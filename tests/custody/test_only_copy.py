"""What finishes a record never deletes the only copy of it, whatever happened to row and vault meanwhile."""

import json

import pytest
from django.db import IntegrityError

from custody import selectors, services, vaults
from custody.models import Entry, SealedObject, object_key
from custody.services import Submission, complete
from custody.services.complete import Unfinished, adopt, finish, with_bodies
from decisions.models import Decision

pytestmark = pytest.mark.django_db

RAW = b'{"decision_id": "loan-1", "amount": 1.50}'


@pytest.fixture
def reserve(organization, filesystem_vault, monkeypatch):
    """Takes records whose vault does not answer. Gives what is unfinished, and the vault answers again."""

    def down(key, body):
        raise vaults.VaultUnavailable("down")

    def make(*numbers: int) -> list[Unfinished]:
        with monkeypatch.context() as patch:
            patch.setattr(vaults.current(), "put_new", down)
            for number in numbers:
                raw = b'{"decision_id": "loan-%d"}' % number
                submission = Submission("decision", f"loan-{number}", raw, json.loads(raw), "api")
                services.take(organization_id=organization.id, submissions=[submission])
        return with_bodies(list(Entry.objects.filter(state=Entry.State.RESERVED).order_by("received_at")))

    return make


def copies(each: Unfinished) -> list[bytes]:
    """Every copy of the record that is left."""
    waiting = [bytes(row.body) for row in SealedObject.objects.filter(key=each.key)]
    vault = vaults.of("filesystem")
    return [*waiting, *([vault.get(each.key)] if vault.has(each.key) else [])]


def test_a_row_that_has_moved_to_the_database_vault_keeps_its_object(reserve):
    """CUSTODY_VAULT was changed, and the record moved, between reserving and finishing."""
    (each,) = reserve(1)
    services.choose_target(provider="database")
    Entry.objects.update(target="database", state=Entry.State.STORED, lease_until=None)
    assert finish([each]) == set()
    assert bytes(SealedObject.objects.get(key=each.key).body) == each.body
    assert vaults.of("database").get(each.key) == each.body


@pytest.mark.parametrize("state", [Entry.State.RESERVED, Entry.State.STORED])
def test_an_object_of_the_database_vault_is_no_waiting_copy(reserve, state):
    (each,) = reserve(1)
    services.choose_target(provider="database")
    Entry.objects.update(target="database", state=state)
    assert finish([each._replace(target_id="database")]) == {each.record_id}
    assert Entry.objects.get().state == Entry.State.STORED
    assert bytes(SealedObject.objects.get(key=each.key).body) == each.body


@pytest.mark.parametrize("said", [True, False])
def test_a_vault_that_says_it_has_the_object_and_has_not_is_not_believed(reserve, monkeypatch, said):
    (each,) = reserve(1)
    monkeypatch.setattr(vaults.current(), "put_new", lambda key, body: said)
    assert finish([each]) == set()
    assert Entry.objects.get().state == Entry.State.RESERVED
    assert copies(each) == [each.body]


def test_a_vault_that_gives_back_other_bytes_is_not_believed(reserve, monkeypatch):
    (each,) = reserve(1)
    monkeypatch.setattr(vaults.current(), "get", lambda key: each.body[:-1])
    assert finish([each]) == set()
    monkeypatch.undo()
    assert Entry.objects.get().state == Entry.State.RESERVED
    assert bytes(SealedObject.objects.get(key=each.key).body) == each.body


def test_a_row_that_is_gone_leaves_the_waiting_copy(reserve):
    (each,) = reserve(1)
    Decision.objects.all().delete()
    Entry.objects.all().delete()
    assert finish([each]) == set()
    assert each.body in copies(each)


def test_a_finisher_from_before_a_restore_leaves_the_copy_of_the_record_that_was_reserved_anew(reserve):
    """Its object is in the vault first and so is the record, but not under a row that another object was sealed for."""
    (before,) = reserve(1)
    for rows in (Decision.objects.all(), Entry.objects.all(), SealedObject.objects.all()):
        rows.delete()
    (anew,) = reserve(1)
    assert finish([before]) == set()
    assert Entry.objects.get().state == Entry.State.RESERVED
    assert sorted(copies(anew)) == sorted([before.body, anew.body])
    finish([anew])
    assert copies(anew) == [before.body]
    entry = Entry.objects.get()
    assert (entry.state, bytes(entry.signature)) == (Entry.State.STORED, before.signature)
    assert selectors.opened(entry).payload == b'{"decision_id": "loan-1"}'


def test_two_finishers_of_one_record_both_see_it_stored_once(reserve):
    (each,) = reserve(1)
    assert finish([each]) == finish([each]) == {each.record_id}
    assert copies(each) == [each.body]
    assert Entry.objects.get().state == Entry.State.STORED


def test_one_that_contradicts_the_index_keeps_its_copy_and_stops_no_other(reserve, monkeypatch):
    bad, good = reserve(1, 2)
    vaults.current().put_new(bad.key, b"something else")

    def contradiction(each):
        raise IntegrityError

    monkeypatch.setattr(complete, "adopt", contradiction)
    assert finish([bad, good]) == {good.record_id}
    assert Entry.objects.get(pk=bad.record_id).state == Entry.State.RESERVED
    assert bad.body in copies(bad)
    assert Entry.objects.get(pk=good.record_id).state == Entry.State.STORED


def test_adopting_replaces_no_record_that_is_stored_elsewhere(api, filesystem_vault):
    """A forgotten object lies in one vault while the same id was taken anew, and acknowledged, into another."""
    api.ingest(RAW)
    forgotten = Unfinished(api.organization.id, Entry.objects.get().pk, "filesystem")
    Decision.objects.all().delete()
    Entry.objects.all().delete()
    services.choose_target(provider="database")
    receipt = api.ingest(RAW).json()
    assert not adopt(forgotten)
    assert api.get("/v1/decisions/loan-1/receipt").json() == receipt
    assert SealedObject.objects.filter(key=object_key(api.organization.id, forgotten.record_id)).exists()


def test_a_record_reserved_for_one_vault_is_finished_there_by_a_service_that_uses_another(reserve, api):
    (each,) = reserve(1)
    services.choose_target(provider="database")
    assert api.ingest(b'{"decision_id": "loan-1"}').status_code == 200
    entry = Entry.objects.get()
    assert (entry.target_id, entry.state) == ("filesystem", Entry.State.STORED)
    assert copies(each) == [each.body]
    assert api.get("/v1/decisions/loan-1/record").status_code == 200
