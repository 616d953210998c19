"""Answers about a disposed decision: they have its proof, but never its content."""

import base64
import hashlib
import json

import pytest

from accounts import callers
from custody.models import Entry
from custody.selectors import Disposed
from custody.services import Status
from decisions import review_reports, services
from decisions.models import Decision, Reconsideration
from decisions.review_records import Review
from tests.disposals import dispose_of
from tests.notices.conftest import RECORD, done, send
from tests.reconsiderations.conftest import REVIEW, reconsider
from tests.support.unguarded import unguarded

pytestmark = pytest.mark.django_db

SENTENCE = "under retention policy 3. Its receipt and the signed disposal remain."


@pytest.fixture
def receipt(api):
    return done(api.ingest(RECORD))


@pytest.fixture
def disposal(api, receipt):
    (row,) = dispose_of(api.organization)
    return row


def disposal_in(answer, status, record_id):
    """Return the disposal in an answer, after checking that the answer has nothing else."""
    assert answer.status_code == status, answer.content
    content = answer.json()
    assert set(content) == {"detail", "disposal"}
    assert content["detail"].startswith("This record was disposed of on ")
    assert content["detail"].endswith(SENTENCE)
    assert set(content["disposal"]) == {"record_id", "disposed_at", "policy", "reason", "envelope"}
    assert (content["disposal"]["record_id"], content["disposal"]["policy"]) == (record_id, 3)
    return content["disposal"]


@pytest.mark.once
def test_reading_a_disposed_decision_is_a_410_with_the_disposal(api, receipt, disposal):
    for suffix in ("", "/record"):
        shown = disposal_in(api.get(f"/v1/decisions/loan-1{suffix}"), 410, receipt["record_id"])
        assert shown["reason"] == "Its retention period has ended."


@pytest.mark.once
def test_the_receipt_still_verifies_without_the_salt_and_states_the_disposal(api, receipt, disposal):
    shown = done(api.get("/v1/decisions/loan-1/receipt"))
    assert shown["verdict"] == "PROOF VALID, PAYLOAD DESTROYED under policy 3"
    assert shown["payload_salt"] is None
    assert shown["envelope"] == receipt["envelope"]
    statement = json.loads(base64.b64decode(shown["disposal"]["envelope"]["payload"]))
    (subject,) = statement["subject"]
    signed = base64.b64decode(receipt["envelope"]["payload"])
    assert subject["digest"] == {"sha256": hashlib.sha256(signed).hexdigest()}


@pytest.mark.once
@pytest.mark.parametrize("forged", ["signature", "statement", "record", "columns"])
def test_a_receipt_is_refused_unless_both_signatures_verify(api, receipt, disposal, forged):
    if forged == "signature":
        disposal.signature = bytes(len(bytes(disposal.signature)))
    elif forged == "statement":
        disposal.statement = bytes(disposal.statement).replace(b"ended", b"begun")
    elif forged == "columns":
        disposal.policy = 4
    else:
        with unguarded():
            Entry.objects.filter(pk=disposal.pk).update(signature=bytes(64))
    with unguarded():
        disposal.save()
    answer = api.get("/v1/decisions/loan-1/receipt")
    assert answer.status_code == 500
    assert set(answer.json()) == {"detail"}


@pytest.mark.once
def test_an_unknown_id_is_still_not_found(api, disposal):
    for path in ("loan-9", "loan-9/record", "loan-9/receipt"):
        assert api.get(f"/v1/decisions/{path}").status_code == 404


@pytest.mark.once
def test_another_organization_does_not_see_the_disposal(api, other_api, disposal):
    assert other_api.get("/v1/decisions/loan-1").status_code == 404
    assert other_api.ingest(RECORD).status_code == 201


@pytest.mark.parametrize("content", [{}, {"outcome": {"action": "granted"}}], ids=["the same", "other"])
def test_ingesting_a_disposed_id_again_is_a_conflict_and_stores_nothing(api, receipt, disposal, content):
    disposal_in(api.ingest(RECORD | content), 409, receipt["record_id"])
    assert Entry.objects.get().state == Entry.State.DISPOSED
    assert not Decision.objects.unscoped("all").exists()


