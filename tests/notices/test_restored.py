"""A notice that was approved after the dump of a restored database comes back from custody."""

from collections.abc import Callable, Iterator
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from accounts.models import AuditEvent
from accounts.roles import Role
from custody import record_types, vaults
from custody.keys import keyrings
from custody.models import Damage, Entry, object_key
from custody.services import adopt_orphans
from custody.vaults import storage_targets
from decisions.models import Decision
from notices import services as notices
from notices.models import Approval, Contributor, Delivery, Notice, NoticeRevision
from tests.notices.conftest import RECORD, acting, approve, done, drafted, edit, refused, shown, step, stored
from tests.people import Browser
from tests.reconsiderations.conftest import reconsider
from tests.support.unguarded import unguarded

pytestmark = pytest.mark.django_db

RECIPIENT = {"name": "A. Person", "reference": "application 7"}
Restore = Callable[[], None]


@pytest.fixture
def dump(api: Any, filesystem_vault: Any) -> Iterator[Callable[[], Restore]]:
    """Return a function that dumps the database, and returns a function that restores this dump."""

    def make() -> Restore:
        place = transaction.savepoint()

        def restore() -> None:
            transaction.savepoint_rollback(place)
            for forget in (keyrings.forget, storage_targets.forget, vaults.forget):
                forget()

        return restore

    yield make
    connection.check_constraints()


def adopt(expected: int) -> str:
    """Adopt what the vault holds. Return the output."""
    out = StringIO()
    call_command("custody_reconcile", "--adopt", stdout=out)
    assert f"{expected} adopted from the vault" in out.getvalue()
    connection.check_constraints()
    return out.getvalue()


def refused_adoption() -> str:
    out = StringIO()
    with pytest.raises(CommandError, match="Not all objects could be adopted"):
        call_command("custody_reconcile", "--adopt", stdout=out)
    return out.getvalue()


def require_whole() -> None:
    """Require that a check of all custody finds no damage, and that /readyz says so."""
    call_command("custody_fsck", stdout=StringIO())
    assert not Damage.objects.exists()


def letters(api: Any, notice: dict[str, Any]) -> dict[str, bytes]:
    """Return the letter of a notice in all forms but PDF."""
    answers = {
        form: api.get(f"/v1/notices/{notice['notice_id']}/letter", format=form) for form in ("html", "text", "proof")
    }
    assert {answer.status_code for answer in answers.values()} == {200}
    return {form: answer.content for form, answer in answers.items()}


# ── a notice whose row is gone ──


def test_a_notice_drafted_and_approved_after_the_dump_comes_back_approved(api, dump):
    done(api.ingest(RECORD))
    restore = dump()
    before = done(approve(api, drafted(api, recipient=RECIPIENT)))
    address, letter = stored(api, before).address, letters(api, before)
    restore()
    assert not Notice.objects.exists()
    adopt(1)
    after = shown(api, before)
    same = (
        "state", "content", "citations", "pack", "pack_version", "language", "due_at", "custody_record_id",
        "letter_digest", "decision_id",
    )  # fmt: skip
    assert {name: after[name] for name in same} == {name: before[name] for name in same}
    assert {name: after["approval"][name] for name in ("approver", "authority", "basis", "approved_at")} == {
        name: before["approval"][name] for name in ("approver", "authority", "basis", "approved_at")
    }
    assert letters(api, after)["proof"] == letter["proof"]
    assert stored(api, after).address == address, "the printed address leads to the letter's page"
    assert "In force" in Browser().get(f"/n/{address}").content.decode()
    require_whole()


def test_what_custody_does_not_know_of_a_restored_notice_stays_unknown(api, dump):
    done(api.ingest(RECORD))
    restore = dump()
    before = done(edit(api, drafted(api, recipient=RECIPIENT), title="Other words"))
    done(approve(api, before, comment="private remark"))
    done(step(api, before, "deliveries", {"channel": "hand"}))
    restore()
    adopt(1)
    after = shown(api, before)
    assert after["recipient"] == {"reference": "application 7"}
    assert after["state"] == "approved"
    assert after["created_by"] == "system custody, after a database restore"
    assert not Delivery.objects.exists()
    assert not Contributor.objects.exists()
    assert Approval.objects.get().comment == ""
    assert [row.number for row in NoticeRevision.objects.all()] == [2]
    event = AuditEvent.objects.filter(verb="notice.restored").get()
    assert (event.object_id, event.actor_kind) == (before["notice_id"], "system")


