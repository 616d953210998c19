"""Each type of record answers for itself what retention and access requests ask."""

import json
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.core.exceptions import ImproperlyConfigured

from accounts import callers
from custody import record_types
from custody import selectors as custody
from custody.disposal import families
from custody.models import Entry
from custody.record_types import Families
from notices import selectors, services
from tests.custody.faulty_disk import full_disk
from tests.notices.conftest import RECORD, approve_acknowledged, done, drafted, edit, step, stored
from tests.notices.test_review_requests import ask
from tests.reconsiderations.conftest import RAW, reconsider

pytestmark = pytest.mark.django_db

NOT_DELIVERED = "A notice about it is neither delivered nor withdrawn."
NOT_ANSWERED = "A person who asked for a review of it waits for an answer."
NOT_TOLD = "A person who asked for a review of it is still to be told the outcome."


def entry_of(receipt):
    return Entry.objects.get(pk=receipt["record_id"])


def family_of(api, decision_id="loan-1"):
    return of(entry_of(api.get(f"/v1/decisions/{decision_id}").json()))


def of(entry):
    """Return the family of a record, as the only one of its families."""
    return Families(entry.organization_id, (families.root_of(entry),))


def only(by_family):
    (value,) = by_family.values()
    return value


def delivered(api, notice):
    done(approve_acknowledged(api, notice))
    return done(step(api, notice, "deliveries", {"channel": "hand"}))


@pytest.fixture
def decision(api):
    """Return the family of one decision among others."""
    for decision_id in ("loan-0", "loan-1", "loan-2"):
        done(api.ingest(RECORD | {"decision_id": decision_id, "subject": {"reference": f"file of {decision_id}"}}))
    return family_of(api)


# ── the registry ──


def test_the_types_of_all_apps_are_registered_and_dependent_types_come_later():
    assert [kind.name for kind in record_types.registered()] == ["decision", "reconsideration", "notice"]


def test_a_name_is_registered_once():
    known = record_types.registered()
    with pytest.raises(ImproperlyConfigured, match="'notice'"):
        record_types.register(record_types.get("notice"))
    assert record_types.registered() == known


# ── families ──


def test_a_decision_its_reconsiderations_and_their_notices_are_one_family(api, decision):
    first = done(reconsider(api))
    second = done(reconsider(api, first["decision_id"]))
    about_first = done(approve_acknowledged(api, drafted(api, "loan-1")))
    about_second = done(approve_acknowledged(api, drafted(api, second["decision_id"])))
    for other in ("loan-0", "loan-2"):
        done(reconsider(api, other))
        done(approve_acknowledged(api, drafted(api, other)))
    ids = [str(decision.roots[0]), first["record_id"], second["record_id"]]
    sealed = [about_first["custody_record_id"], about_second["custody_record_id"]]
    assert [str(record_id) for record_id in only(families.members(decision))] == [*ids, *sealed]
    assert {of(Entry.objects.get(pk=record_id)) for record_id in [*ids, *sealed]} == {decision}


@pytest.mark.once
def test_every_statement_of_a_family_refers_only_to_others_of_it(api, decision):
    """So no record outside of the family loses what it refers to."""
    done(approve_acknowledged(api, drafted(api, done(reconsider(api))["decision_id"])))
    entries = Entry.objects.in_bulk(only(families.members(decision)))
    digests = {custody.statement_digest(entry).hex() for entry in entries.values()}
    for entry in entries.values():
        assert set(json.loads(bytes(entry.statement))["predicate"]["parents"]) <= digests


@pytest.mark.once
def test_the_same_id_in_another_organization_is_another_family(api, other_api, decision):
    done(other_api.ingest(RECORD))
    done(reconsider(other_api))
    assert only(families.members(decision)) == list(decision.roots)
    theirs = Families(other_api.organization.pk, decision.roots)
    assert only(families.members(theirs)) == []


# ── when days begin to count ──


def test_days_count_from_the_date_of_the_decision_or_else_from_its_receipt(api):
    dated, undated = (entry_of(done(api.ingest({"decision_id": decision_id} | more))) for decision_id, more in (
        ("dated", {"decided_at": "2020-01-02T03:04:05Z"}), ("undated", {}),
    ))  # fmt: skip
    assert only(families.retention_of(of(dated))).counts_from == datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert only(families.retention_of(of(undated))).counts_from == undated.received_at


def test_days_count_from_the_last_event_in_the_family(api, decision):
    began = datetime(2026, 11, 3, tzinfo=UTC)
    moments = (began + timedelta(days=day) for day in range(1, 9))

    def counts_from_now(act):
        with time_machine.travel(now := next(moments), tick=False):
            result = act()
        assert only(families.retention_of(decision)).counts_from == now
        return result

    counts_from_now(lambda: done(reconsider(api)))
    notice = counts_from_now(lambda: drafted(api))
    counts_from_now(lambda: edit(api, notice, human_review_available=True, how_to_request_review="Write to us."))
    counts_from_now(lambda: done(approve_acknowledged(api, notice)))
    counts_from_now(lambda: done(step(api, notice, "deliveries", {"channel": "hand"})))
    request = counts_from_now(lambda: ask(api, notice))
    counts_from_now(
        lambda: services.close_request(
            caller=callers.system(api.organization.pk),
            request=selectors.review_request(api.organization.pk, request.pk),
            reason="Taken back.",
        )
    )


