"""The vault outlives the database: its records are never created again, and are adopted unchanged."""

import json
import uuid

import pytest
from django.core.management import CommandError, call_command

from accounts import audit, services
from custody import vaults
from custody.models import Entry, WaitingObject, object_key
from custody.services import adopt_orphans
from custody.services.complete import StoredObject, adopt
from decisions.models import Decision
from tests.support.unguarded import unguarded

pytestmark = pytest.mark.django_db

RAW = b'{"decision_id": "loan-1",  "decided_at": "2026-01-02T03:04:05Z", "outcome": {"action": "denied"}, "n": 1.50}'


def restore_an_older_database(vault_name):
    """Forget all records, like restoring a dump from before them. Objects of a vault elsewhere remain."""
    with unguarded():
        Decision.objects.all().delete()
        Entry.objects.all().delete()
    if vault_name == "filesystem":
        assert not WaitingObject.objects.exists()


def key_of(receipt, organization):
    return object_key(organization.id, uuid.UUID(receipt["record_id"]))


def replace(key, body):
    vaults.current().delete(key)
    assert vaults.current().put_new(key, body)


@pytest.fixture
def first(api, filesystem_vault):
    """Return the receipt of a record that the database then forgets."""
    receipt = api.ingest(RAW).json()
    restore_an_older_database("filesystem")
    return receipt


def test_the_same_record_again_gets_its_first_receipt(api, first):
    again = api.ingest(RAW)
    assert (again.status_code, again.json()) == (200, first)
    assert api.get("/v1/decisions/loan-1/record").content == RAW
    assert Decision.objects.count() == Entry.objects.count() == 1
    assert WaitingObject.objects.count() == 0


@pytest.mark.once
def test_the_same_content_in_another_spelling_returns_the_first_bytes(api, first):
    again = api.ingest(json.dumps(json.loads(RAW), indent=1).encode())
    assert (again.status_code, again.json()) == (200, first)
    assert api.get("/v1/decisions/loan-1/record").content == RAW


def test_other_content_is_a_conflict_and_the_forgotten_record_is_restored(api, first):
    assert api.ingest(RAW.replace(b"1.50", b"2.50")).status_code == 409
    assert api.get("/v1/decisions/loan-1/record").content == RAW
    assert api.get("/v1/decisions/loan-1/receipt").json() == first
    assert WaitingObject.objects.count() == 0


@pytest.mark.once
def test_the_index_row_of_an_adopted_record_matches_the_record(api, first):
    api.ingest(RAW.replace(b"denied", b"granted"))
    shown = api.get("/v1/decisions/loan-1").json()
    assert shown["action"] == "denied"
    assert shown["received_at"] == first["received_at"]
    assert shown["decided_at"] == "2026-01-02T03:04:05.000000Z"
    assert shown["custody"] == "stored"


def test_bulk_uploads_adopt_too(api, first):
    lines = b"\n".join([RAW, b'{"decision_id": "loan-2"}', RAW.replace(b"1.50", b"2.50")])
    response = api.post("/v1/ingest/srf/batch", lines, "application/x-ndjson")
    assert [json.loads(line)["status"] for line in response.getvalue().splitlines()] == [
        "replayed",
        "created",
        "conflict",
    ]


def test_the_command_restores_every_forgotten_record(api, other_api, each_vault, capsys):
    receipts = {
        (client, number): client.ingest(b'{"decision_id": "loan-%d"}' % number).json()
        for client in (api, other_api)
        for number in range(5)
    }
    restore_an_older_database(each_vault)
    call_command("custody_reconcile", "--adopt")
    assert "10 adopted from the vault" in capsys.readouterr().out
    for (client, number), receipt in receipts.items():
        assert client.get(f"/v1/decisions/loan-{number}/receipt").json() == receipt
        assert client.get(f"/v1/decisions/loan-{number}/record").content == b'{"decision_id": "loan-%d"}' % number
    call_command("custody_reconcile", "--adopt")
    assert "0 adopted from the vault" in capsys.readouterr().out


def test_two_workers_that_adopt_one_object_at_once_refuse_nothing(organization, first, monkeypatch):
    adopted = StoredObject(organization.id, uuid.UUID(first["record_id"]), "filesystem")
    assert adopt(adopted)
    answers = [True, False]  # another worker commits between the two
    monkeypatch.setattr("custody.services.complete._is_unknown", lambda _: answers.pop(0))
    assert not adopt(adopted)
    assert not answers


