"""Idempotency of reconsiderations: a repeated Idempotency-Key gives the same record and salts, even after failures."""

import itertools
import json
import uuid
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from accounts.models import AuditEvent, KeptAnswer
from accounts.roles import Role
from custody.keys import keyrings
from custody.models import Entry, Key
from decisions.models import Decision
from tests.conftest import Api
from tests.custody.faulty_disk import faulty_disk, full_disk
from tests.reconsiderations.conftest import RAW, REVIEW, check, forget_all_records, is_committed, record_of
from tests.support.unguarded import unguarded
from tests.threads import at_once

# Foreign keys are checked when a transaction ends, so these tests need real ones.
pytestmark = pytest.mark.usefixtures("transactional_db")

URL = "/v1/decisions/loan-1/reconsideration"


def send(api: Api, key: str = "once", path: str = URL, **changes: Any) -> Any:
    """Send REVIEW with changes under a key, and return the answer."""
    body = json.dumps({**REVIEW, **changes}).encode()
    return api.client.post(path, body, content_type="application/json", headers={"Idempotency-Key": key})


def commitments(answer: Any) -> list[Any]:
    return [answer.json()[name] for name in ("decision_id", "rationale", "evidence_considered")]


def reviews() -> int:
    return Decision.objects.filter(kind="reconsideration").count()


def test_a_repetition_has_the_first_answer_and_records_nothing(api, each_vault, original):
    first, again = send(api), send(api)
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.content == first.content
    assert [answer.headers.get("Idempotent-Replayed") for answer in (first, again)] == [None, "true"]
    assert reviews() == 1
    assert AuditEvent.objects.filter(verb="decision.reconsidered").count() == 1


def test_a_key_never_expires_because_the_record_gives_the_answer(api, original):
    first = send(api)
    with time_machine.travel(timezone.now() + timedelta(days=400), tick=False):
        assert send(api).content == first.content
    assert not KeptAnswer.objects.exists()


CHANGES = [
    {"requested_by": "the board"},
    {"reviewer": "B. Reviewer"},
    {"reviewer_authority": "clerk"},
    {"outcome": "upheld"},
    {"new_action": "denied"},
    {"new_action": None},
    {"new_action": ""},
    {"rationale": REVIEW["rationale"] + " "},
    {"evidence_considered": []},
    {"evidence_considered": REVIEW["evidence_considered"][:1]},
    {"evidence_considered": REVIEW["evidence_considered"][::-1]},
    {"evidence_considered": [*REVIEW["evidence_considered"], "one more"]},
]


@pytest.mark.once
def test_another_review_under_the_key_is_a_409_that_repeats_no_text(api, original, subtests):
    send(api)
    for change in CHANGES:
        with subtests.test(change=change):
            answer = send(api, **change)
            assert answer.status_code == 409
            assert set(answer.json()) == {"detail"}
            assert REVIEW["rationale"] not in answer.content.decode()
            assert reviews() == 1


@pytest.mark.once
def test_another_key_caller_decision_or_organization_is_another_review(api, api_for, organization, other_api, original):
    api.ingest({"decision_id": "loan-2"})
    other_api.ingest(RAW)
    answers = [
        send(api),
        send(api, "twice"),
        send(api, path="/v1/decisions/loan-2/reconsideration"),
        send(api_for(organization, Role.OWNER)),
        send(other_api),
    ]
    assert [answer.status_code for answer in answers] == [201] * 5
    assert len({answer.json()["decision_id"] for answer in answers}) == 5


@pytest.mark.once
def test_the_id_is_a_random_looking_uuid_that_does_not_reveal_the_key(api, original):
    recorded = send(api, "order-4711").json()
    identifier = uuid.UUID(recorded["decision_id"].removeprefix("reconsideration-"))
    assert (identifier.version, identifier.variant) == (4, uuid.RFC_4122)
    assert "4711" not in json.dumps([recorded, record_of(api, recorded["decision_id"])])


