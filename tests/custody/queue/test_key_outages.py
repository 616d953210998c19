"""An hour without the key management service loses and duplicates no record, and owners get one mail."""

from datetime import timedelta

import pytest
from django.template import Template
from django.test.utils import instrumented_test_render
from django.utils import timezone

from accounts import callers
from accounts.models import Member
from accounts.roles import Role
from config.http.timestamps import minute_in_words
from custody import services, tasks
from custody.keys import keyrings, outages
from custody.keys.keyrings import Purpose
from custody.models import Entry, Key, KeyAlert, KeyOutage, WaitingObject
from custody.services import note_key_outages, reconcile, reconciler, send_key_alerts
from custody.services import sign as signing
from tests.people import add_person

pytestmark = [pytest.mark.django_db, pytest.mark.once]

MINUTE = timedelta(minutes=1)


def ids(prefix, count):
    return [f"{prefix}-{number}" for number in range(count)]


def test_an_hour_of_outage_loses_and_duplicates_nothing(api, queueing, customer, clock):
    acknowledged, refused = [], []
    assert api.ingest({"decision_id": "before"}).status_code == 202
    customer.status = 503
    for minute in range(0, 60, 5):
        clock.pass_by(5 * MINUTE)
        decision_id = f"during-{minute}"
        status = api.ingest({"decision_id": decision_id}).status_code
        assert status in (202, 503)
        (acknowledged if status == 202 else refused).append(decision_id)
        tasks.reconcile()
    assert len(acknowledged) == 5, "for half an hour the last epoch key serves"
    assert Entry.objects.filter(state="queued").count() == WaitingObject.objects.count() == 6
    customer.status = 200
    clock.pass_by(3 * MINUTE)
    tasks.reconcile()
    for decision_id in refused:  # the client repeats these requests
        assert api.ingest({"decision_id": decision_id}).status_code == 202
    tasks.reconcile()
    assert Entry.objects.filter(state="stored").count() == 13
    assert not WaitingObject.objects.exists()
    for decision_id in ("before", *acknowledged, *refused):
        assert api.get(f"/v1/decisions/{decision_id}/receipt").status_code == 200


def test_without_the_signing_key_alone_records_are_queued_without_end(api, organization, customer, clock):
    customer.holds(organization, Purpose.SIGNING)
    customer.status = 503
    for hour in range(3):
        clock.pass_by(timedelta(hours=1))
        assert api.ingest({"decision_id": f"loan-{hour}"}).status_code == 202
        tasks.reconcile()
        assert api.get(f"/v1/decisions/loan-{hour}/record").status_code == 200
    customer.status = 200
    clock.pass_by(3 * MINUTE)
    assert reconcile() == (3, 0)


def test_a_failing_key_has_growing_pauses_and_all_is_due_once_it_answers(api, organization, customer, clock):
    customer.holds(organization, Purpose.SIGNING)
    for decision_id in ids("loan", 20):
        api.ingest({"decision_id": decision_id})
    customer.status = 503
    customer.calls.clear()
    reconcile()
    asked = len(customer.calls)
    assert asked <= signing._PARALLEL_CALLS
    assert reconcile() == (0, 0)
    assert len(customer.calls) == asked, "it is paused"
    pauses = []
    for _ in range(8):
        pauses.append(KeyOutage.objects.get().next_try_at - timezone.now())
        clock.pass_by(pauses[-1])
        reconcile()
    assert pauses == sorted(pauses) or max(pauses) >= timedelta(seconds=90)
    assert max(pauses) <= timedelta(minutes=2)
    customer.status = 200
    clock.pass_by(timedelta(minutes=2))
    assert reconcile() == (20, 0)
    assert not KeyOutage.objects.exists()


def test_an_organizations_outage_delays_no_other(api, other_api, organization, customer, monkeypatch):
    monkeypatch.setattr(reconciler, "_CHUNK", 16)  # fewer than wait for each key
    customer.holds(organization, Purpose.SIGNING)
    customer.holds(other_api.organization, Purpose.WRAPPING)
    for number in range(20):
        api.ingest({"decision_id": f"a-{number}"})
        other_api.ingest({"decision_id": f"b-{number}"})
    (signing_key,) = (key for key in customer.kms.keys.values() if key.algorithm.startswith("EC"))
    signing_key.set_state("DISABLED")
    assert reconcile()[0] == 20
    assert set(Entry.objects.filter(state="stored").values_list("organization", flat=True)) == {
        other_api.organization.pk
    }


def test_reconcile_by_an_administrator_waits_for_no_pause(api, organization, customer):
    customer.holds(organization, Purpose.SIGNING)
    api.ingest({"decision_id": "loan-1"})
    customer.status = 503
    reconcile()
    customer.status = 200
    assert reconcile() == (0, 0)
    assert reconcile(retry_now=True) == (1, 0)


def test_no_call_begins_when_the_time_of_a_batch_is_over(api, organization, customer, monkeypatch):
    """They would end after the lease. The records have not failed, so they are due at once."""
    customer.holds(organization, Purpose.SIGNING)
    for decision_id in ids("loan", 3):
        api.ingest({"decision_id": decision_id})
    customer.calls.clear()
    monkeypatch.setattr(signing, "_SECONDS", -1)
    assert reconcile(limit=3) == (0, 3)
    assert customer.calls == []
    assert not KeyOutage.objects.exists()
    monkeypatch.undo()
    assert WaitingObject.objects.filter(lease_until=None, next_try_at=None, attempts=0).count() == 3


# ── mail ──


@pytest.fixture
def people(organization, other_api):
    return {role: add_person(organization, role).user.email for role in (Role.ADMIN, Role.AUDITOR, Role.OWNER)}


