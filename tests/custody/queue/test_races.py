"""Callers and workers at the same time: one record each, one signature each, and a true answer for everybody."""

from collections import Counter
from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from config import leases
from custody import services
from custody.keys.keyrings import Purpose
from custody.models import Entry, SealedObject, WaitingObject
from custody.services import reconcile
from custody.services.complete import complete
from custody.services.sign import sign_queued
from decisions.models import Decision
from tests.conftest import Api
from tests.threads import at_once


@pytest.fixture
def racing_api(shared_database, request, api_for, customer):
    organization = request.getfixturevalue("organization")
    customer.holds(organization, Purpose.SIGNING, Purpose.WRAPPING)
    return api_for(organization)


def post(api, raw):
    return Api(api.organization, api.token).ingest(raw)


def test_posts_of_one_record_are_one_that_is_queued_and_all_are_told_so(racing_api):
    answers = at_once(12, lambda _: post(racing_api, b'{"decision_id": "loan-1"}'))
    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.content for answer in answers}) == 1
    assert Decision.objects.count() == WaitingObject.objects.count() == 1


def test_of_different_records_of_one_id_one_is_queued_and_the_others_are_conflicts(racing_api):
    answers = at_once(12, lambda number: post(racing_api, b'{"decision_id": "loan-1", "amount": %d}' % number))
    assert Counter(answer.status_code for answer in answers) == {202: 1, 409: 11}


def test_posts_and_readers_meet_workers_and_everybody_is_told_the_truth(racing_api):
    """Row and object change together: nobody sees the one without the other."""
    post(racing_api, b'{"decision_id": "loan-1"}')

    def work(number):
        if number == 0:
            reconcile()
            return [200]
        api = Api(racing_api.organization, racing_api.token)
        found = [api.get("/v1/decisions/loan-1/record").status_code for _ in range(10)]
        return [*found, *(api.ingest(b'{"decision_id": "loan-1"}').status_code for _ in range(5))]

    told = {status for each in at_once(6, work) for status in each}
    assert told <= {200, 202, 503}
    assert Entry.objects.get().state == "stored"


def test_workers_at_work_together_sign_and_store_each_record_once(racing_api, customer):
    for number in range(30):
        racing_api.ingest({"decision_id": f"loan-{number}"})
    customer.calls.clear()
    finished = at_once(4, lambda _: reconcile(limit=10))
    assert sum(done for done, _ in finished) + reconcile()[0] == 30
    assert Counter(customer.calls) == {"asymmetricSign": 30}
    assert Entry.objects.filter(state="stored").count() == SealedObject.objects.count() == 30


@pytest.mark.django_db
def test_who_lost_the_lease_while_signing_changes_nothing(api, queueing):
    """A worker that was stopped: what it claimed was claimed by another, who is still at work."""
    api.ingest({"decision_id": "loan-1"})
    queue = WaitingObject.objects.select_related("record")
    (stopped,) = leases.claim(queue, lasts=services.LEASE)
    with time_machine.travel(timezone.now() + services.LEASE + timedelta(seconds=1)):
        (other,) = leases.claim(queue, lasts=services.LEASE)
        assert sign_queued([stopped], lease=services.LEASE) == []
        assert Entry.objects.get().state == "queued"
        assert sign_queued([other], lease=services.LEASE) == [other]
        assert complete([other]) == {other.pk}
    assert api.get("/v1/decisions/loan-1/receipt").status_code == 200


@pytest.mark.django_db
def test_a_worker_that_died_after_signing_signs_nothing_anew(api, queueing, customer):
    api.ingest({"decision_id": "loan-1"})
    claimed = leases.claim(WaitingObject.objects.select_related("record"), lasts=services.LEASE)
    sign_queued(claimed, lease=services.LEASE)
    signature = bytes(Entry.objects.get().signature)
    customer.calls.clear()
    with time_machine.travel(timezone.now() + services.LEASE + timedelta(seconds=1)):
        assert reconcile() == (1, 0)
    assert bytes(Entry.objects.get().signature) == signature
    assert customer.calls == []
