"""Disposals of records: unreadable from one commit on, proven for good, and repeated after a restore."""

import base64
import json
from pathlib import Path

import pytest
from django.db import transaction

from custody import services, signers, vaults
from custody.checks import journal_is_known
from custody.disposal import disposal_statements, families, journal
from custody.disposal.disposal_statements import Order
from custody.disposal.journal import JournalDamaged
from custody.keys import keyrings
from custody.models import Disposal, Entry, JournalFile, Key, SealedObject, object_key
from custody.record_types import Families
from custody.sealing import envelope
from custody.services.replay import NotReplayed, forget
from custody.vaults import VaultUnavailable
from custody.vaults.filesystem import MARKER
from decisions.models import Decision
from tests.notices.conftest import approve_acknowledged, done, drafted, step
from tests.reconsiderations.conftest import RAW, reconsider

pytestmark = pytest.mark.django_db

ORDER = Order(policy=3, days=30, reason="Its retention period is over.", actor="system the service itself")


@pytest.fixture
def family(api):
    """Return the family of a decision and two reconsiderations."""
    receipt = done(api.ingest(RAW))
    for _ in range(2):
        done(reconsider(api))
    return Families(api.organization.pk, [Entry.objects.get(pk=receipt["record_id"]).pk])


@pytest.fixture
def family_with_a_notice(api):
    """Return the family of a decision, a reconsideration and a delivered notice."""
    receipt = done(api.ingest(RAW))
    done(reconsider(api))
    notice = drafted(api)
    done(approve_acknowledged(api, notice))
    done(step(api, notice, "deliveries", {"channel": "hand"}))
    return Families(api.organization.pk, [Entry.objects.get(pk=receipt["record_id"]).pk])


def start(family, order=ORDER):
    """Dispose of a family, up to the commit."""
    prepared = services.prepare(family, order)
    with transaction.atomic():
        families.lock(family)
        return services.dispose(prepared, family.roots)


def finish(organization):
    return [sum(counts) for counts in zip(*services.finish_disposals(organization.pk), strict=True)] or [0, 0]


def dispose(family, organization):
    rows = start(family)
    assert finish(organization) == [len(rows), 0]
    return rows


def members(family):
    (ids,) = families.members(family).values()
    return ids


def keys_in_the_vault(organization):
    return set(vaults.current(organization.pk).list(f"{organization.pk.hex}/records/"))


def test_a_disposal_removes_the_whole_family_from_the_vault(api, each_vault, family_with_a_notice):
    family = family_with_a_notice
    ids = members(family)
    other = done(api.ingest({"decision_id": "other"}))["record_id"]
    assert len(ids) == 3
    assert {row.pk for row in dispose(family, api.organization)} == set(ids)
    assert set(Entry.objects.filter(state="disposed").values_list("pk", flat=True)) == set(ids)
    assert [key.rsplit("/")[-1] for key in keys_in_the_vault(api.organization)] == [other.replace("-", "")]
    assert not SealedObject.objects.filter(key__in=[object_key(api.organization.pk, pk) for pk in ids]).exists()
    assert list(Disposal.objects.filter(finished_at=None)) == []


@pytest.mark.once
def test_the_signed_statement_names_record_policy_reason_and_actor_but_no_content(api, family):
    (entry,) = Entry.objects.filter(pk=family.roots[0])
    dispose(family, api.organization)
    row = Disposal.objects.get(pk=entry.pk)
    key = Key.objects.get(key_id=row.key_id)
    message = envelope.pre_authentication_encoding(bytes(row.statement))
    assert signers.verifies(key.algorithm, key.public_pem, bytes(row.signature), message)
    statement = json.loads(bytes(row.statement))
    (subject,) = statement["subject"]
    assert subject["name"] == entry.pk.urn
    assert statement["predicateType"] == disposal_statements.PREDICATE_TYPE
    assert statement["predicate"] | {"disposedAt": ""} == {
        "organization": str(api.organization.pk),
        "kind": "decision",
        "ciphertext": json.loads(bytes(entry.statement))["predicate"]["ciphertext"],
        "policy": {"number": 3, "days": 30},
        "reason": ORDER.reason,
        "actor": ORDER.actor,
        "disposedAt": "",
    }
    assert disposal_statements.order(row) == ORDER


def test_a_family_with_an_addition_since_the_preparation_is_left_alone(api, family):
    prepared = services.prepare(family, ORDER)
    done(reconsider(api))
    with transaction.atomic():
        assert services.dispose(prepared, family.roots) == []
    assert not Disposal.objects.exists()
    assert api.get("/v1/decisions/loan-1/record").status_code == 200


def test_no_record_is_disposed_of_twice(api, family):
    prepared = services.prepare(family, ORDER)
    dispose(family, api.organization)
    with transaction.atomic():
        assert services.dispose(prepared, family.roots) == []
    assert start(family) == []