@pytest.fixture
def failing(api, organization, customer, people, clock):
    """Let an organization's signing key fail, and return a function that runs its queue for so many minutes."""
    customer.holds(organization, Purpose.SIGNING)
    api.ingest({"decision_id": "loan-1"})
    customer.status = 403

    def minutes(count):
        for _ in range(count):
            clock.pass_by(MINUTE)
            tasks.reconcile()
            tasks.note_key_outages()
            tasks.send_key_alerts()

    return minutes


def test_owners_get_one_mail_for_each_lasting_outage(failing, customer, people, mailoutbox, api):
    failing(4)
    assert mailoutbox == [], "a short outage needs no action"
    failing(12)
    owners = {"owner@bank.example", people[Role.OWNER]}
    assert sorted(address for mail in mailoutbox for address in mail.to) == sorted(owners)
    customer.status = 200
    failing(3)
    assert not KeyOutage.objects.exists()
    api.ingest({"decision_id": "loan-2"})
    customer.status = 403
    failing(12)
    assert len(mailoutbox) == 4


def test_the_mail_says_which_key_since_when_and_why_and_nothing_secret(failing, mailoutbox, organization):
    failing(10)
    outage = KeyOutage.objects.get()
    mail = mailoutbox[0]
    assert mail.subject == "The signing key of Example Bank cannot be used"
    for text in (mail.body, str(mail.alternatives[0][0])):
        assert minute_in_words(outage.since) in text
        assert "Google Cloud KMS" in text
        assert "useToSign: HTTP 403" in text
        assert "DRS_SECRET" not in text
        assert "loan-1" not in text
        assert f"/admin/custody/key/{outage.key_id}/change/" in text


def test_the_page_linked_by_the_mail_says_the_same(failing, signed_in):
    failing(10)
    outage = KeyOutage.objects.select_related("key").get()
    browser = signed_in(Role.OWNER)
    shown = browser.get(f"/admin/custody/key/{outage.key_id}/change/").content.decode()
    assert f">{minute_in_words(outage.since)}</time> Google Cloud KMS does not let us use this key" in shown
    assert "useToSign: HTTP 403" in shown
    assert outage.key.configuration["signing_key"] in shown
    assert "Google Cloud KMS" in browser.get("/admin/custody/key/").content.decode()


def test_a_mail_that_waits_is_not_sent_once_the_outage_is_over(failing, customer, mailoutbox, clock):
    for _ in range(10):
        clock.pass_by(MINUTE)
        tasks.reconcile()
    assert note_key_outages() == 1
    assert KeyAlert.objects.exists()
    customer.status = 200
    clock.pass_by(3 * MINUTE)
    tasks.reconcile()
    assert (send_key_alerts(), mailoutbox) == (0, [])


def test_a_former_owner_gets_no_mail(failing, mailoutbox, clock):
    for _ in range(10):
        clock.pass_by(MINUTE)
        tasks.reconcile()
    note_key_outages()
    Member.objects.all().update(role=Role.ADMIN)
    assert send_key_alerts() == 0
    assert mailoutbox == []


def test_another_key_ends_the_outage(failing, organization, mailoutbox):
    failing(3)
    services.rotate_key(caller=callers.system(organization.pk), purpose=Purpose.SIGNING)
    assert not KeyOutage.objects.exists()
    failing(12)
    assert mailoutbox == []
    assert Entry.objects.get().state == "stored"


def test_an_outage_of_a_retired_key_delays_nothing(api, organization, customer, clock):
    (key,) = customer.holds(organization, Purpose.SIGNING)
    services.rotate_key(caller=callers.system(organization.pk), purpose=Purpose.SIGNING)
    customer.holds(organization, Purpose.WRAPPING)
    outages.note(key.pk, "HTTP 403")
    api.ingest({"decision_id": "loan-1"})
    assert reconcile() == (1, 0)


# ── for operators ──


def test_readyz_says_for_how_long_the_oldest_record_waits_and_stays_ready(client, api, queueing, customer, clock):
    assert client.get("/readyz").json()["queue_lag_seconds"] == 0
    api.ingest({"decision_id": "loan-1"})
    customer.status = 503
    clock.pass_by(timedelta(minutes=20))
    api.ingest({"decision_id": "loan-2"})
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["status"]) == (200, "ok")
    assert 1200 <= answer.json()["queue_lag_seconds"] < 1260


def test_the_back_office_shows_what_waits_for_its_signature(api, queueing, signed_in, monkeypatch):
    monkeypatch.setattr(Template, "_render", instrumented_test_render)
    api.ingest({"decision_id": "loan-1"})
    browser = signed_in(Role.AUDITOR)
    assert "Not yet signed" in browser.get("/admin/custody/entry/").content.decode()
    for state, count in (("queued", 1), ("waiting", 1), ("reserved", 0)):
        shown = browser.get("/admin/custody/entry/", {"state": state}).context["cl"].result_list
        assert len(shown) == count


def test_a_key_whose_configuration_is_unreadable_delays_no_other(api, other_api, organization, customer):
    """For example after an update to a version that does not know its configuration."""
    (broken,) = customer.holds(organization, Purpose.SIGNING)
    customer.holds(other_api.organization, Purpose.SIGNING, name="other")
    api.ingest({"decision_id": "a"})
    other_api.ingest({"decision_id": "b"})
    Key.objects.filter(pk=broken.pk).update(configuration={"nonsense": "x"})
    keyrings.forget()
    assert reconcile()[0] == 1
    assert KeyOutage.objects.get().key_id == broken.pk
    assert Entry.objects.get(state="stored").organization_id == other_api.organization.pk
