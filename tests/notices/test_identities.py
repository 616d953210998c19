"""A notice's record has an id that no ingest can take. Records sealed by earlier versions keep theirs."""

import json
import shutil
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.core.management import call_command

from custody import record_types, services, vaults
from custody import selectors as custody
from custody.models import Entry, WaitingObject
from decisions.models import Decision
from notices.models import Approval, Notice, SealedNotice
from notices.services import seal_approved
from tests.custody.faulty_disk import full_disk
from tests.notices.conftest import RECORD, approve, done, drafted, edit, shown, step, stored
from tests.people import Browser
from tests.support.unguarded import unguarded

pytestmark = pytest.mark.django_db


def letter(api, notice, form="text"):
    return api.get(f"/v1/notices/{notice['notice_id']}/letter", format=form)


def take_its_id(api, notice):
    """Ingest an integrator's record under the notice's id."""
    return api.ingest({"decision_id": notice["notice_id"], "outcome": {"action": "approved"}})


@pytest.fixture
def as_before(monkeypatch):
    """Return a function that runs a call as earlier versions did, with bare notice ids as identities."""

    def do(call, *arguments, **options):
        with monkeypatch.context() as patch:
            patch.setattr(record_types, "identity", lambda kind, name: name)
            return call(*arguments, **options)

    return do


def a_minute_later():
    """Travel past the pause that follows a failure."""
    return time_machine.travel(datetime.now(UTC) + timedelta(seconds=61))


@pytest.fixture
def unsealed(api, notice, monkeypatch):
    """Return an approval whose process ended before custody had its record."""
    with monkeypatch.context() as patch:
        patch.setattr("notices.services.review.seal_approved", lambda **_: 0)
        return done(approve(api, notice))


# ── an id that is already taken ──


@pytest.mark.once
def test_a_record_under_the_notice_s_id_does_not_block_its_letter(api, each_vault, notice):
    assert take_its_id(api, notice).status_code == 201
    approved = done(approve(api, notice))
    assert letter(api, approved).status_code == 200
    assert Browser().get(f"/n/{stored(api, approved).address}").status_code == 200
    assert api.get(f"/v1/decisions/{notice['notice_id']}/record").status_code == 200
    assert approved["custody_record_id"] != api.get(f"/v1/decisions/{notice['notice_id']}").json()["record_id"]


def test_an_approval_whose_id_was_taken_before_the_upgrade_is_sealed_after_it(api, each_vault, unsealed, as_before):
    assert take_its_id(api, unsealed).status_code == 201
    as_before(seal_approved)
    assert letter(api, unsealed).status_code == 503, "as it was, for ever"
    with a_minute_later():
        seal_approved()
    assert letter(api, unsealed).status_code == 200
    assert take_its_id(api, unsealed).status_code == 200, "a replay of their own record"


@pytest.mark.once
def test_a_record_that_comes_after_it_is_no_conflict(api, approved):
    before = letter(api, approved).content
    assert take_its_id(api, approved).status_code == 201
    assert letter(api, approved).content == before


# ── notices that earlier versions sealed ──


def test_a_notice_sealed_before_opens_is_given_out_and_is_not_sealed_again(api, each_vault, notice, as_before):
    approved = done(as_before(approve, api, notice))
    before = {form: letter(api, approved, form).content for form in ("html", "text", "proof")}
    assert seal_approved() == 0
    assert {form: letter(api, approved, form).content for form in before} == before
    assert Entry.objects.filter(kind="notice").count() == SealedNotice.objects.count() == 1
    assert "In force" in Browser().get(f"/n/{stored(api, approved).address}").content.decode()
    assert take_its_id(api, approved).status_code == 409, "its id is taken, as it was"
    assert letter(api, approved, "proof").content == before["proof"]


def test_a_notice_that_was_reserved_before_is_finished_under_its_id(api, filesystem_vault, notice, as_before):
    with full_disk(filesystem_vault):
        approved = done(as_before(approve, api, notice))
    reserved = Entry.objects.get(kind="notice")
    assert reserved.state == Entry.State.RESERVED
    with time_machine.travel(datetime.now(UTC) + services.LEASE + timedelta(seconds=1)):
        assert services.reconcile() == (1, 0)
    assert seal_approved() == 0
    finished = Entry.objects.get(kind="notice")
    assert (finished.pk, finished.state) == (reserved.pk, Entry.State.STORED)
    assert letter(api, approved).status_code == 200
    assert not WaitingObject.objects.exists()