def test_a_restored_notice_is_read_only_and_can_be_delivered_and_replaced(api, dump):
    done(api.ingest(RECORD))
    restore = dump()
    before = done(approve(api, drafted(api)))
    restore()
    adopt(1)
    assert "approved" in refused(edit(api, before, title="Other words"))
    done(step(api, before, "deliveries", {"channel": "hand"}))
    assert shown(api, before)["state"] == "delivered"
    done(approve(api, done(step(api, before, "versions"))))
    assert shown(api, before)["state"] == "withdrawn"
    require_whole()


def test_the_back_office_says_that_a_notice_was_restored(api, dump, signed_in):
    done(api.ingest(RECORD))
    person = signed_in(Role.AUDITOR)
    restore = dump()
    before = done(approve(api, drafted(api)))
    restore()
    adopt(1)
    page = person.get(f"/admin/notices/notice/{before['notice_id']}/change/").content.decode()
    assert "restored the approved words as revision 1 after a database restore" in page
    assert "drafted it" not in page


def test_an_approval_by_a_member_keeps_its_grant_only_if_the_dump_has_it(api, dump):
    done(api.ingest(RECORD))
    approver = acting(api.organization, Role.APPROVER, "approver@bank.example")
    restore = dump()
    notice = drafted(api)
    notices.approve(caller=approver, notice=stored(api, notice))
    restore()
    adopt(1)
    approval = Approval.objects.get()
    assert (approval.approver, approval.basis, approval.grant) == ("approver@bank.example", "signed in", None)
    assert (approval.actor_kind, approval.actor_id) == ("member", "")
    require_whole()


# ── every type of record, and their order ──


def everything(api: Any) -> list[dict[str, Any]]:
    """Create records of each type after a dump. Return the notices."""
    done(api.ingest(RECORD))
    done(reconsider(api))
    review = Decision.objects.get(kind="reconsideration").decision_id
    drafts = [
        drafted(api, recipient=RECIPIENT),
        drafted(api, recipient={"reference": "application 8"}),
        drafted(api, review),
    ]
    return [done(approve(api, notice)) for notice in drafts]


@pytest.mark.parametrize("order", ["oldest first", "newest first"])
def test_every_type_of_record_comes_back_in_any_order_of_the_vaults_list(api, dump, monkeypatch, order):
    restore = dump()
    made = everything(api)
    entries = list(Entry.objects.order_by("received_at").values_list("pk", "kind"))
    assert {kind for _, kind in entries} == {record_type.name for record_type in record_types.registered()}
    proofs = [letters(api, notice)["proof"] for notice in made]
    ages = {pk.hex: age for age, (pk, _) in enumerate(entries)}
    restore()
    vault = vaults.current()
    listed = vault.list

    def in_order(prefix: str) -> Iterator[str]:
        keys = (key for key in listed(prefix) if key[-32:] in ages)
        return iter(sorted(keys, key=lambda key: ages[key[-32:]], reverse=order == "newest first"))

    monkeypatch.setattr(vault, "list", in_order)
    adopt(len(entries))
    assert sorted(Entry.objects.values_list("pk", "kind")) == sorted(entries)
    assert [letters(api, notice)["proof"] for notice in made] == proofs
    require_whole()
    adopt(0)
    require_whole()


def test_an_adoption_that_is_killed_leaves_no_half_notice_and_is_repeated(api, dump, monkeypatch):
    restore = dump()
    made = everything(api)
    restore()

    class Killed(BaseException):
        pass

    def kill(*_: Any) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr("custody.services.complete._admit", kill)
        for _ in range(3):
            with pytest.raises(Killed), transaction.atomic():
                adopt_orphans(api.organization)
    assert not Notice.objects.exists()
    adopt(5)
    assert [shown(api, notice)["state"] for notice in made] == ["approved"] * 3
    require_whole()


# ── a notice whose row is older than its approval ──


