"""Records move to their organization's current storage: copied, read back, and only then read from there."""

import uuid
from collections import Counter

import pytest
from django.core.management import CommandError, call_command

from accounts import callers
from accounts.models import AuditEvent
from accounts.roles import Role
from config.errors import NotAllowed
from custody import services, vaults
from custody.clouds import vault as cloud
from custody.models import Disposal, Entry, SealedObject, StorageTarget, WaitingObject, object_key
from custody.services import Move, move_records, moving
from custody.vaults import VaultUnavailable, storage_targets
from tests.disposals import dispose_of
from tests.support.kept_rows import make_once
from tests.support.unguarded import unguarded
from tests.threads import at_once

pytestmark = [pytest.mark.django_db, pytest.mark.once]

COUNT = 5


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch):
    monkeypatch.setattr(moving, "_BATCH", 2)


@pytest.fixture
def storage_of(storage_of, monkeypatch):
    """Cache a marker for a minute: no test here removes it."""
    monkeypatch.setattr(cloud, "MARKED_SECONDS", 60.0)
    return storage_of


@pytest.fixture
def receipts(api):
    """Return a function that stores records in the deployment's database, and returns their receipts by number."""

    def take():
        return {number: api.ingest({"decision_id": f"loan-{number}"}).json() for number in range(COUNT)}

    return make_once("records to move", take)


@pytest.fixture
def new(receipts, storage_of, use_storage, organization):
    """Return the organization's bucket, chosen after the records were stored."""
    return use_storage(organization, storage_of("aws"))


def move(capsys, organization):
    call_command("custody_move", organization=organization.slug)
    return capsys.readouterr()


def where():
    return Counter(entry.target.provider for entry in Entry.objects.all())


def assert_all_are_readable(api, receipts):
    for number, receipt in receipts.items():
        assert api.get(f"/v1/decisions/loan-{number}/receipt").json() == receipt
        assert api.get(f"/v1/decisions/loan-{number}/record").content == b'{"decision_id": "loan-%d"}' % number
        assert api.ingest({"decision_id": f"loan-{number}"}).json() == receipt


@pytest.mark.parametrize(("provider", "locked"), [("aws", True), ("gcp", False), ("azure", True)])
def test_every_record_is_read_at_the_new_place_and_none_is_deleted(
    api, organization, receipts, storage_of, use_storage, capsys, provider, locked
):
    storage = storage_of(provider, locked=locked)
    use_storage(organization, storage)
    printed = move(capsys, organization)
    assert f"{COUNT} moved to {StorageTarget.Provider(provider).label}" in printed.out
    assert "remain at their old place" in printed.out
    assert f"Moving records: {COUNT} of {COUNT}, done" in printed.err
    assert where() == {provider: COUNT}
    assert SealedObject.objects.count() == COUNT
    with unguarded():
        SealedObject.objects.all().delete()
    assert_all_are_readable(api, receipts)
    assert len(storage.names()) == 1 + COUNT * (1 + locked)
    assert "0 moved" in move(capsys, organization).out


def test_records_move_from_cloud_to_cloud_and_back_to_the_database(
    api, organization, receipts, new, storage_of, use_storage, capsys
):
    move(capsys, organization)
    with unguarded():
        SealedObject.objects.all().delete()
    use_storage(organization, storage_of("gcp"))
    move(capsys, organization)
    assert where() == {"gcp": COUNT}
    services.choose_deployments(caller=callers.command_line(organization.pk))
    move(capsys, organization)
    assert where() == {"database": COUNT}
    assert_all_are_readable(api, receipts)


def test_a_stopped_move_continues(api, organization, receipts, new, capsys):
    running = move_records(caller=callers.command_line(organization.pk))
    for _ in range(2):
        next(running)
    running.close()
    assert where() == {"aws": 2, "database": COUNT - 2}
    assert_all_are_readable(api, receipts)
    assert f"{COUNT - 2} moved" in move(capsys, organization).out
    assert_all_are_readable(api, receipts)


def test_an_entry_refers_to_its_copy_only_after_the_copy_was_read_back_and_opened(
    organization, receipts, new, monkeypatch
):
    vault = vaults.of(new.pk)
    get = vault.get
    monkeypatch.setattr(vault, "get", lambda key: get(key)[:-1])
    moves = [move for _, move in move_records(caller=callers.command_line(organization.pk))]
    assert moves == [Move.TAKEN] * COUNT
    assert where() == {"database": COUNT}


