"""An approved notice goes into custody with proofs of what it cites, also after an interruption."""

import base64
import errno
import hashlib
import json
from datetime import UTC, datetime, timedelta
from io import StringIO
from types import SimpleNamespace

import pytest
import time_machine
from django.core.management import CommandError, call_command
from django.test import Client

from accounts.roles import Role
from config import rests
from config.http import strict_json
from config.periodic import SLICE_SECONDS
from custody import selectors as custody
from custody import services, vaults
from custody.models import Entry, object_key
from custody.sealing.fields import Disclosure
from decisions.models import Decision
from notices import services as notices
from notices import tasks
from notices.models import Approval, Notice, SealedNotice
from notices.packs import packs
from notices.services import seal_approved, sealing
from tests.custody.faulty_disk import faulty_disk, full_disk
from tests.notices.conftest import RECORD, acting, approve, done, drafted, edit, shown, step, stored
from tests.people import caller
from tests.support.unguarded import unguarded

pytestmark = pytest.mark.django_db


def sealed_content(notice: dict) -> dict:
    return json.loads(custody.opened(Entry.objects.get(pk=notice["custody_record_id"])).payload)


@pytest.mark.once
def test_an_approved_notice_is_sealed_with_a_proof_of_every_field_it_cites(api, each_vault, notice):
    approved = done(approve(api, notice))
    assert Entry.objects.get(pk=approved["custody_record_id"]).kind == "notice"
    letter = sealed_content(approved)["letter"]
    assert letter["content"] == approved["content"]
    decision = Decision.objects.select_related("record").get()
    fields = json.loads(bytes(decision.record.statement))["predicate"]["fields"]
    assert {proof["path"] for proof in letter["field_proofs"]} == {c["source"] for c in approved["citations"]}
    for proof in letter["field_proofs"]:
        disclosed = Disclosure(
            (proof["path"], proof["scalar"]),
            bytes.fromhex(proof["salt"]),
            proof["index"],
            tuple(bytes.fromhex(node) for node in proof["audit_path"]),
        )
        assert disclosed.verifies(root=bytes.fromhex(fields["root"]), count=fields["count"])


@pytest.mark.once
def test_the_notice_s_statement_builds_on_the_decision_s(api, notice):
    receipt = api.get("/v1/decisions/loan-1/receipt").json()
    approved = done(approve(api, notice))
    statement = json.loads(bytes(Entry.objects.get(pk=approved["custody_record_id"]).statement))
    parent = hashlib.sha256(base64.b64decode(receipt["envelope"]["payload"])).hexdigest()
    assert statement["predicate"]["parents"] == [parent]


@pytest.mark.once
def test_the_sealed_notice_names_the_approval_and_only_the_recipient_s_reference(api):
    api.ingest(RECORD)
    recipient = {"name": "A. Person", "email": "person@home.example", "reference": "application 7"}
    approved = done(approve(api, drafted(api, recipient=recipient)))
    sealed = sealed_content(approved)
    assert sealed["recipient"] == {"reference": "application 7"}
    assert sealed["approval"]["approver"] == "Reviewer 7"
    assert sealed["approval"]["basis"].startswith("asserted by key ")
    assert "Person" not in json.dumps(sealed)


@pytest.mark.once
def test_the_letter_s_digest_is_that_of_its_proof_file(api, approved):
    letter = sealed_content(approved)["letter"]
    assert hashlib.sha256(strict_json.canonical(letter)).hexdigest() == approved["letter_digest"]
    assert "Reviewer 7" not in json.dumps(letter), "the letter names an authority, no employee"


# ── interruptions ──


def crashed_approval(api, notice, monkeypatch) -> dict:
    """Return an approval whose process ended before custody had its record."""
    monkeypatch.setattr("notices.services.review.seal_approved", lambda **_: 0)
    approved = done(approve(api, notice))
    monkeypatch.undo()
    assert approved["custody_record_id"] is None
    return approved


def test_a_crash_between_approval_and_custody_is_repaired(api, notice, monkeypatch):
    crashed_approval(api, notice, monkeypatch)
    tasks.seal_approved()
    assert seal_approved() == 0
    assert shown(api, notice)["custody_record_id"]


