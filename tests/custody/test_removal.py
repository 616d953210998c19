"""Destroying a record destroys its wrapped data key: no readable copy remains, or the provider's retention is
reported with its end."""

from datetime import UTC, datetime, timedelta

import pytest

from accounts import callers
from custody import objects, services, vaults
from custody.models import Disposal, Entry, SealedObject, data_key_key, object_key
from custody.objects import Removal
from custody.sealing import sealer
from custody.services import Move, move_records, moving, repair
from custody.vaults import ObjectMissing, VaultUnavailable, storage_targets
from decisions.models import Decision
from tests.custody.cloud_storage import PROVIDERS
from tests.custody.removing import RAW, copies, name_in
from tests.disposals import dispose_of
from tests.support.unguarded import unguarded

pytestmark = [pytest.mark.django_db, pytest.mark.once]

SOFT_DAYS = 7
KINDS = {"plain": {"versioned": False}, "versioned": {}, "locked": {"locked": True}}
SOFT = {
    "soft delete": {"versioned": False, "soft_delete_days": SOFT_DAYS},
    "versions and soft delete": {"soft_delete_days": SOFT_DAYS},
}


@pytest.fixture(params=[(provider, kind) for provider in PROVIDERS for kind in KINDS], ids=", ".join)
def storage(request, storage_of):
    provider, kind = request.param
    return storage_of(provider, **KINDS[kind])


# ── all copies are removed ──


def test_no_copy_of_the_data_key_is_left_in_any_version(keep, storage, django_assert_num_queries):
    record = keep(storage)
    for key in (object_key(record.organization_id, record.id), data_key_key(record.organization_id, record.id)):
        if record.vault.has(key):
            storage.replace(name_in(storage, key), record.vault.get(key))  # like restoring a backup
    assert record.copies()
    with django_assert_num_queries(0):  # removal runs in threads, so it uses only the vault
        assert record.remove() == Removal()
    assert not record.copies()
    assert record.names() == []
    assert record.remove() == Removal(), "it can be repeated"


@pytest.mark.parametrize("provider", ["gcp", "azure"])
@pytest.mark.parametrize("kind", SOFT)
def test_soft_deleted_copies_are_reported_with_their_end(keep, storage_of, provider, kind):
    record = keep(storage_of(provider, **SOFT[kind]))
    ends = datetime.now(UTC) + timedelta(days=SOFT_DAYS)
    for _ in range(2):
        removal = record.remove()
        assert not record.copies()
        assert copies(record.storage.recoverable(), record.wrapped)
        assert ends <= removal.recoverable_until < ends + timedelta(days=1, minutes=1)
        assert not removal.is_kept


def test_copies_of_an_earlier_soft_delete_policy_are_reported_too(keep, storage_of, google):
    """Turning soft delete off does not delete its copies."""
    record = keep(storage_of("gcp", soft_delete_days=SOFT_DAYS))
    record.storage.faults.add(503, method="DELETE", after=True)
    with pytest.raises(VaultUnavailable):
        record.remove()
    google.buckets["records"].settings["softDeletePolicy"] = {"retentionDurationSeconds": "0"}
    assert record.remove().recoverable_until > datetime.now(UTC) + timedelta(days=SOFT_DAYS - 1)


def test_soft_deleted_versions_are_purged_if_the_account_permits_it(keep, storage_of, microsoft):
    record = keep(storage_of("azure", soft_delete_days=SOFT_DAYS))
    microsoft.versions.permanent = True
    record.storage.replace(record.name, b"by another writer")
    assert record.remove() == Removal()
    assert not copies([*record.storage.bodies(), *record.storage.recoverable()], record.wrapped)


def test_a_moved_record_is_removed_from_every_target_that_held_it(keep, storage_of, use_storage, organization):
    record = keep(storage_of("aws"))
    second = storage_of("gcp", locked=True)
    use_storage(organization, second)
    moved = move_records(caller=callers.command_line(organization.pk))
    assert [outcome for _, outcome in moved] == [Move.MOVED]
    assert record.copies()
    assert copies(second.bodies(), record.wrapped)
    for target in storage_targets.all_of(organization.pk):
        objects.remove(vaults.of(target.pk), organization.pk, record.id)
        assert not objects.has(vaults.of(target.pk), organization.pk, record.id)
    assert not copies([*record.storage.bodies(), *second.bodies()], record.wrapped)


