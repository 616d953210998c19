"""Outages of vault, process and database: no review is lost and no chain broken."""

import itertools
import json

import pytest
from django.core.management import call_command
from django.db import OperationalError

from accounts.models import AuditEvent
from custody import vaults
from custody.keys import keyrings
from custody.models import Entry, Key, WaitingObject, object_key
from custody.services import adopt_orphans, reconcile
from decisions.models import Decision
from decisions.services import reconsiderations
from tests.custody.faulty_disk import faulty_disk, full_disk
from tests.reconsiderations.conftest import RAW, REVIEW, check, forget_all_records, is_committed, reconsider
from tests.support.unguarded import unguarded

# Foreign keys are checked when a transaction ends, so these tests need real ones.
pytestmark = pytest.mark.usefixtures("transactional_db")


def let_leases_run_out():
    WaitingObject.objects.update(lease_until="2000-01-01T00:00:00Z")


def everything_shown(api, decision_ids):
    """Return the API's answers about records, without `source`, which the vault does not know."""
    shown = {}
    for decision_id in decision_ids:
        for part in ("", "/record", "/receipt"):
            shown[decision_id + part] = api.get(f"/v1/decisions/{decision_id}{part}").json()
        shown[decision_id].pop("source")
    return shown


# ── the vault does not answer ──


def test_while_the_vault_is_full_it_is_a_202_and_the_reconciler_finishes_the_review(api, filesystem_vault, original):
    with full_disk(filesystem_vault):
        answer = reconsider(api)
    recorded = answer.json()
    assert answer.status_code == 202
    assert recorded.keys() == {"decision_id", "reconsiders", "rationale", "evidence_considered", "to_be_told"}
    assert is_committed(recorded["rationale"], REVIEW["rationale"]), "only this answer has the salts"
    mine = f"/v1/decisions/{recorded['decision_id']}"
    assert api.get(mine).json()["custody"] == "reserved"
    assert api.get("/v1/decisions/loan-1").json()["current_action"] == "approved"
    assert api.get(f"{mine}/receipt").status_code == 503
    assert check(api, recorded["decision_id"], rationale=REVIEW["rationale"]).json()["rationale"] is True

    let_leases_run_out()
    assert reconcile() == (1, 0)
    assert api.get(mine).json()["custody"] == "stored"
    assert api.get(f"{mine}/receipt").json()["decision_id"] == recorded["decision_id"]
    assert not WaitingObject.objects.exists()


def test_a_waiting_reconsideration_can_be_reconsidered_and_both_are_finished(api, filesystem_vault, original):
    with full_disk(filesystem_vault):
        first = reconsider(api).json()
        second = reconsider(api, first["decision_id"], outcome="upheld").json()
    let_leases_run_out()
    assert reconcile() == (2, 0)
    history = api.get("/v1/decisions/loan-1").json()["history"]
    assert [review["decision_id"] for review in history] == [first["decision_id"], second["decision_id"]]


@pytest.mark.once
def test_after_a_failure_of_any_disk_call_the_reconciler_leaves_one_review(api, filesystem_vault, original):
    for call in itertools.count():
        before = Decision.objects.count()
        with faulty_disk(filesystem_vault, fail_at=call) as disk:
            status = reconsider(api).status_code
        if not disk.failed:
            break
        assert status in (201, 202), disk.calls[call]
        let_leases_run_out()
        reconcile()
        assert Decision.objects.count() == before + 1
        assert not Entry.objects.filter(state=Entry.State.RESERVED).exists()
    assert call > 5


def test_without_the_organizations_keys_it_is_a_503_and_nothing_is_recorded(api, original):
    with unguarded():
        Key.objects.filter(purpose="index").delete()
    keyrings.forget()
    answer = reconsider(api)
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert set(answer.json()) == {"detail"}
    assert Decision.objects.count() == 1


# ── a process is killed, or the database fails, between the steps ──


class Killed(BaseException):
    """The end of the process."""


def kill(*args, **options):
    raise Killed


def events():
    return AuditEvent.objects.filter(verb="decision.reconsidered").count()


@pytest.mark.parametrize("failure", [Killed, OperationalError])
def test_a_review_whose_audit_event_is_not_written_is_not_recorded(api, each_vault, original, monkeypatch, failure):
    """Otherwise there would be a record whose salts were never sent."""

    def fail(*args, **options):
        raise failure

    monkeypatch.setattr(reconsiderations.audit, "record", fail)
    if failure is Killed:
        with pytest.raises(Killed):
            reconsider(api)
    else:
        assert reconsider(api).status_code == 503
    assert (Decision.objects.count(), Entry.objects.count(), events()) == (1, 1, 0)