@pytest.mark.once
def test_an_object_that_cannot_be_removed_yet_is_reported_and_retried(api, filesystem_vault, family):
    ids = members(family)
    start(family)
    marker = (filesystem_vault / MARKER).rename(filesystem_vault / "NO-MARKER")
    assert finish(api.organization) == [0, 3]
    marker.rename(filesystem_vault / MARKER)
    rows = Disposal.objects.filter(pk__in=ids)
    assert {row.finished_at for row in rows} == {None}
    assert all(row.problem.startswith("storage filesystem: ") for row in rows)
    assert finish(api.organization) == [0, 0]  # not before its pause is over
    assert [
        sum(counts) for counts in zip(*services.finish_disposals(api.organization.pk, retry_now=True), strict=True)
    ] == [3, 0]
    assert {(row.problem, row.attempts) for row in Disposal.objects.filter(pk__in=ids)} == {("", 0)}
    assert keys_in_the_vault(api.organization) == set()


def test_the_clock_finishes_disposals_of_a_killed_run(api, each_vault, family):
    start(family)
    services.finish_all_disposals()
    assert not Disposal.objects.filter(finished_at=None).exists()
    assert keys_in_the_vault(api.organization) == set()


def test_a_worker_that_lost_its_lease_finishes_nothing(api, family, monkeypatch):
    start(family)
    write = journal.append

    def append(organization_id, rows):
        write(organization_id, rows)
        Disposal.objects.update(lease_token=None, lease_until=None)

    monkeypatch.setattr(journal, "append", append)
    assert next(services.finish_disposals(api.organization.pk)) == (0, 0)
    monkeypatch.undo()
    assert finish(api.organization) == [3, 0]
    assert JournalFile.objects.count() == 1


# ── the journal, and a restore ──


def root_of_the_journal(settings):
    return Path(settings.RETENTION_JOURNAL.removeprefix("folder:"))


def files(settings):
    return [path for path in root_of_the_journal(settings).rglob("*") if path.is_file() and path.name != "MARKER"]


def dispose_and_restore(family, organization):
    """Restore a backup from before the disposal, while vault and journal stay as they are."""
    saved = transaction.savepoint()
    dispose(family, organization)
    transaction.savepoint_rollback(saved)
    forget()
    assert Entry.objects.filter(state="stored").count() == 3


@pytest.fixture
def restored(family, organization):
    dispose_and_restore(family, organization)


@pytest.mark.once
def test_a_disposal_is_done_only_once_it_is_in_the_journal(api, family, settings):
    settings.RETENTION_JOURNAL = "folder:/proc/none"
    start(family)
    assert finish(api.organization) == [0, 3]
    assert all(row.problem.startswith("journal: ") for row in Disposal.objects.all())


def test_a_restored_backup_is_not_ready_until_its_disposals_are_repeated(api, client, family_with_a_notice, settings):
    dispose_and_restore(family_with_a_notice, api.organization)
    assert client.get("/readyz").json()["journal"] == "failing"
    with pytest.raises(NotReplayed):
        services.require_replayed()
    assert list(services.replay()) == [3]
    assert client.get("/readyz").json()["journal"] == "ok"
    assert Entry.objects.filter(state="disposed").count() == 3
    assert not Decision.objects.exists()
    assert list(services.replay()) == []
    assert finish(api.organization) == [3, 0]
    assert len(files(settings)) == 1  # what is in the journal is not written again


def test_a_backup_from_before_the_record_gets_its_disposal_too(api, settings):
    done(api.ingest({"decision_id": "the first, with which the keys are made"}))
    saved = transaction.savepoint()
    record_id = done(api.ingest(RAW))["record_id"]
    dispose(Families(api.organization.pk, [Entry.objects.get(pk=record_id).pk]), api.organization)
    transaction.savepoint_rollback(saved)
    assert not Entry.objects.filter(pk=record_id).exists()
    assert list(services.replay()) == [1]
    assert Entry.objects.get(pk=record_id).state == "disposed"
    assert finish(api.organization) == [1, 0]


def test_a_family_that_grew_after_the_restore_is_disposed_of_completely(api, restored):
    done(reconsider(api))
    assert list(services.replay()) == [3]
    assert Entry.objects.filter(state="disposed").count() == 4
    assert {disposal_statements.order(row) for row in Disposal.objects.all()} == {ORDER}


@pytest.mark.once
def test_a_changed_line_disposes_of_nothing_and_keeps_the_service_unready(api, client, restored, settings, subtests):
    (file,) = files(settings)
    body = file.read_bytes()
    for changed in (
        body[:-2],
        body.replace(b'"policy":3', b'"policy":4'),
        b"not JSON\n",
        b"[]\n",
        b"[" * 100_000 + b"\n",
        body.replace(b'"mac":"', b'"mac":"0'),
    ):
        file.write_bytes(changed)
        with subtests.test(repr(changed[:100])):
            assert changed != body
            with pytest.raises(JournalDamaged):
                list(services.replay())
            assert Entry.objects.filter(state="stored").count() == 3
            assert client.get("/readyz").json()["journal"] == "failing"


