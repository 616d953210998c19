"""Callers and workers at the same time: one record each, one signature each, and a true answer for each caller."""

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


def test_parallel_posts_of_one_record_queue_it_once_and_get_one_answer(racing_api):
    answers = at_once(12, lambda _: post(racing_api, b'{"decision_id": "loan-1"}'))
    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.content for answer in answers}) == 1
    assert Decision.objects.count() == WaitingObject.objects.count() == 1


def test_one_of_several_contents_of_an_id_is_queued_and_others_conflict(racing_api):
    answers = at_once(12, lambda number: post(racing_api, b'{"decision_id": "loan-1", "amount": %d}' % number))
    assert Counter(answer.status_code for answer in answers) == {202: 1, 409: 11}


def test_posts_and_reads_beside_workers_get_true_answers(racing_api):
    """Row and object change together, so that no reader sees one without the other."""
    post(racing_api, b'{"decision_id": "loan-1"}')

    def work(number):
        if number == 0:
            reconcile()
            return [200]
        api = Api(racing_api.organization, racing_api.token)
        read = [api.get("/v1/decisions/loan-1/record").status_code for _ in range(10)]
        return [*read, *(api.ingest(b'{"decision_id": "loan-1"}').status_code for _ in range(5))]

    statuses = {status for results in at_once(6, work) for status in results}
    assert statuses <= {200, 202, 503}
    assert Entry.objects.get().state == "stored"


def test_parallel_workers_sign_and_store_each_record_once(racing_api, customer):
    for number in range(30):
        racing_api.ingest({"decision_id": f"loan-{number}"})
    customer.calls.clear()
    finished = at_once(4, lambda _: reconcile(limit=10))
    assert sum(done for done, _ in finished) + reconcile()[0] == 30
    assert Counter(customer.calls) == {"asymmetricSign": 30}
    assert Entry.objects.filter(state="stored").count() == SealedObject.objects.count() == 30


@pytest.mark.django_db
def test_a_worker_that_lost_its_lease_while_signing_changes_nothing(api, queueing):
    """The worker was stopped, and another one has claimed its rows and still works on them."""
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
def test_after_a_crash_behind_signing_nothing_is_signed_again(api, queueing, customer):
    api.ingest({"decision_id": "loan-1"})
    claimed = leases.claim(WaitingObject.objects.select_related("record"), lasts=services.LEASE)
    sign_queued(claimed, lease=services.LEASE)
    signature = bytes(Entry.objects.get().signature)
    customer.calls.clear()
    with time_machine.travel(timezone.now() + services.LEASE + timedelta(seconds=1)):
        assert reconcile() == (1, 0)
    assert bytes(Entry.objects.get().signature) == signature
    assert customer.calls == []
