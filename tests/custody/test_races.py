"""Concurrent requests with one decision id: one record, one receipt, and correct answers for all."""

import json
from collections import Counter

import pytest

from accounts import callers
from custody import services, vaults
from custody.models import Entry, SealedObject, WaitingObject
from custody.services import Submission
from decisions.models import Decision
from decisions.services import ingest_lines
from tests.conftest import Api
from tests.threads import at_once

CALLERS = 8


@pytest.fixture(params=["database", "filesystem"])
def racing_api(shared_database, request, api_for, monkeypatch):
    """Return an API whose callers share a real database, once for every vault."""
    if request.param == "filesystem":
        request.getfixturevalue("filesystem_vault")
    return api_for(request.getfixturevalue("organization"))


def post(api, raw):
    return Api(api.organization, api.token).ingest(raw)


def assert_one_record_is_kept(api):
    assert Decision.objects.count() == Entry.objects.count() == 1
    assert Entry.objects.get().state == Entry.State.STORED
    assert len(list(vaults.current().list(f"{api.organization.id.hex}/records/"))) == 1
    assert SealedObject.objects.count() == (1 if vaults.current().transactional else 0)
    assert WaitingObject.objects.count() == 0


def test_posts_of_one_record_give_one_201_and_equal_receipts(racing_api):
    answers = at_once(CALLERS, lambda _: post(racing_api, b'{"decision_id": "loan-1", "amount": 1.50}'))
    assert Counter(answer.status_code for answer in answers) == {201: 1, 200: CALLERS - 1}
    assert len({answer.content for answer in answers}) == 1
    assert_one_record_is_kept(racing_api)


def test_spellings_of_one_record_are_one_record_with_the_first_bytes(racing_api):
    spellings = [b'{"decision_id": "loan-1",%s"amount": 1.50}' % (b" " * number) for number in range(CALLERS)]
    answers = at_once(CALLERS, lambda number: post(racing_api, spellings[number]))
    assert Counter(answer.status_code for answer in answers) == {201: 1, 200: CALLERS - 1}
    (winner,) = [number for number, answer in enumerate(answers) if answer.status_code == 201]
    assert racing_api.get("/v1/decisions/loan-1/record").content == spellings[winner]
    assert_one_record_is_kept(racing_api)


def test_different_records_of_one_id_give_one_201_and_conflicts(racing_api):
    records = [b'{"decision_id": "loan-1", "amount": %d}' % number for number in range(CALLERS)]
    answers = at_once(CALLERS, lambda number: post(racing_api, records[number]))
    assert Counter(answer.status_code for answer in answers) == {201: 1, 409: CALLERS - 1}
    (winner,) = [number for number, answer in enumerate(answers) if answer.status_code == 201]
    assert racing_api.get("/v1/decisions/loan-1/record").content == records[winner]
    assert_one_record_is_kept(racing_api)


def test_posts_of_many_ids_are_as_many_records(racing_api):
    answers = at_once(CALLERS, lambda number: post(racing_api, b'{"decision_id": "loan-%d"}' % number))
    assert [answer.status_code for answer in answers] == [201] * CALLERS
    assert Decision.objects.count() == CALLERS


def test_batches_that_share_ids_in_opposite_orders_neither_deadlock_nor_double(racing_api):
    lines = [b'{"decision_id": "loan-%d"}\n' % number for number in range(150)]

    def load(number):
        return Counter(
            line.status
            for line in ingest_lines(
                caller=callers.system(racing_api.organization.id),
                lines=lines if number % 2 else lines[::-1],
                source="batch",
            )
        )

    total = sum(at_once(4, load), Counter())
    assert total["created"] == len(lines)
    assert total["created"] + total["replayed"] + total["unavailable"] == 4 * len(lines)
    assert total["unavailable"] == 0
    assert Decision.objects.count() == len(lines)


def test_concurrent_reconcilers_finish_each_record_once(shared_database, organization, filesystem_vault, monkeypatch):
    vault, put_new = vaults.current(), vaults.current().put_new

    def unavailable(key, body):
        raise vaults.VaultUnavailable("down")

    monkeypatch.setattr(vault, "put_new", unavailable)
    for number in range(20):
        raw = b'{"decision_id": "loan-%d"}' % number
        submission = Submission("decision", f"loan-{number}", raw, json.loads(raw), "api")
        services.store_records(organization_id=organization.id, submissions=[submission])
    WaitingObject.objects.update(lease_until="2000-01-01T00:00:00Z")
    puts = []
    monkeypatch.setattr(vault, "put_new", lambda key, body: puts.append(key) or put_new(key, body))
    finished = at_once(4, lambda _: services.reconcile(limit=7))
    assert sum(done for done, _ in finished) + services.reconcile()[0] == 20
    assert len(puts) == len(set(puts)) == 20
    assert Entry.objects.filter(state=Entry.State.RESERVED).count() == WaitingObject.objects.count() == 0