def test_drafts_left_by_a_crash_are_removed_from_the_filesystem_too(api, filesystem_vault, organization):
    api.ingest(RAW)
    record_id, vault = Entry.objects.get().pk, vaults.current()
    path = filesystem_vault / object_key(organization.pk, record_id)
    body = path.read_bytes()
    path.with_name(f".draft-{path.name}-0a0b0c0d").write_bytes(body)
    neighbour = path.with_name(".draft-00ff-0a0b0c0d")
    neighbour.write_bytes(b"of another record")
    assert objects.remove(vault, organization.pk, record_id) == Removal()
    files = [path for path in filesystem_vault.rglob("*") if path.is_file()]
    assert not copies([file.read_bytes() for file in files], sealer.unpack(body)[0].wrapped_dek)
    assert neighbour in files
    assert objects.remove(vault, organization.pk, record_id) == Removal()
    with pytest.raises(ObjectMissing):
        objects.get(vault, organization.pk, record_id)


def test_a_record_is_removed_from_the_database_too(api, organization):
    api.ingest(RAW)
    record_id = Entry.objects.get().pk
    for _ in range(2):
        with unguarded():
            assert objects.remove(vaults.current(), organization.pk, record_id) == Removal()
        assert not SealedObject.objects.exists()


# ── afterwards ──


@pytest.fixture
def husk(keep, storage_of, lock):
    """Return the locked remains of a destroyed record, in a database that has forgotten it."""
    record = keep(storage_of("gcp", locked=True))
    lock(record.storage, record.name, datetime.now(UTC) + timedelta(days=400))
    assert record.remove().is_kept
    with unguarded():
        Decision.objects.all().delete()
        Entry.objects.all().delete()
    return record


def test_a_record_without_its_data_key_is_not_restored_and_logs_nothing(husk, organization, caplog):
    assert services.adopt_orphans(organization) == 0
    services.recall(organization_id=organization.pk, identity="loan-1")
    services.choose_deployments(caller=callers.command_line(organization.pk))
    services.recall(organization_id=organization.pk, identity="loan-1")
    assert not Entry.objects.exists()
    assert [record for record in caplog.records if record.levelname in ("ERROR", "WARNING")] == []


def test_remains_do_not_hide_a_copy_with_a_data_key(husk, organization, storage_of, use_storage):
    first, now = storage_of("aws"), storage_targets.current(organization.pk)
    objects.put(vaults.of(use_storage(organization, first).pk), organization.pk, husk.id, husk.body)
    use_storage(organization, husk.storage)
    assert storage_targets.current(organization.pk) == now
    assert services.adopt_orphans(organization) == 1
    assert Entry.objects.get().target.provider == "aws"


def disposed_of_before(real, organization):
    """Finish a disposal while a copy is on its way."""

    def late(*args):
        if not Disposal.objects.exists():
            dispose_of(organization, "loan-1")
        return real(*args)

    return late


def test_a_copy_that_arrives_after_its_record_was_destroyed_is_removed(
    api, organization, storage_of, use_storage, monkeypatch
):
    assert api.ingest(RAW).status_code == 201
    entry = Entry.objects.get()
    wrapped = sealer.unpack(objects.get(vaults.current(), organization.pk, entry.pk))[0].wrapped_dek
    storage = storage_of("gcp")
    use_storage(organization, storage)
    monkeypatch.setattr(moving, "_point", disposed_of_before(moving._point, organization))
    outcomes = [outcome for _, outcome in move_records(caller=callers.command_line(organization.pk))]
    assert outcomes == [Move.GONE]
    assert not copies(storage.bodies(), wrapped)


@pytest.mark.parametrize("when", ["before it is put", "after it was put"])
def test_a_copy_that_is_put_back_is_removed_too(api, organization, filesystem_vault, tmp_path, monkeypatch, when):
    assert api.ingest(RAW).status_code == 201
    key = object_key(organization.pk, Entry.objects.get().pk)
    stray = tmp_path / "stray"
    (stray / key).parent.mkdir(parents=True)
    (filesystem_vault / key).rename(stray / key)
    place, name = (objects, "has") if when.startswith("before") else (repair, "reopen_disposals")
    monkeypatch.setattr(place, name, disposed_of_before(getattr(place, name), organization))
    list(services.repair_vaults(stray=stray))
    list(services.finish_disposals(organization.pk))
    assert not (filesystem_vault / key).exists()
