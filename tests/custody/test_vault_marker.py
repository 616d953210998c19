"""A vault whose disk is not mounted stores and returns nothing. Only a command creates its root, with a marker."""

import errno
import os
import shutil
import uuid
from types import SimpleNamespace

import pytest
from django.core.management import call_command

from custody import services, vaults
from custody.models import Entry, Installation, SealedObject, StorageTarget, WaitingObject
from custody.services import NotThisVault, VaultNotMade
from custody.vaults import ObjectMissing, VaultNotMarked, VaultOfAnother, VaultUnavailable, storage_targets
from custody.vaults.filesystem import MARKER, FilesystemVault
from tests.custody.faulty_disk import disk_lost, faulty_disk, full_disk
from tests.threads import at_once

pytestmark = pytest.mark.django_db

KEY = "0a/records/ff/ff00"
RAW = b'{"decision_id": "loan-1"}'


@pytest.fixture
def away(filesystem_vault):
    """Return the path to which the vault's disk moves when it is not mounted."""
    return filesystem_vault.with_suffix(".away")


def remount(root, away):
    shutil.rmtree(root, ignore_errors=True)
    away.rename(root)


def files_below(directory):
    return [path for path in directory.rglob("*") if path.is_file()]


# ── puts, reads and starts ──


@pytest.mark.once
@pytest.mark.parametrize("in_its_place", ["nothing", "an empty directory", "a vault without a marker"])
def test_records_posted_without_the_disk_are_refused_and_finished_when_it_returns(
    api, filesystem_vault, away, in_its_place
):
    first = api.ingest(RAW).json()
    filesystem_vault.rename(away)
    if in_its_place == "an empty directory":
        filesystem_vault.mkdir()
    elif in_its_place == "a vault without a marker":
        shutil.copytree(away, filesystem_vault)
        (filesystem_vault / MARKER).unlink()
    before = sorted(filesystem_vault.rglob("*"))
    answers = [api.ingest({"decision_id": f"late-{number}"}) for number in range(5)]
    assert {answer.status_code for answer in answers} == {503}
    assert api.get("/v1/decisions/loan-1/record").status_code == 503
    assert sorted(filesystem_vault.rglob("*")) == before
    assert filesystem_vault.exists() == (in_its_place != "nothing")
    remount(filesystem_vault, away)
    assert [api.ingest({"decision_id": f"late-{number}"}).status_code for number in range(5)] == [200] * 5
    for number in range(5):
        assert api.get(f"/v1/decisions/late-{number}/record").status_code == 200
    assert api.get("/v1/decisions/loan-1/receipt").json() == first
    assert WaitingObject.objects.count() == 0


def test_another_installation_s_vault_is_not_used_and_the_answer_says_so(api, filesystem_vault):
    api.ingest(RAW)
    vaults.current().mark(uuid.uuid4())
    before = sorted(filesystem_vault.rglob("*"))
    assert api.ingest({"decision_id": "loan-2"}).status_code == 503
    answer = api.get("/v1/decisions/loan-1/record")
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert "Another installation's vault" in answer.json()["detail"]
    assert sorted(filesystem_vault.rglob("*")) == before


@pytest.mark.once
@pytest.mark.parametrize("content", [b"", b"This is the vault of another.\n", b"x" * 10_000_000])
def test_a_marker_with_other_content_is_another_installation_s(filesystem_vault, content):
    (filesystem_vault / MARKER).write_bytes(content)
    with pytest.raises(VaultOfAnother):
        vaults.current().get(KEY)


@pytest.mark.once
@pytest.mark.parametrize("use", ["put_new", "get", "has", "delete", "list", "discard_drafts", "probe"])
def test_no_use_of_the_vault_creates_its_root(filesystem_vault, away, use):
    arguments = {"put_new": (KEY, b"x"), "discard_drafts": (), "probe": ()}.get(use, (KEY,))
    filesystem_vault.rename(away)
    with pytest.raises(VaultNotMarked):
        list(getattr(vaults.current(), use)(*arguments) or ())
    assert not filesystem_vault.exists()


@pytest.mark.once
def test_a_start_creates_no_root(tmp_path):
    FilesystemVault(StorageTarget(configuration={"root": str(tmp_path / "vault")})).identify()
    assert not (tmp_path / "vault").exists()