def test_sealing_again_after_a_crash_makes_the_same_record(api, notice, monkeypatch):
    crashed_approval(api, notice, monkeypatch)
    seal_approved()
    first = shown(api, notice)
    before = sealed_content(first)
    record = Entry.objects.filter(kind="notice")
    with unguarded():
        vaults.current().delete(object_key(api.organization.pk, record.get().pk))
    with unguarded():  # a crash before these rows were written
        Approval.objects.update(record_id=None)
        for rows in (SealedNotice.objects.all(), record):
            rows._raw_delete(rows.db)
    seal_approved()
    again = shown(api, notice)
    assert sealed_content(again) == before
    assert (again["custody_record_id"], again["letter_digest"]) == (first["custody_record_id"], first["letter_digest"])


def test_a_sealed_notice_that_was_deleted_is_damage_until_it_is_restored(api, filesystem_vault, approved):
    record = SealedNotice.objects.get().record
    path = filesystem_vault / object_key(record.organization_id, record.pk)
    body = path.read_bytes()
    path.unlink()
    with unguarded():
        for rows in (SealedNotice.objects.all(), Entry.objects.filter(pk=record.pk)):
            rows._raw_delete(rows.db)
    tasks.seal_approved()
    assert not SealedNotice.objects.exists()
    out = StringIO()
    with pytest.raises(CommandError) as damaged:
        call_command("custody_fsck", stdout=out)
    assert damaged.value.returncode == 1
    assert f"damaged: notice {approved['notice_id']}: Its sealed record {record.pk} is missing." in out.getvalue()
    path.write_bytes(body)
    services.adopt_orphans(api.organization)
    call_command("custody_fsck", stdout=out)
    assert sealed_content(approved)["letter"]["content"] == approved["content"]


def test_a_restored_approval_that_names_no_record_names_the_one_in_custody(approved):
    """The database is older than the record, which the vault restored."""
    with unguarded():
        Approval.objects.update(record_id=None)
    tasks.seal_approved()
    assert Approval.objects.get().record_id == SealedNotice.objects.get().pk


@pytest.mark.parametrize("then", [("deliveries", {"channel": "hand"}), ("withdraw", None)])
def test_a_step_before_sealing_does_not_keep_a_notice_out_of_custody(api, notice, monkeypatch, then):
    crashed_approval(api, notice, monkeypatch)
    done(step(api, notice, *then))
    assert seal_approved() == 1
    assert api.get(f"/v1/notices/{notice['notice_id']}/letter", format="text").status_code == 200


@pytest.mark.once
def test_until_it_is_sealed_its_letter_is_not_there_yet(api, notice, monkeypatch):
    crashed_approval(api, notice, monkeypatch)
    answer = api.get(f"/v1/notices/{notice['notice_id']}/letter")
    assert answer.status_code == 503
    assert answer["Retry-After"]


def test_a_notice_that_cannot_be_sealed_delays_no_other(api, notice, monkeypatch):
    crashed_approval(api, notice, monkeypatch)
    api.ingest(RECORD | {"decision_id": "loan-2"})
    other = crashed_approval(api, drafted(api, "loan-2"), monkeypatch)
    record = Decision.objects.get(decision_id="loan-1").record
    with unguarded():
        vaults.current().delete(object_key(record.organization_id, record.pk))
    assert seal_approved() == 1
    assert shown(api, other)["custody_record_id"]


# ── the vault fails ──


@pytest.mark.once
def test_any_failing_vault_call_leaves_a_sealed_approval_or_none(api, filesystem_vault):
    api.ingest(RECORD)
    writer, who = caller(api.organization), acting(api.organization, Role.APPROVER, "approver@bank.example")
    decision, stood = Decision.objects.select_related("record", "organization").get(), 0

    def draft() -> Notice:
        return notices.draft(caller=writer, decision=decision, pack=packs()["general"], recipient={})

    first = draft()
    with faulty_disk(filesystem_vault) as disk:
        notices.approve(caller=who, notice=first)
    for number, name in enumerate(disk.calls):
        for _ in range(5):  # notices in an existing directory need fewer calls
            notice = draft()
            refused = False
            with faulty_disk(filesystem_vault, number, errno.EIO) as disk:
                try:
                    notices.approve(caller=who, notice=notice)
                except vaults.VaultUnavailable:  # the record could not be read
                    refused = True
            if disk.failed:
                break
        assert disk.failed, f"call {number} ({name}) was not reached"
        assert Approval.objects.filter(notice=notice).exists() is not refused
        if refused:
            continue
        stood += 1
        for wait in (services.LEASE, 2 * services.LEASE):  # the pause before another try, then the record's lease
            with time_machine.travel(datetime.now(UTC) + wait + timedelta(seconds=1)):
                seal_approved()
                services.reconcile()
        sealed = SealedNotice.objects.select_related("record").get(notice=notice).record
        assert sealed.state == Entry.State.STORED, f"{name}, call {number}"
    assert stood > len(disk.calls) / 2


