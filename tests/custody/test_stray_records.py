"""Records stored on another disk while the vault's was not mounted are found and put back."""

import shutil

import pytest
from django.core.management import CommandError, call_command

from custody import vaults
from custody.models import Entry, SealedObject, object_key
from custody.services import NotThisVault
from custody.vaults import VaultNotMarked
from custody.vaults.filesystem import MARKER

pytestmark = pytest.mark.django_db

ASTRAY = range(2, 8)


def object_of(root, entry):
    return root / object_key(entry.organization_id, entry.pk)


def goes_astray(root, stray, entry):
    """Move an object to a root on the wrong disk, where an earlier version left it."""
    target = object_of(stray, entry)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(object_of(root, entry), target)


@pytest.fixture
def stray(tmp_path_factory):
    return tmp_path_factory.mktemp("stray")


@pytest.fixture
def receipts(api, filesystem_vault, stray):
    """Store 8 records, 6 of them astray. Return their receipts by number."""
    receipts = {number: api.ingest({"decision_id": f"loan-{number}"}).json() for number in range(8)}
    for number in ASTRAY:
        goes_astray(filesystem_vault, stray, Entry.objects.get(pk=receipts[number]["record_id"]))
    return receipts


def reconcile(*arguments, capsys):
    call_command("custody_reconcile", *arguments)
    return capsys.readouterr().out


def is_readable(api, receipts, number):
    answers = [api.get(f"/v1/decisions/loan-{number}/{part}") for part in ("record", "receipt")]
    return [answer.status_code for answer in answers] == [200, 200] and answers[1].json() == receipts[number]


@pytest.mark.once
def test_stray_records_are_named_and_not_invented(api, receipts, capsys):
    with pytest.raises(CommandError, match="missing from their vault"):
        reconcile(capsys=capsys)
    output = capsys.readouterr().out
    assert [number for number in receipts if receipts[number]["record_id"] in output] == list(ASTRAY)
    assert not is_readable(api, receipts, 5)


def test_stray_records_are_put_back_and_served_with_their_first_receipt(api, receipts, stray, capsys):
    before = sorted(path for path in stray.rglob("*") if path.is_file())
    assert "6 put back into their vault" in reconcile("--from", str(stray), capsys=capsys)
    assert all(is_readable(api, receipts, number) for number in receipts)
    assert [api.ingest({"decision_id": f"loan-{number}"}).status_code for number in receipts] == [200] * 8
    assert reconcile(capsys=capsys) == "0 finished, 0 waiting for their vault\n"
    assert sorted(path for path in stray.rglob("*") if path.is_file()) == before, "it is copied, not moved"


@pytest.mark.once
def test_an_object_in_the_vault_is_not_replaced(api, filesystem_vault, receipts, stray, capsys):
    shutil.copytree(filesystem_vault, stray, dirs_exist_ok=True)
    entry = Entry.objects.get(pk=receipts[0]["record_id"])
    object_of(stray, entry).write_bytes(b"other")
    reconcile("--from", str(stray), capsys=capsys)
    assert is_readable(api, receipts, 0)


@pytest.mark.once
@pytest.mark.parametrize("copy", ["damaged", "of another record", "of another organization", "empty"])
def test_only_the_record_of_the_row_is_put_back(api, other_api, filesystem_vault, receipts, stray, capsys, copy):
    wrong, other = (Entry.objects.get(pk=receipts[number]["record_id"]) for number in (5, 6))
    theirs = Entry.objects.get(pk=other_api.ingest({"decision_id": "loan-5"}).json()["record_id"])
    body = object_of(stray, wrong).read_bytes()
    content = {
        "damaged": body[:-1] + bytes([body[-1] ^ 1]),
        "of another record": object_of(stray, other).read_bytes(),
        "of another organization": object_of(filesystem_vault, theirs).read_bytes(),
        "empty": b"",
    }[copy]
    object_of(stray, wrong).write_bytes(content)
    with pytest.raises(CommandError, match="missing from their vault"):
        reconcile("--from", str(stray), capsys=capsys)
    output = capsys.readouterr().out
    assert "5 put back" in output
    assert f"{wrong.pk} is missing" in output
    assert not object_of(filesystem_vault, wrong).exists()


@pytest.mark.once
def test_an_unknown_record_is_left_where_it_is(api, filesystem_vault, receipts, stray, capsys):
    unknown = stray / api.organization.id.hex / "records" / "00" / ("0" * 32)
    unknown.parent.mkdir(parents=True, exist_ok=True)
    unknown.write_bytes(b"x")
    reconcile("--from", str(stray), capsys=capsys)
    assert not (filesystem_vault / unknown.relative_to(stray)).exists()


def test_a_copy_that_still_waits_in_the_database_is_put_back_without_the_option(api, filesystem_vault, capsys):
    receipt = api.ingest({"decision_id": "loan-1"}).json()
    entry = Entry.objects.get()
    SealedObject.objects.create(
        key=object_key(entry.organization_id, entry.pk), body=object_of(filesystem_vault, entry).read_bytes()
    )
    object_of(filesystem_vault, entry).unlink()
    assert "1 put back into their vault" in reconcile(capsys=capsys)
    assert api.get("/v1/decisions/loan-1/receipt").json() == receipt


def test_records_of_the_database_vault_are_not_looked_for_elsewhere(api, capsys):
    api.ingest({"decision_id": "loan-1"})
    assert reconcile(capsys=capsys) == "0 finished, 0 waiting for their vault\n"


@pytest.mark.once
def test_without_the_vault_no_record_is_put_back(receipts, filesystem_vault, stray, capsys):
    (filesystem_vault / MARKER).unlink()
    before = sorted(filesystem_vault.rglob("*"))
    with pytest.raises(VaultNotMarked):
        reconcile("--from", str(stray), capsys=capsys)
    assert sorted(filesystem_vault.rglob("*")) == before


@pytest.mark.once
def test_a_missing_directory_is_reported(filesystem_vault, stray, capsys):
    with pytest.raises(CommandError, match="is no directory"):
        reconcile("--from", str(stray / "nowhere"), capsys=capsys)


@pytest.mark.once
def test_records_on_two_unmarked_disks_are_all_restored(api, filesystem_vault, receipts, stray, capsys):
    """Set up the state of an earlier version: both disks have records, and neither has a marker."""
    (filesystem_vault / MARKER).unlink()
    vaults.forget()
    with pytest.raises(NotThisVault, match="lacks 6 of the 8 records"):
        call_command("custody_create_vault")
    call_command("custody_create_vault", "--force")
    reconcile("--from", str(stray), capsys=capsys)
    assert all(is_readable(api, receipts, number) for number in receipts)