@pytest.mark.once
def test_a_disk_lost_during_a_put_never_acknowledges_it_onto_the_disk_below(filesystem_vault, away):
    """A put that began on the marked disk ends there or fails, whichever call loses the disk."""
    vault, acknowledged = vaults.current(), 0
    with faulty_disk(filesystem_vault) as disk:
        vault.put_new("00/records/00/00", b"x")
    for call in range(len(disk.calls)):
        key = f"0{call}/records/ff/ff00"  # a separate shard, so that every put makes the same calls
        with disk_lost(filesystem_vault, call, away) as disk:
            try:
                created = vault.put_new(key, b"x")
            except VaultUnavailable:
                created = False
        assert disk.failed
        assert files_below(filesystem_vault) == []
        remount(filesystem_vault, away)
        acknowledged += created
        if created:
            assert vault.get(key) == b"x"
    assert acknowledged > len(disk.calls) / 2, "on a disk that is only unmounted, a put that began goes on"


# ── the command ──


def create(*arguments, capsys):
    call_command("custody_create_vault", *arguments)
    return capsys.readouterr().out


@pytest.fixture
def unmarked(filesystem_vault):
    """Return a vault without a marker, as of an earlier version or a new installation."""
    (filesystem_vault / MARKER).unlink()
    Installation.objects.all().delete()
    vaults.forget()
    return filesystem_vault


def test_the_command_creates_the_root_and_its_marker_once(unmarked, capsys):
    unmarked.rmdir()
    assert str(unmarked) in create(capsys=capsys)
    assert [path.name for path in unmarked.iterdir()] == [MARKER]
    assert {path.stat().st_mode & 0o777 for path in (unmarked, unmarked / MARKER)} == {0o700, 0o600}
    assert str(Installation.objects.get().uid) in (unmarked / MARKER).read_text()
    assert "in place already" in create(capsys=capsys)
    assert vaults.current().put_new(KEY, b"x")


def test_a_running_service_finds_a_vault_created_later(api, unmarked, capsys):
    assert api.ingest(RAW).status_code == 503
    create(capsys=capsys)
    assert api.ingest(RAW).status_code == 200


def test_the_database_vault_needs_no_marker(db, capsys, settings, tmp_path):
    settings.DATA_DIR = tmp_path
    assert "needs no root" in create(capsys=capsys)
    assert create("--verbosity", "0", capsys=capsys) == ""
    assert not (tmp_path / "vault").exists()


def test_a_vault_of_an_earlier_version_is_marked_and_stays_in_use(api, filesystem_vault, capsys):
    receipts = [api.ingest({"decision_id": f"loan-{number}"}).json() for number in range(3)]
    (filesystem_vault / MARKER).unlink()
    Installation.objects.all().delete()
    vaults.forget()
    assert api.get("/v1/decisions/loan-0/record").status_code == 503
    create(capsys=capsys)
    assert [api.get(f"/v1/decisions/loan-{number}/receipt").json() for number in range(3)] == receipts


def test_records_in_a_vault_for_earlier_records_keep_it_in_use(api, filesystem_vault, capsys):
    api.ingest(RAW)
    (filesystem_vault / MARKER).unlink()
    services.choose_target(provider="database")
    assert str(filesystem_vault) in create(capsys=capsys)
    assert api.get("/v1/decisions/loan-1/record").content == RAW


@pytest.mark.parametrize("lost", ["the whole root", "one object", "the right one, another is there"])
def test_a_disk_that_lacks_records_is_not_accepted_as_the_vault(api, filesystem_vault, away, capsys, lost):
    for number in range(3):
        api.ingest({"decision_id": f"loan-{number}"})
    (filesystem_vault / MARKER).unlink()
    if lost == "one object":
        next(iter(files_below(filesystem_vault))).unlink()
    else:
        filesystem_vault.rename(away)
    if lost == "the right one, another is there":
        (filesystem_vault / api.organization.id.hex / "records").mkdir(parents=True)
    with pytest.raises(NotThisVault, match=r"lacks [13] of the 3 records .* --force"):
        create(capsys=capsys)
    assert not (filesystem_vault / MARKER).exists()
    assert filesystem_vault.exists() == (lost != "the whole root")
    create("--force", capsys=capsys)
    assert vaults.current().put_new(KEY, b"x")