@pytest.mark.once
def test_a_line_of_another_writer_is_not_believed(api, other_api, settings, family):
    """An intruder who can write to the folder lacks the organization's index key."""
    done(other_api.ingest(RAW))
    theirs = Families(other_api.organization.pk, [Entry.objects.get(organization=other_api.organization).pk])
    dispose(theirs, other_api.organization)
    (file,) = files(settings)
    ours = root_of_the_journal(settings) / api.organization.pk.hex / "journal" / "20260101000000aa"
    ours.parent.mkdir(parents=True)
    ours.write_bytes(file.read_bytes())
    with pytest.raises(JournalDamaged):
        list(services.replay())
    assert Entry.objects.filter(organization=api.organization, state="stored").count() == 3


@pytest.mark.once
def test_an_unknown_file_in_the_journal_does_not_stop_the_repetition(api, client, restored, settings, subtests):
    (file,) = files(settings)
    for name in ("README.TXT", "lost+found", "20260101000000aa~", "a" * 200):
        saved = transaction.savepoint()
        file.with_name(name).write_bytes(file.read_bytes())
        with subtests.test(name):
            with pytest.raises(JournalDamaged):
                list(services.replay())
            assert Entry.objects.filter(state="disposed").count() == 3
            assert client.get("/readyz").json()["journal"] == "failing"
            file.with_name(name).unlink()
            assert client.get("/readyz").json()["journal"] == "ok"
        transaction.savepoint_rollback(saved)
        forget()


@pytest.mark.once
def test_a_repeated_line_is_done_once(restored, settings):
    (file,) = files(settings)
    file.write_bytes(file.read_bytes() * 2)
    assert list(services.replay()) == [3]


@pytest.mark.once
def test_a_backup_from_before_the_first_record_of_an_organization_is_ready_and_makes_no_keys(api_without_keys, client):
    api = api_without_keys
    saved = transaction.savepoint()
    record_id = done(api.ingest(RAW))["record_id"]
    dispose(Families(api.organization.pk, [Entry.objects.get(pk=record_id).pk]), api.organization)
    transaction.savepoint_rollback(saved)
    keyrings.forget()
    forget()
    assert list(services.replay()) == [0]
    assert client.get("/readyz").json()["journal"] == "ok"
    assert not Key.objects.filter(organization=api.organization).exists()
    done(api.ingest(RAW))
    assert list(services.replay()) == []


@pytest.mark.once
def test_a_journal_whose_disk_is_not_mounted_makes_the_service_unready(api, client, family, settings):
    dispose(family, api.organization)
    root = root_of_the_journal(settings)
    root.rename(root.with_name("unmounted"))
    forget()
    assert client.get("/readyz").json()["journal"] == "failing"
    root.mkdir()
    assert client.get("/readyz").json()["journal"] == "failing"
    with pytest.raises(VaultUnavailable):
        journal.append(api.organization.pk, list(Disposal.objects.select_related("record")))


@pytest.mark.once
def test_without_a_journal_disposals_end_anyway(api, client, family, settings):
    settings.RETENTION_JOURNAL = ""
    assert not journal.is_kept(api.organization.pk)
    dispose(family, api.organization)
    assert client.get("/readyz").json()["journal"] == "ok"


@pytest.mark.once
def test_a_journal_in_an_organization_s_storage_is_beside_its_records(api, filesystem_vault, family, settings):
    settings.RETENTION_JOURNAL = "storage"
    assert journal.is_kept(api.organization.pk)
    dispose(family, api.organization)
    (file,) = (filesystem_vault / api.organization.pk.hex / "journal").iterdir()
    assert len(file.read_bytes().splitlines()) == 3


@pytest.mark.once
def test_the_database_cannot_hold_the_journal(api, family, settings):
    settings.RETENTION_JOURNAL = "storage"
    assert not journal.is_kept(api.organization.pk)
    dispose(family, api.organization)


@pytest.mark.once
def test_the_journal_contains_no_content_of_records(api, family_with_a_notice, settings):
    dispose(family_with_a_notice, api.organization)
    text = b"".join(file.read_bytes() for file in files(settings))
    decoded = b"".join(
        base64.b64decode(value)
        for line in text.splitlines()
        for name, value in json.loads(line).items()
        if name.endswith("_statement")
    )
    for mark in (
        b"loan-1",
        b"application 7",
        b"Example Scorecard",
        b"A. Reviewer",
        b"credit officer",
        b"Example Person",
    ):
        assert mark not in text + decoded


@pytest.mark.once
def test_a_copy_left_by_a_killed_move_is_removed_too(api, filesystem_vault, family):
    key = object_key(api.organization.pk, family.roots[0])
    body = vaults.current().get(key)
    dispose(family, api.organization)
    vaults.current().put_new(key, body)
    assert services.adopt_orphans(api.organization) == 0
    assert finish(api.organization) == [1, 0]
    assert not vaults.current().has(key)


@pytest.mark.once
@pytest.mark.parametrize(("value", "is_known"), [
    ("", True), ("storage", True), ("folder:/mnt/journal", True), ("/mnt/journal", False), ("folder:", False),
    ("Storage", False),
])  # fmt: skip
def test_an_invalid_journal_setting_stops_the_start(settings, value, is_known):
    settings.RETENTION_JOURNAL = value
    assert [problem.id for problem in journal_is_known()] == ([] if is_known else ["custody.E003"])