@pytest.mark.once
def test_without_adopt_the_command_leaves_objects_alone(api, first, capsys):
    call_command("custody_reconcile")
    assert capsys.readouterr().out.strip() == "0 finished, 0 waiting for their vault"
    assert not Entry.objects.exists()


def test_the_command_fails_while_records_wait_for_their_vault(api, filesystem_vault, monkeypatch, capsys):
    def unavailable(key, body):
        raise vaults.VaultUnavailable("down")

    monkeypatch.setattr(vaults.current(), "put_new", unavailable)
    assert api.ingest(RAW).status_code == 503
    WaitingObject.objects.update(lease_until="2000-01-01T00:00:00Z")
    with pytest.raises(CommandError, match="does not answer"):
        call_command("custody_reconcile")
    assert "0 finished, 1 waiting" in capsys.readouterr().out


def changed_header(body, **changes):
    size = int.from_bytes(body[4:8])
    header = json.loads(body[8 : 8 + size]) | changes
    encoded = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    return body[:4] + len(encoded).to_bytes(4) + encoded + body[8 + size :]


def header_of(body):
    return json.loads(body[8 : 8 + int.from_bytes(body[4:8])])


def flipped(base64_text):
    return ("B" if base64_text[0] == "A" else "A") + base64_text[1:]


@pytest.mark.once
@pytest.mark.parametrize("field", ["signature", "statement", "wrappedDek", "keyId", "kekId"])
def test_an_object_with_a_changed_header_is_not_adopted(api, organization, first, field):
    key = key_of(first, organization)
    body = vaults.current().get(key)
    replace(key, changed_header(body, **{field: flipped(header_of(body)[field])}))
    assert adopt_orphans(organization) == 0
    assert not Entry.objects.exists()
    assert not Decision.objects.exists()


@pytest.mark.once
def test_an_object_under_the_genuine_statement_of_another_record_is_not_adopted(api, organization, filesystem_vault):
    """Both halves are genuine and verify alone, but together would prove a record that was never signed."""
    one, other = (api.ingest(b'{"decision_id": "loan-%d"}' % number).json() for number in (1, 2))
    restore_an_older_database("filesystem")
    genuine = header_of(vaults.current().get(key_of(other, organization)))
    key = key_of(one, organization)
    swapped = changed_header(vaults.current().get(key), statement=genuine["statement"], signature=genuine["signature"])
    replace(key, swapped)
    assert adopt_orphans(organization) == 1
    assert [entry.pk.urn for entry in Entry.objects.all()] == ["urn:uuid:" + other["record_id"]]


@pytest.mark.once
@pytest.mark.parametrize(
    "damage", [lambda body: body[:-1], lambda body: b"", lambda body: b"DRS1", lambda body: b"x" * 500]
)
def test_a_damaged_object_is_left_and_the_others_are_adopted(api, organization, filesystem_vault, damage):
    one, other = (api.ingest(b'{"decision_id": "loan-%d"}' % number).json() for number in (1, 2))
    restore_an_older_database("filesystem")
    key = key_of(one, organization)
    damaged = damage(vaults.current().get(key))
    replace(key, damaged)
    assert adopt_orphans(organization) == 1
    assert str(Entry.objects.get().pk) == other["record_id"]
    assert vaults.current().get(key) == damaged


@pytest.mark.once
def test_a_record_whose_key_holds_a_damaged_object_waits_and_replaces_nothing(api, organization, first):
    key = key_of(first, organization)
    damaged = vaults.current().get(key)[:-1]
    replace(key, damaged)
    assert api.ingest(RAW).status_code == 503
    assert vaults.current().get(key) == damaged
    assert Entry.objects.get().state == Entry.State.RESERVED
    assert api.get("/v1/decisions/loan-1/record").content == RAW


@pytest.mark.once
def test_objects_of_one_organization_are_not_adopted_by_another(api, first):
    other = services.create_organization(name="Other", owner_email="o@other.example", actor=audit.SYSTEM)
    source = next(vaults.current().list(f"{api.organization.id.hex}/records/"))
    vaults.current().put_new(source.replace(api.organization.id.hex, other.id.hex), vaults.current().get(source))
    assert adopt_orphans(other) == 0


@pytest.mark.once
def test_a_stray_file_among_the_objects_does_not_stop_the_adoption(api, organization, first, filesystem_vault):
    stray = filesystem_vault / organization.id.hex / "records" / "notes.txt"
    stray.write_text("a stray file")
    assert adopt_orphans(organization) == 1
