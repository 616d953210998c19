"""When an organization's storage fails, its owners get one mail, /readyz shows it, and the service stays ready."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from accounts import callers
from accounts.roles import MEMBER_ROLES, Role
from custody import services
from custody.models import StorageAlert, StorageOutage, WaitingObject
from tests.custody.cloud_storage import PROVIDERS
from tests.people import add_person
from tests.support.unguarded import unguarded

pytestmark = [pytest.mark.django_db, pytest.mark.once, pytest.mark.usefixtures("marker_asked_for")]


@pytest.fixture
def storage(storage_of, use_storage, organization):
    made = storage_of("gcp")
    use_storage(organization, made)
    return made


def outage(storage):
    storage.faults.add(503, times=10_000)


def watch_and_mail():
    failing = services.watch_targets()
    services.send_storage_alerts()
    return failing


@pytest.mark.parametrize("provider", PROVIDERS)
def test_owners_get_one_mail_an_outage_however_many_records_wait(
    api, storage_of, use_storage, organization, mailoutbox, provider
):
    people = {role: add_person(organization, role).user.email for role in MEMBER_ROLES}
    storage = storage_of(provider)
    use_storage(organization, storage)
    assert watch_and_mail() == 0
    outage(storage)
    for number in range(3):
        assert api.ingest({"decision_id": f"loan-{number}"}).status_code == 503
    assert [watch_and_mail() for _ in range(3)] == [1, 1, 1]
    assert {mail.to[0] for mail in mailoutbox} == {people[Role.OWNER], "owner@bank.example"}
    assert len(mailoutbox) == 2
    for mail in mailoutbox:
        assert mail.subject == "The storage of Example Bank does not take records"
        for text in (mail.body, str(mail.alternatives[0][0])):
            assert "the bucket cannot read" in text
            assert "/admin/custody/storagetarget/" in text
            assert "loan-" not in text
            assert "DRS_SECRET" not in text


def test_each_outage_is_mailed_unless_it_follows_at_once(storage, mailoutbox):
    now = datetime.now(UTC)
    for minutes, failing, mails in ((0, True, 1), (5, False, 1), (10, True, 1), (15, False, 1), (120, True, 2)):
        storage.faults.clear()
        if failing:
            outage(storage)
        with time_machine.travel(now + timedelta(minutes=minutes), tick=False):
            assert watch_and_mail() == int(failing)
        assert len(mailoutbox) == mails, minutes
        assert StorageOutage.objects.filter(ended_at=None).exists() == failing
    assert StorageOutage.objects.count() == 2


def test_no_mail_is_sent_for_an_outage_that_is_over_or_a_target_no_longer_used(storage, organization, mailoutbox):
    outage(storage)
    services.watch_targets()
    services.choose_deployments(caller=callers.command_line(organization.pk))
    assert services.send_storage_alerts() == 0
    assert mailoutbox == []
    assert StorageAlert.objects.exclude(handled_at=None).count() == 1


def test_readyz_shows_it_and_stays_ready_for_the_other_organizations(api, other_api, storage, client):
    assert client.get("/readyz").json()["targets"] == "ok"
    outage(storage)
    services.watch_targets()
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["status"], answer.json()["targets"]) == (200, "ok", "failing")
    assert api.get("/v1/custody").json()["failing_since"]
    assert other_api.get("/v1/custody").json()["failing_since"] is None
    storage.faults.clear()
    services.watch_targets()
    assert client.get("/readyz").json()["targets"] == "ok"
    assert api.get("/v1/custody").json()["failing_since"] is None


def test_a_target_with_waiting_records_is_watched_after_another_was_chosen(api, storage, organization):
    outage(storage)
    api.ingest({"decision_id": "loan-1"})
    services.choose_deployments(caller=callers.command_line(organization.pk))
    assert services.watch_targets() == 1
    with unguarded():
        WaitingObject.objects.all().delete()
    assert services.watch_targets() == 0


def test_watching_changes_nothing_in_the_bucket(storage):
    before = storage.names()
    for _ in range(3):
        services.watch_targets()
    assert storage.names() == before