# ── obstacles ──


@pytest.mark.once
def test_a_decision_without_dependents_has_no_obstacles(decision):
    assert only(families.obstacles(decision)) == []


@pytest.mark.once
def test_a_notice_is_an_obstacle_until_it_is_delivered(api, decision):
    notice = drafted(api)
    assert only(families.obstacles(decision)) == [NOT_DELIVERED]
    done(step(api, notice, "submit"))
    assert only(families.obstacles(decision)) == [NOT_DELIVERED]
    done(approve_acknowledged(api, notice))
    assert only(families.obstacles(decision)) == [NOT_DELIVERED]
    done(step(api, notice, "deliveries", {"channel": "hand"}))
    assert only(families.obstacles(decision)) == []
    done(step(api, notice, "versions"))
    assert only(families.obstacles(decision)) == [NOT_DELIVERED]


@pytest.mark.once
def test_a_notice_about_a_reconsideration_is_an_obstacle_for_the_whole_family(api, decision):
    drafted(api, done(reconsider(api))["decision_id"])
    assert only(families.obstacles(decision)) == [NOT_DELIVERED]


@pytest.mark.once
def test_a_withdrawn_notice_is_not_an_obstacle(api, decision):
    done(step(api, drafted(api), "withdraw", {"reason": "Not needed."}))
    assert only(families.obstacles(decision)) == []


@pytest.mark.once
def test_a_letter_waiting_to_be_mailed_is_an_obstacle(api, decision):
    notice = drafted(api)
    delivered(api, notice)
    done(step(api, notice, "deliveries", {"channel": "email", "address": "person@home.example"}))
    assert only(families.obstacles(decision)) == ["A letter about it is still to be mailed."]


@pytest.mark.once
@pytest.mark.parametrize("how", ["told", "closed"])
def test_a_review_request_is_an_obstacle_until_it_is_answered_or_closed(api, decision, how):
    notice = drafted(api)
    edit(api, notice, human_review_available=True, how_to_request_review="On the page of this letter.")
    delivered(api, notice)
    request = ask(api, notice)
    assert only(families.obstacles(decision)) == [NOT_ANSWERED]
    if how == "told":
        answer = done(reconsider(api))
        assert only(families.obstacles(decision)) == [NOT_TOLD]
        delivered(api, drafted(api, answer["decision_id"]))
    else:
        own = selectors.review_request(api.organization.pk, request.pk)
        services.close_request(caller=callers.system(api.organization.pk), request=own, reason="Taken back.")
    assert only(families.obstacles(decision)) == []


@pytest.mark.once
def test_a_record_on_its_way_into_its_vault_is_an_obstacle(api, filesystem_vault):
    done(api.ingest(RAW))
    decision = family_of(api)
    with full_disk(filesystem_vault):
        reconsider(api)
    assert only(families.obstacles(decision)) == ["A record is still on its way into its vault."]


# ── exports ──


@pytest.mark.once
def test_an_export_has_every_record_of_the_family_byte_for_byte_and_all_about_its_notices(api):
    done(api.ingest(RAW))
    done(reconsider(api))
    person = {"name": "Example Person", "address": ["2 Example Street"], "email": "person@home.example"}
    notice = drafted(api, recipient=person)
    edit(api, notice, human_review_available=True, how_to_request_review="On the page of this letter.")
    delivered(api, notice)
    ask(api, notice, message="My income is higher.", email="person@home.example")
    export = families.export(family_of(api))
    (record,), (review,), (letter,) = export["decision"], export["reconsideration"], export["notice"]
    assert record["record"].encode() == RAW
    assert review["record"].encode() == api.get(f"/v1/decisions/{review['decision_id']}/record").content
    assert letter["recipient"]["name"] == "Example Person"
    assert [revision["number"] for revision in letter["revisions"]] == [1, 2]
    assert letter["revisions"][1]["content"] == selectors.current_revision(stored(api, notice)).content
    assert [delivery["channel"] for delivery in letter["deliveries"]] == ["hand"]
    assert [review_request["message"] for review_request in letter["review_requests"]] == ["My income is higher."]


@pytest.mark.once
def test_an_export_contains_nothing_of_other_families(api, other_api, decision):
    done(other_api.ingest(RECORD))
    done(api.ingest(RECORD | {"decision_id": "loan-9"}))
    drafted(api, "loan-9")
    export = families.export(decision)
    assert [decided["decision_id"] for decided in export["decision"]] == ["loan-1"]
    assert (export["reconsideration"], export["notice"]) == ([], [])


def test_families_are_found_by_the_reference_in_the_record_or_of_the_recipient(api, other_api, decision):
    done(other_api.ingest(RECORD | {"subject": {"reference": "file of loan-1"}}))
    organization = api.organization.pk
    assert families.roots_about(organization, "file of loan-1") == set(decision.roots)
    assert families.roots_about(organization, "file") == set()
    drafted(api, done(reconsider(api))["decision_id"], recipient={"reference": "customer 7"})
    assert families.roots_about(organization, "customer 7") == set(decision.roots)
    assert families.roots_about(other_api.organization.pk, "customer 7") == set()