def test_a_record_that_cannot_be_read_or_put_is_named_and_stops_no_other(api, organization, receipts, new, capsys):
    damaged, gone, occupied = (Entry.objects.get(pk=receipts[number]["record_id"]) for number in range(3))
    bodies = SealedObject.objects
    key = {entry: object_key(entry.organization_id, entry.pk) for entry in (damaged, gone, occupied)}
    body = bytes(bodies.get(key=key[damaged]).body)
    with unguarded():
        bodies.filter(key=key[damaged]).update(body=body[:-1] + bytes([body[-1] ^ 1]))
        bodies.filter(key=key[gone]).delete()
    vaults.of(new.pk).put_new(key[occupied], b"something else")
    with pytest.raises(CommandError, match="3 could not be moved"):
        move(capsys, organization)
    output = capsys.readouterr().out
    assert f"{damaged.pk} {Move.UNREADABLE.value}" in output
    assert f"{gone.pk} {Move.UNREADABLE.value}" in output
    assert f"{occupied.pk} {Move.TAKEN.value}" in output
    assert where() == {"aws": COUNT - 3, "database": 3}
    assert not vaults.of(new.pk).has(key[damaged])
    assert api.get("/v1/decisions/loan-2/record").status_code == 200


def test_during_an_outage_of_the_new_place_no_entry_refers_to_it(organization, receipts, new, amazon):
    amazon.front.faults.add(503, times=1000)
    with pytest.raises(VaultUnavailable):
        list(move_records(caller=callers.command_line(organization.pk)))
    assert where() == {"database": COUNT}
    assert Entry.objects.filter(state=Entry.State.STORED).count() == COUNT


def test_records_stored_at_the_old_place_meanwhile_are_moved_too(
    api, organization, filesystem_vault, storage_of, use_storage, monkeypatch
):
    """They were reserved for the old place before the new one was chosen."""
    receipt = api.ingest({"decision_id": "loan-0"}).json()
    with monkeypatch.context() as patch:
        patch.setattr(vaults.current(), "put_new", lambda *args, **named: (_ for _ in ()).throw(VaultUnavailable()))
        assert api.ingest({"decision_id": "loan-1"}).status_code == 503
    use_storage(organization, storage_of("gcp"))
    running = move_records(caller=callers.command_line(organization.pk))
    assert next(running)[1] is Move.MOVED
    assert api.ingest({"decision_id": "loan-1"}).status_code == 200
    assert [outcome for _, outcome in running] == [Move.MOVED]
    assert where() == {"gcp": 2}
    assert not WaitingObject.objects.exists()
    assert_all_are_readable(api, {0: receipt, 1: api.get("/v1/decisions/loan-1/receipt").json()})


def test_other_organizations_records_stay(api, other_api, organization, receipts, new, capsys):
    other_api.ingest({"decision_id": "loan-1"})
    move(capsys, organization)
    assert where() == {"aws": COUNT, "database": 1}


def test_only_members_who_may_choose_storage_move_records_and_moves_are_audited(api, organization, receipts, new):
    admin = callers.Caller(organization.pk, Role.ADMIN, callers.COMMAND_LINE)
    with pytest.raises(NotAllowed):
        list(move_records(caller=admin))
    list(move_records(caller=callers.command_line(organization.pk)))
    event = AuditEvent.objects.get(verb="custody.move")
    assert (event.object_id, event.actor_id) == (new.pk, "command-line")


def test_concurrent_moves_and_ingest_lose_and_double_no_record(
    shared_database, organization, api_for, storage_of, use_storage
):
    api = api_for(organization)
    receipts = {number: api.ingest({"decision_id": f"loan-{number}"}).json() for number in range(20)}
    storage = storage_of("gcp")
    use_storage(organization, storage)

    def work(number):
        if number < 2:
            return Counter(outcome for _, outcome in move_records(caller=callers.command_line(organization.pk)))
        for number_of_record in range(20 + number * 10, 25 + number * 10):
            assert api_for(organization).ingest({"decision_id": f"loan-{number_of_record}"}).status_code == 201
        return Counter()

    results = at_once(4, work)
    assert set(sum(results, Counter())) == {Move.MOVED}
    assert storage_targets.current(organization.pk).provider == "gcp"
    assert where() == {"gcp": 30}
    assert len(storage.names()) == 31
    assert_all_are_readable(api, receipts)


def test_a_copy_created_while_its_record_was_disposed_of_is_removed(api, organization, receipts, new, monkeypatch):
    gone, read = uuid.UUID(receipts[0]["record_id"]), moving._read

    def read_and_then_dispose(entries):
        bodies = read(entries)
        if gone in bodies:
            dispose_of(organization, "loan-0")
        return bodies

    monkeypatch.setattr(moving, "_read", read_and_then_dispose)
    moved = dict(move_records(caller=callers.command_line(organization.pk)))
    assert moved.pop(gone) == Move.GONE
    assert set(moved.values()) == {Move.MOVED}
    assert len(moved) == COUNT - 1
    assert Disposal.objects.get().finished_at is None
    list(services.finish_disposals(organization.pk))
    assert Disposal.objects.get().finished_at
    keys = list(vaults.current(organization.pk).list(f"{organization.pk.hex}/"))
    assert len(keys) == COUNT - 1
    assert not [key for key in keys if gone.hex in key]