@pytest.mark.once
def test_a_bad_key_is_refused_before_anything_is_recorded(api, original):
    answer = send(api, "two words")
    assert (answer.status_code, answer.json()["detail"][0]["loc"]) == (422, ["header", "Idempotency-Key"])
    assert reviews() == 0


# ── failures between the requests ──


def test_while_the_vault_is_full_it_is_a_202_and_later_a_201_with_the_same_salts(api, filesystem_vault, original):
    with full_disk(filesystem_vault):
        first, again = send(api), send(api)
    finished, later = send(api), send(api)
    assert [answer.status_code for answer in (first, again, finished, later)] == [202, 202, 201, 201]
    assert first.content == again.content
    assert finished.content == later.content
    assert commitments(finished) == commitments(first)
    assert is_committed(finished.json()["rationale"], REVIEW["rationale"])
    receipt = api.get(f"/v1/decisions/{finished.json()['decision_id']}/receipt").json()
    assert receipt.items() <= finished.json().items()
    assert reviews() == 1


def test_another_review_under_the_key_is_a_409_while_the_first_waits(api, filesystem_vault, original):
    with full_disk(filesystem_vault):
        send(api)
        assert send(api, outcome="upheld").status_code == 409
    assert reviews() == 1


@pytest.mark.once
def test_a_repetition_fails_while_the_record_cannot_be_read(api, filesystem_vault, original):
    first = send(api)
    away = filesystem_vault.rename(filesystem_vault.with_name("away"))
    answer = send(api)
    assert (answer.status_code >= 500, set(answer.json())) == (True, {"detail"})
    away.rename(filesystem_vault)
    assert send(api).content == first.content


@pytest.mark.once
def test_a_failure_of_any_disk_call_leaves_one_record_with_one_set_of_salts(api, filesystem_vault, original):
    for call in itertools.count():
        before = reviews()
        with faulty_disk(filesystem_vault, fail_at=call) as disk:
            answers = [send(api, f"key-{call}") for _ in range(2)]
        if not disk.failed:
            break
        answers.append(send(api, f"key-{call}"))
        sent = [commitments(answer) for answer in answers if answer.status_code in (201, 202)]
        assert answers[-1].status_code == 201, disk.calls[call]
        assert all(texts == sent[0] for texts in sent), disk.calls[call]
        assert reviews() == before + 1
    assert call > 5


@pytest.mark.once
def test_without_the_organizations_keys_it_is_a_503_and_can_be_repeated(api, original):
    index_key = Key.objects.get(purpose="index")
    with unguarded():
        index_key.delete()
    keyrings.forget()
    assert send(api).status_code == 503
    assert reviews() == 0
    index_key.save()
    keyrings.forget()
    assert (send(api).status_code, reviews()) == (201, 1)


def test_after_a_restore_of_an_older_database_the_vaults_record_answers(api, filesystem_vault, original):
    first = send(api)
    forget_all_records()
    api.ingest(RAW)
    again = send(api)
    assert (again.status_code, commitments(again)) == (201, commitments(first))
    assert check(api, first.json()["decision_id"], rationale=REVIEW["rationale"]).json()["rationale"] is True
    assert reviews() == 1


# ── at the same time ──


@pytest.fixture
def bank(shared_database, each_vault, api, original):
    """Return a caller, in a database that threads share as in production, once for each vault."""
    return api


def test_concurrent_repetitions_record_one_review_and_have_the_same_answer(bank):
    answers = at_once(10, lambda _: send(bank))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.content for answer in answers}) == 1
    assert reviews() == 1
    assert not Entry.objects.filter(state=Entry.State.RESERVED).exists()
    assert AuditEvent.objects.filter(verb="decision.reconsidered").count() == 1


def test_one_of_several_concurrent_reviews_under_one_key_is_recorded(bank):
    answers = at_once(8, lambda number: send(bank, rationale=f"reason {number}"))
    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 7
    assert reviews() == 1