@pytest.mark.once
def test_records_of_unknown_organizations_are_not_accepted_as_the_vault(filesystem_vault, capsys):
    (filesystem_vault / MARKER).unlink()
    (filesystem_vault / "lost+found").mkdir()
    (filesystem_vault / uuid.uuid4().hex).mkdir()
    with pytest.raises(NotThisVault, match="1 organizations that this database does not know"):
        create(capsys=capsys)
    assert not (filesystem_vault / MARKER).exists()


@pytest.mark.once
def test_another_installation_s_marker_is_replaced_only_by_force(filesystem_vault, capsys):
    vaults.current().mark(uuid.uuid4())
    with pytest.raises(NotThisVault, match="marker of another installation"):
        create(capsys=capsys)
    create("--force", capsys=capsys)
    vaults.current().require_marker()


@pytest.mark.once
def test_a_root_that_cannot_be_created_is_reported_plainly(unmarked, capsys):
    unmarked.rmdir()
    unmarked.touch()
    with pytest.raises(VaultNotMade, match="cannot be made"):
        create(capsys=capsys)


def test_concurrent_commands_create_one_marker(shared_database, filesystem_vault):
    (filesystem_vault / MARKER).unlink()
    vaults.forget()
    target = storage_targets.current()
    at_once(2, lambda _: services.mark_vault(target=target))
    assert Installation.objects.count() == 1
    vaults.current().require_marker()


# ── the probe ──


@pytest.mark.once
def test_a_probe_leaves_no_file_behind(each_vault, db, tmp_path):
    before = sorted(tmp_path.rglob("*"))
    for _ in range(3):
        vaults.probe()
    assert sorted(tmp_path.rglob("*")) == before
    assert SealedObject.objects.count() == 0


@pytest.mark.once
def test_probes_of_many_processes_do_not_meet(filesystem_vault):
    vault = vaults.current()
    assert at_once(16, lambda _: vault.probe()) == [None] * 16


@pytest.mark.once
def test_any_failing_call_of_a_probe_makes_the_vault_unready(filesystem_vault):
    with faulty_disk(filesystem_vault) as disk:
        vaults.probe()
    assert {"open", "unlink", "fsync"} <= set(disk.calls)
    for call in range(len(disk.calls)):
        with faulty_disk(filesystem_vault, call, errno.ENOSPC), pytest.raises(VaultUnavailable):
            vaults.probe()
        vaults.current().discard_drafts()


@pytest.mark.once
def test_a_file_of_an_interrupted_probe_is_discarded(filesystem_vault):
    leftover = filesystem_vault / ".draft-probe-00000000"
    leftover.touch()
    os.utime(leftover, (0, 0))
    vaults.current().discard_drafts()
    assert not leftover.exists()


@pytest.mark.once
def test_a_full_disk_is_not_ready(filesystem_vault):
    with full_disk(filesystem_vault), pytest.raises(VaultUnavailable):
        vaults.probe()
    vaults.probe()


@pytest.mark.once
def test_a_success_is_cached_for_a_second_and_a_failure_is_not(filesystem_vault, monkeypatch):
    """Anyone may ask whether the service is ready, and each answer would cost a disk write."""
    clock = iter([10.0, 10.0, 10.5, 11.5, 11.5, 11.6])
    monkeypatch.setattr(vaults, "_PROBE_SECONDS", 1)
    monkeypatch.setattr(vaults, "_last_success", -1e9)
    monkeypatch.setattr(vaults, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    with faulty_disk(filesystem_vault) as disk:
        vaults.probe()  # 10.0: writes, and succeeded at 10.0
        calls = len(disk.calls)
        vaults.probe()  # 10.5
        assert len(disk.calls) == calls > 0
    with full_disk(filesystem_vault), pytest.raises(VaultUnavailable):
        vaults.probe()  # 11.5: again
    with faulty_disk(filesystem_vault) as disk:
        vaults.probe()  # 11.5, succeeded at 11.6
        assert disk.calls


@pytest.mark.once
def test_a_missing_object_in_a_mounted_vault_is_missing(filesystem_vault):
    with pytest.raises(ObjectMissing):
        vaults.current().get(KEY)
    assert not Entry.objects.exists()