def test_a_recorded_review_is_in_the_audit_trail_even_if_its_object_is_missing(
    api, filesystem_vault, original, monkeypatch
):
    with monkeypatch.context() as patch:
        patch.setattr(vaults.current(), "put_new", kill)
        with pytest.raises(Killed):
            reconsider(api)
    assert (Decision.objects.count(), events()) == (2, 1)
    let_leases_run_out()
    assert reconcile() == (1, 0)
    assert (Decision.objects.count(), events()) == (2, 1)


# ── the database is restored from an older dump ──


def chain_of(api):
    """Record a chain of reviews and a branch for the decision. Return all ids."""
    first = reconsider(api, outcome="upheld", new_action=None).json()["decision_id"]
    second = reconsider(api, first).json()["decision_id"]
    third = reconsider(api, second, outcome="modified", new_action="approved in part").json()["decision_id"]
    branch = reconsider(api, outcome="upheld", new_action=None).json()["decision_id"]
    return ["loan-1", first, second, third, branch]


def test_whole_chains_are_restored_from_the_vault(api, each_vault, original, capsys):
    ids = chain_of(api)
    before = everything_shown(api, ids)
    forget_all_records()
    call_command("custody_reconcile", "--adopt")
    assert "5 adopted from the vault" in capsys.readouterr().out
    assert everything_shown(api, ids) == before
    assert check(api, ids[1], rationale=REVIEW["rationale"]).json()["rationale"] is True


@pytest.mark.parametrize("order", ["oldest first", "newest first"])
def test_a_chain_is_restored_in_any_order_of_the_vaults_list(
    api, organization, filesystem_vault, original, monkeypatch, order
):
    ids = chain_of(api)
    before = everything_shown(api, ids)
    records = [before[f"{decision_id}/receipt"]["record_id"] for decision_id in ids]
    by_age = {record.replace("-", ""): age for age, record in enumerate(records)}
    forget_all_records()
    vault, listed = vaults.current(), vaults.current().list

    def in_order(prefix):
        return iter(sorted(listed(prefix), key=lambda key: by_age[key[-32:]], reverse=order == "newest first"))

    monkeypatch.setattr(vault, "list", in_order)
    assert adopt_orphans(organization) == 5
    assert everything_shown(api, ids) == before
    assert adopt_orphans(organization) == 0


def test_the_missing_end_of_a_chain_is_restored(api, organization, filesystem_vault, original):
    ids = chain_of(api)
    before = everything_shown(api, ids)
    with unguarded():
        Decision.objects.filter(decision_id__in=ids[3:]).delete()
        Entry.objects.exclude(pk__in=Decision.objects.values("pk")).delete()
    assert adopt_orphans(organization) == 2
    assert everything_shown(api, ids) == before


def test_a_review_without_its_decision_is_skipped_and_the_others_are_restored(api, organization, filesystem_vault):
    """Without the decision there is no chain for the review. Its object stays: a backup may have the decision."""
    for number in (1, 2):
        api.ingest({"decision_id": f"loan-{number}"})
    orphaned, restored = (reconsider(api, f"loan-{number}").json()["decision_id"] for number in (1, 2))
    lost = object_key(organization.id, Decision.objects.get(decision_id="loan-1").pk)
    body = vaults.current().get(lost)
    with unguarded():
        vaults.current().delete(lost)
    forget_all_records()
    assert adopt_orphans(organization) == 2
    assert set(Decision.objects.values_list("decision_id", flat=True)) == {"loan-2", restored}
    assert not Entry.objects.exclude(pk__in=Decision.objects.values("pk")).exists()
    vaults.current().put_new(lost, body)
    assert adopt_orphans(organization) == 2
    assert api.get("/v1/decisions/loan-1").json()["latest_reconsideration"] == orphaned


def test_after_a_restore_the_same_keys_verify(api, filesystem_vault, original):
    recorded = reconsider(api).json()
    forget_all_records()
    call_command("custody_reconcile", "--adopt")
    receipt = api.get(f"/v1/decisions/{recorded['decision_id']}/receipt").json()
    assert receipt["envelope"] == recorded["envelope"]
    assert Key.objects.get(purpose="signing").key_id == receipt["key_id"]
    assert api.ingest(RAW).status_code == 200
    assert json.loads(api.get("/v1/decisions/loan-1/record").content) == json.loads(RAW)