@pytest.mark.once
def test_slow_seals_of_one_organization_let_another_organization_s_seal_go_first(api, other_api, monkeypatch):
    seconds, sealed, woken, seal = [0.0], [], [], sealing._seal

    def slow(notice):
        seconds[0] += 2 * SLICE_SECONDS
        sealed.append(notice.organization_id)
        return seal(notice)

    monkeypatch.setattr(sealing, "_seal", slow)
    monkeypatch.setattr(sealing, "_rests", rests.Rests())
    monkeypatch.setattr(rests, "time", SimpleNamespace(monotonic=lambda: seconds[0]))
    monkeypatch.setattr(tasks, "wake", woken.append)
    with monkeypatch.context() as crashed:
        crashed.setattr("notices.services.review.seal_approved", lambda **_: 0)
        for who in (api, api, other_api):
            who.ingest(RECORD)
            done(approve(who, drafted(who)))
    for _ in range(3):
        tasks.seal_approved()
    mine, other = api.organization.pk, other_api.organization.pk
    assert (sealed, woken) == ([mine, other, mine], [tasks.seal_approved.name] * 2)


@pytest.mark.once
def test_while_the_vault_cannot_be_read_nothing_is_approved(api, filesystem_vault, notice):
    directory = filesystem_vault / api.organization.pk.hex
    directory.rename(filesystem_vault / "away")
    assert approve(api, notice).status_code >= 500
    assert not Approval.objects.exists()
    (filesystem_vault / "away").rename(directory)
    assert done(approve(api, notice))["state"] == "approved"


def test_while_the_vault_rejects_writes_an_approval_holds_and_its_letter_is_available(api, filesystem_vault):
    api.ingest(RECORD)
    notice = drafted(api)
    with full_disk(filesystem_vault):
        approved = done(approve(api, notice))
        assert approved["state"] == "approved"
        assert api.get(f"/v1/notices/{notice['notice_id']}/letter", format="text").status_code == 200
        assert Entry.objects.get(pk=approved["custody_record_id"]).state == Entry.State.RESERVED
    with time_machine.travel(datetime.now(UTC) + services.LEASE + timedelta(seconds=1)):
        assert services.reconcile() == (1, 0)
    assert sealed_content(shown(api, notice))["letter"]["content"] == notice["content"]


@pytest.mark.once
def test_after_a_restore_only_the_approved_words_go_out(api, filesystem_vault, approved):
    """The vault holds the letter of an approval that the database lacks."""
    for rows in (SealedNotice.objects.all(), Approval.objects.all(), Entry.objects.filter(kind="notice")):
        with unguarded():
            rows._raw_delete(rows.db)
    Notice.objects.update(state="draft")
    done(edit(api, approved, title="Other words"))
    done(approve(api, approved))
    path = f"/v1/notices/{approved['notice_id']}/letter"
    for form in ("html", "text", "proof"):
        answer = api.get(path, format=form)
        assert answer.status_code == 500
        assert "new version" in answer.json()["detail"]
    made = done(approve(api, done(step(api, approved, "versions"))))
    assert "Other words" in api.get(f"/v1/notices/{made['notice_id']}/letter", format="text").content.decode()


@pytest.mark.once
def test_a_letter_whose_approval_the_database_lacks_has_no_public_page(api, approved):
    notice = stored(api, approved)
    with unguarded():
        Approval.objects.all()._raw_delete("default")
    Notice.objects.update(state="draft")
    assert Client().get(f"/n/{notice.address}").status_code == 404