def test_a_disposed_line_of_a_batch_does_not_stop_the_others(api, receipt, disposal):
    lines = [RECORD, {"decision_id": "loan-2"}, RECORD]
    body = "\n".join(map(json.dumps, lines)).encode()
    answers = [
        json.loads(line)
        for line in api.post("/v1/ingest/srf/batch", body, "application/x-ndjson").getvalue().splitlines()
    ]
    assert [line["status"] for line in answers] == ["disposed", "created", "disposed"]
    assert answers[0]["record_id"] == receipt["record_id"]
    assert answers[0]["detail"].endswith(SENTENCE)


def test_nothing_can_be_added_to_a_disposed_decision(api, receipt, disposal):
    for answer in (
        reconsider(api),
        api.post("/v1/decisions/loan-1/reconsideration/check", b'{"rationale": "x"}'),
        send(api, "POST", "decisions/loan-1/notices"),
    ):
        disposal_in(answer, 409, receipt["record_id"])


def test_a_service_that_read_the_decision_before_its_disposal_adds_nothing(api, receipt):
    row = Decision.objects.for_organization(api.organization).select_related("record", "organization").get()
    dispose_of(api.organization)
    with pytest.raises(Disposed):
        services.reconsider(
            caller=callers.system(api.organization.pk), decision=row, review=Review(**REVIEW), source="api"
        )
    assert Entry.objects.count() == 1


def test_a_reconsideration_is_disposed_of_with_its_decision_and_found_by_its_id(api, receipt):
    second = done(reconsider(api))
    assert len(dispose_of(api.organization)) == 2
    disposal_in(api.get(f"/v1/decisions/{second['decision_id']}/record"), 410, second["record_id"])
    disposal_in(reconsider(api, second["decision_id"]), 409, second["record_id"])
    shown = done(api.get(f"/v1/decisions/{second['decision_id']}/receipt"))
    assert shown["verdict"].startswith("PROOF VALID, PAYLOAD DESTROYED")


def test_a_repeated_idempotency_key_does_not_restore_a_disposed_reconsideration(api, receipt):
    def send_with_key():
        raw = json.dumps(REVIEW).encode()
        headers = {"Idempotency-Key": "key-1"}
        return api.client.post(
            "/v1/decisions/loan-1/reconsideration", raw, content_type="application/json", headers=headers
        )

    done(send_with_key())
    dispose_of(api.organization)
    again = send_with_key()
    assert again.status_code == 409
    assert set(again.json()) == {"detail", "disposal"}


def test_lists_and_filters_omit_a_disposed_decision(api, receipt, disposal):
    done(api.ingest({"decision_id": "loan-2"}))
    (only,) = done(api.get("/v1/decisions"))["items"]
    assert only["decision_id"] == "loan-2"
    assert done(api.get("/v1/decisions", action="denied"))["items"] == []


def test_reports_keep_their_counts_without_personal_data(api):
    for number in range(7):
        name = f"loan-{number}"
        done(api.ingest({"decision_id": name, "system": {"name": "Scorer" if number else "Ms Rare's desk"}}))
        done(reconsider(api, name, reviewer_authority="credit officer" if number else "Ms Rare"))
    before = {g.name: g.reviews for g in review_reports.reconsiderations(api.organization.pk, "system")}
    assert before == {"Scorer": 6, "Ms Rare's desk": 1}
    dispose_of(api.organization, *(f"loan-{number}" for number in range(7)))
    after = {g.name: g.reviews for g in review_reports.reconsiderations(api.organization.pk, "system")}
    assert after == {"Scorer": 6, "not named": 1}
    authorities = {g.name for g in review_reports.reconsiderations(api.organization.pk, "authority")}
    assert authorities == {"credit officer", "not named"}
    assert not Reconsideration.objects.for_organization(api.organization).exists()


def test_a_value_shared_only_within_one_chain_is_erased(api, receipt):
    for _ in range(8):
        done(reconsider(api, reviewer_authority="Ms Rare"))
    dispose_of(api.organization)
    assert {row.reviewer_authority for row in Decision.with_disposed.all()} == {""}


def test_bulk_ingest_reports_a_disposed_line_as_not_new(api, receipt, disposal):
    (line,) = services.ingest_lines(
        caller=callers.system(api.organization.pk), lines=[json.dumps(RECORD).encode()], source="test"
    )
    assert (line.status, line.is_new) == (Status.DISPOSED, False)
