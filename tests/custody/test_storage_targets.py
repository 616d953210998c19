"""New records go to one storage target, and earlier ones are read from their own."""

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from config import changes
from custody import services, vaults
from custody.models import Entry, SealedObject, StorageTarget
from custody.services import VaultNotMade, mark_vault
from custody.vaults import VaultUnavailable, storage_targets
from decisions.models import Decision
from tests.support.unguarded import unguarded
from tests.threads import HANGS_SECONDS, at_once

pytestmark = pytest.mark.django_db


@pytest.fixture
def target_of(tmp_path):
    """Return a function that gives an organization its own target: a directory named only by its configuration."""

    def make(organization):
        root = tmp_path / organization.slug
        target = StorageTarget.objects.create(
            organization=organization, provider="filesystem", configuration={"root": str(root)}
        )
        mark_vault(target=target)
        storage_targets.forget()
        return target

    return make


def ingest(api, decision_id):
    """Store a record. Return the target that its entry refers to."""
    receipt = api.ingest({"decision_id": decision_id}).json()
    return Entry.objects.get(pk=receipt["record_id"]).target


@pytest.mark.parametrize("provider", ["database", "filesystem"])
def test_the_setting_chooses_the_first_target(db, settings, provider):
    settings.CUSTODY_VAULT = provider
    target = storage_targets.current()
    assert (target.pk, target.provider, target.organization, target.retired_at) == (provider, provider, None, None)
    assert target == StorageTarget.objects.get()


def test_the_setting_is_ignored_once_there_is_a_target(api, settings):
    ingest(api, "loan-1")
    settings.CUSTODY_VAULT = "filesystem"
    storage_targets.forget()
    assert ingest(api, "loan-2").provider == "database"
    assert StorageTarget.objects.count() == 1


def test_of_concurrent_processes_one_creates_the_first_target(shared_database):
    def first(number):
        storage_targets.forget()
        return storage_targets.current().pk

    assert set(at_once(8, first)) == {"database"}
    assert StorageTarget.objects.count() == 1


def test_after_another_choice_new_records_go_there_and_earlier_ones_stay(api, filesystem_vault):
    assert ingest(api, "loan-1").pk == "filesystem"
    assert services.choose_target(provider="database").pk == "database"
    assert ingest(api, "loan-2").pk == "database"
    assert SealedObject.objects.count() == 1
    for decision_id in ("loan-1", "loan-2"):
        assert api.get(f"/v1/decisions/{decision_id}/receipt").status_code == 200
        assert api.ingest({"decision_id": decision_id}).status_code == 200
    assert StorageTarget.objects.get(retired_at=None).pk == "database"
    services.choose_target(provider="filesystem")
    assert ingest(api, "loan-3").configuration == {"root": str(filesystem_vault)}
    assert StorageTarget.objects.count() == 2


def test_the_command_chooses_the_other_target_and_creates_its_root(api, settings, tmp_path, capsys):
    settings.DATA_DIR = tmp_path
    ingest(api, "loan-1")
    call_command("custody_create_vault", "--provider", "filesystem")
    assert str(tmp_path / "vault") in capsys.readouterr().out
    assert ingest(api, "loan-2").provider == "filesystem"
    call_command("custody_create_vault", "--provider", "database")
    assert ingest(api, "loan-3").provider == "database"


def test_a_vault_that_cannot_be_created_is_not_chosen(api, settings, tmp_path):
    ingest(api, "loan-1")
    settings.DATA_DIR = tmp_path
    (tmp_path / "vault").touch()
    with pytest.raises(VaultNotMade):
        call_command("custody_create_vault", "--provider", "filesystem")
    vaults.forget()
    assert ingest(api, "loan-2").provider == "database"


def test_an_organization_with_its_own_target_uses_it_and_others_do_not(api, other_api, target_of):
    own = target_of(api.organization)
    assert ingest(api, "loan-1") == own
    assert ingest(other_api, "loan-1").provider == "database"
    assert len(list(vaults.of(own.pk).list(f"{api.organization.id.hex}/records/"))) == 1
    assert api.get("/v1/decisions/loan-1/record").status_code == 200
    services.choose_target(provider="filesystem")
    assert ingest(api, "loan-2") == own


def test_forgotten_records_are_restored_from_every_target(api, target_of):
    first = ingest(api, "loan-1")
    own = target_of(api.organization)
    assert ingest(api, "loan-2") == own
    with unguarded():
        Decision.objects.all().delete()
        Entry.objects.all().delete()
    assert services.adopt_orphans(api.organization) == 2
    assert {entry.target_id for entry in Entry.objects.all()} == {first.pk, own.pk}
    assert api.get("/v1/decisions/loan-1/record").status_code == 200


@pytest.mark.parametrize("own", [True, False])
def test_new_records_have_one_target(organization, own):
    whose = organization if own else None
    StorageTarget.objects.create(organization=whose, provider="database")
    with pytest.raises(IntegrityError), transaction.atomic():
        StorageTarget.objects.create(organization=whose, provider="filesystem")


def test_another_process_s_choice_is_seen_once_the_mark_has_changed(db, monkeypatch):
    storage_targets.forget()
    monkeypatch.setattr(changes, "SECONDS", HANGS_SECONDS)
    assert storage_targets.current().pk == "database"
    known = dict(storage_targets._current._rows)
    services.choose_target(provider="filesystem")
    storage_targets._current._rows.update(known)
    assert storage_targets.current().pk == "database"
    changes.ask()
    assert storage_targets.current().pk == "filesystem"


def test_storing_and_reading_a_record_query_no_known_target(api, monkeypatch):
    monkeypatch.setattr(changes, "SECONDS", HANGS_SECONDS)
    api.ingest({"decision_id": "loan-1"})
    with CaptureQueriesContext(connection) as queries:
        assert api.ingest({"decision_id": "loan-2"}).status_code == 201
        assert api.get("/v1/decisions/loan-2/record").status_code == 200
    assert not [query for query in queries.captured_queries if "storagetarget" in query["sql"]]


def test_an_entry_with_an_unknown_target_is_a_503(api):
    api.ingest({"decision_id": "loan-1"})
    Entry.objects.update(target="elsewhere")
    assert api.get("/v1/decisions/loan-1/record").status_code == 503
    with pytest.raises(VaultUnavailable):
        vaults.of("elsewhere")