def test_a_notice_drafted_before_the_dump_is_approved_again(api, dump, notice):
    restore = dump()
    before = done(approve(api, done(edit(api, notice, title="Approved words"))))
    letter = letters(api, before)
    restore()
    assert shown(api, notice)["state"] == "draft"
    adopt(1)
    after = shown(api, notice)
    assert (after["state"], after["content"]) == ("approved", before["content"])
    assert letters(api, notice) == letter
    assert [row.number for row in NoticeRevision.objects.order_by("number")] == [1, 2]
    require_whole()


def test_the_approved_words_win_over_edits_since_the_restore_and_the_edits_stay_readable(api, dump, notice):
    restore = dump()
    before = done(approve(api, done(edit(api, notice, title="Approved words"))))
    restore()
    done(edit(api, notice, title="Other words"))
    adopt(1)
    assert shown(api, notice)["content"] == before["content"]
    titles = [row.content["title"] for row in NoticeRevision.objects.order_by("number")]
    assert titles[1:] == ["Other words", "Approved words"]
    require_whole()


def test_a_notice_withdrawn_since_the_restore_stays_withdrawn(api, dump, notice):
    restore = dump()
    done(approve(api, notice))
    restore()
    done(step(api, notice, "withdraw"))
    adopt(1)
    assert shown(api, notice)["state"] == "withdrawn"
    require_whole()


def test_a_restored_approval_of_a_new_version_withdraws_the_earlier_notice(api, dump, approved):
    successor = done(step(api, approved, "versions"))
    restore = dump()
    done(approve(api, successor))
    restore()
    adopt(1)
    assert (shown(api, approved)["state"], shown(api, successor)["state"]) == ("withdrawn", "approved")
    require_whole()


def test_a_new_version_and_the_notice_it_replaces_both_come_back(api, dump):
    done(api.ingest(RECORD))
    restore = dump()
    first = done(approve(api, drafted(api)))
    second = done(approve(api, done(step(api, first, "versions"))))
    restore()
    adopt(2)
    assert (shown(api, first)["state"], shown(api, second)["state"]) == ("withdrawn", "approved")
    assert shown(api, second)["supersedes"] == first["notice_id"]
    require_whole()


def test_a_new_version_made_since_the_restore_must_be_withdrawn_first(api, dump, approved):
    restore = dump()
    done(approve(api, done(step(api, approved, "versions"))))
    restore()
    other = done(step(api, approved, "versions"))
    assert "A new version of the notice that it replaces was made: withdraw that one." in refused_adoption()
    done(step(api, other, "withdraw"))
    adopt(1)
    assert shown(api, approved)["state"] == "withdrawn"
    require_whole()


def test_other_words_approved_since_the_restore_are_damage_until_a_new_version_replaces_them(api, dump, notice):
    restore = dump()
    done(approve(api, notice))
    restore()
    done(approve(api, done(edit(api, notice, title="Other words"))))
    out = StringIO()
    with pytest.raises(CommandError):
        call_command("custody_fsck", stdout=out)
    assert "Make a new version of the notice." in out.getvalue()
    done(approve(api, done(step(api, notice, "versions"))))
    require_whole()


# ── what cannot be adopted ──


def test_a_notice_whose_decision_is_lost_everywhere_is_named_with_its_cause(api, dump):
    restore = dump()
    done(api.ingest(RECORD))
    before = done(approve(api, drafted(api)))
    decision = Decision.objects.get()
    with unguarded():
        vaults.current().delete(object_key(api.organization.pk, decision.pk))
    restore()
    output = refused_adoption()
    refused_record = f"not adopted: {before['custody_record_id']}: It builds on a record"
    assert f"{refused_record} that the database does not have: {decision.pk}. No listed storage has it" in output
    assert not Notice.objects.exists()


def test_a_notice_that_contradicts_rows_is_named_with_that_cause(api, dump):
    done(api.ingest(RECORD))
    restore = dump()
    before = done(approve(api, drafted(api)))
    address = stored(api, before).address
    restore()
    other = stored(api, drafted(api))
    Notice.objects.filter(pk=other.pk).update(address=address)
    output = refused_adoption()
    assert f"not adopted: {before['custody_record_id']}: The database has rows that contradict it." in output