@pytest.mark.once
def test_a_notice_approved_before_and_sealed_after_has_the_new_id(api, each_vault, unsealed, as_before):
    assert seal_approved() == 1
    sealed = Entry.objects.get(kind="notice")
    assert custody.identifies(f"\x00notice:{unsealed['notice_id']}", sealed)
    assert letter(api, unsealed).status_code == 200
    assert as_before(seal_approved) == seal_approved() == 0


def forget_the_approval():
    """Delete the approval's rows, as a restored older database would lack them."""
    for rows in (SealedNotice.objects.all(), Approval.objects.all(), Entry.objects.filter(kind="notice")):
        with unguarded():
            rows._raw_delete(rows.db)
    Notice.objects.update(state="draft")


@pytest.mark.parametrize("adopted", [True, False])
def test_a_record_that_a_restored_database_lacks_stays_the_notice_s_only_one(
    api, filesystem_vault, notice, as_before, adopted
):
    first = done(as_before(approve, api, notice))
    proof = letter(api, first, "proof").content
    forget_the_approval()
    if adopted:
        call_command("custody_reconcile", "--adopt")
    again = shown(api, notice) if adopted else done(approve(api, notice))
    assert (again["custody_record_id"], again["letter_digest"]) == (first["custody_record_id"], first["letter_digest"])
    assert letter(api, again, "proof").content == proof
    objects = vaults.current().list(f"{api.organization.id.hex}/records/")
    assert len(list(objects)) == 2, "the decision, and the notice once"


@pytest.mark.once
def test_other_words_than_the_forgotten_ones_need_a_new_version(api, filesystem_vault, notice, as_before):
    as_before(approve, api, notice)
    forget_the_approval()
    done(edit(api, notice, title="Other words"))
    again = done(approve(api, notice))
    assert letter(api, again).status_code == 500
    assert "new version" in letter(api, again).json()["detail"]
    made = done(approve(api, done(step(api, again, "versions"))))
    assert "Other words" in letter(api, made).content.decode()


@pytest.mark.once
def test_a_decision_that_a_restored_database_lacks_does_not_block_a_letter(api, filesystem_vault, notice):
    """The vault holds an integrator's record under the notice's bare id, and its index row is restored."""
    take_its_id(api, notice)
    decisions = Decision.objects.filter(decision_id=notice["notice_id"])
    record = Entry.objects.filter(pk=decisions.get().pk)
    for rows in (decisions, record):
        with unguarded():
            rows._raw_delete(rows.db)
    approved = done(approve(api, notice))
    assert letter(api, approved).status_code == 200
    assert json.loads(api.get(f"/v1/decisions/{notice['notice_id']}/record").content)["outcome"]["action"] == "approved"


@pytest.mark.once
def test_while_the_vault_is_away_an_approval_waits_and_is_sealed_once_it_is_back(api, filesystem_vault, unsealed):
    away = filesystem_vault.with_suffix(".away")
    filesystem_vault.rename(away)
    assert seal_approved() == 0
    assert not SealedNotice.objects.exists()
    shutil.move(away, filesystem_vault)
    with a_minute_later():
        assert seal_approved() == 1
    assert shown(api, unsealed)["custody_record_id"]


@pytest.mark.once
def test_a_notice_about_one_record_says_nothing_of_another(api, approved):
    """A sealed notice's row that points at another notice's record is detected."""
    api.ingest(RECORD | {"decision_id": "loan-2"})
    other = done(approve(api, drafted(api, "loan-2")))
    mine, theirs = (SealedNotice.objects.get(notice=answer["notice_id"]) for answer in (approved, other))
    with unguarded():
        SealedNotice.objects.filter(pk=theirs.pk)._raw_delete("default")
        SealedNotice.objects.filter(pk=mine.pk).update(notice=other["notice_id"])
    assert letter(api, other).status_code == 500
