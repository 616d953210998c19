"""What everything answers of a decision that was disposed of: its proof, and never its content again."""

import base64
import hashlib
import json

import pytest

from accounts import callers
from custody.models import Entry
from custody.selectors import Disposed
from custody.services import Status
from decisions import reports, services
from decisions.models import Decision, Reconsideration
from decisions.reviews import Review
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


def told(answer, status, record_id):
    """The disposal in an answer, once the answer says nothing else."""
    assert answer.status_code == status, answer.content
    said = answer.json()
    assert set(said) == {"detail", "disposal"}
    assert said["detail"].startswith("This record was disposed of on 20")
    assert said["detail"].endswith(SENTENCE)
    assert set(said["disposal"]) == {"record_id", "disposed_at", "policy", "reason", "envelope"}
    assert (said["disposal"]["record_id"], said["disposal"]["policy"]) == (record_id, 3)
    return said["disposal"]


@pytest.mark.once
def test_reading_it_answers_gone_with_the_disposal(api, receipt, disposal):
    for rest in ("", "/record"):
        said = told(api.get(f"/v1/decisions/loan-1{rest}"), 410, receipt["record_id"])
        assert said["reason"] == "Its retention period has ended."


@pytest.mark.once
def test_its_receipt_still_verifies_without_the_salt_and_says_what_is_destroyed(api, receipt, disposal):
    said = done(api.get("/v1/decisions/loan-1/receipt"))
    assert said["verdict"] == "PROOF VALID, PAYLOAD DESTROYED under policy 3"
    assert said["payload_salt"] is None
    assert said["envelope"] == receipt["envelope"]
    statement = json.loads(base64.b64decode(said["disposal"]["envelope"]["payload"]))
    (subject,) = statement["subject"]
    signed = base64.b64decode(receipt["envelope"]["payload"])
    assert subject["digest"] == {"sha256": hashlib.sha256(signed).hexdigest()}


@pytest.mark.once
@pytest.mark.parametrize("forged", ["signature", "statement", "record", "columns"])
def test_a_receipt_is_given_out_only_while_both_signatures_verify(api, receipt, disposal, forged):
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
def test_an_id_that_never_was_is_still_not_found(api, disposal):
    for path in ("loan-9", "loan-9/record", "loan-9/receipt"):
        assert api.get(f"/v1/decisions/{path}").status_code == 404


@pytest.mark.once
def test_another_organization_is_told_nothing(api, other_api, disposal):
    assert other_api.get("/v1/decisions/loan-1").status_code == 404
    assert other_api.ingest(RECORD).status_code == 201


@pytest.mark.parametrize("content", [{}, {"outcome": {"action": "granted"}}], ids=["the same", "other"])
def test_ingesting_it_again_is_a_conflict_whatever_it_says_and_stores_nothing(api, receipt, disposal, content):
    told(api.ingest(RECORD | content), 409, receipt["record_id"])
    assert Entry.objects.get().state == Entry.State.DISPOSED
    assert not Decision.objects.unscoped("all").exists()


def test_a_line_of_a_batch_says_so_and_stops_no_other(api, receipt, disposal):
    lines = [RECORD, {"decision_id": "loan-2"}, RECORD]
    body = "\n".join(map(json.dumps, lines)).encode()
    answers = [
        json.loads(line)
        for line in api.post("/v1/ingest/srf/batch", body, "application/x-ndjson").getvalue().splitlines()
    ]
    assert [line["status"] for line in answers] == ["disposed", "created", "disposed"]
    assert answers[0]["record_id"] == receipt["record_id"]
    assert answers[0]["detail"].endswith(SENTENCE)


def test_nothing_is_added_to_it(api, receipt, disposal):
    for answer in (
        reconsider(api),
        api.post("/v1/decisions/loan-1/reconsideration/check", b'{"rationale": "x"}'),
        send(api, "POST", "decisions/loan-1/notices"),
    ):
        told(answer, 409, receipt["record_id"])


def test_a_service_that_had_read_it_before_adds_nothing_either(api, receipt):
    row = Decision.objects.for_organization(api.organization).select_related("record", "organization").get()
    dispose_of(api.organization)
    with pytest.raises(Disposed):
        services.reconsider(
            caller=callers.system(api.organization.pk), decision=row, review=Review(**REVIEW), source="api"
        )
    assert Entry.objects.count() == 1


def test_a_reconsideration_goes_with_its_decision_and_is_found_by_its_own_id(api, receipt):
    second = done(reconsider(api))
    assert len(dispose_of(api.organization)) == 2
    told(api.get(f"/v1/decisions/{second['decision_id']}/record"), 410, second["record_id"])
    told(reconsider(api, second["decision_id"]), 409, second["record_id"])
    said = done(api.get(f"/v1/decisions/{second['decision_id']}/receipt"))
    assert said["verdict"].startswith("PROOF VALID, PAYLOAD DESTROYED")


def test_a_reconsideration_that_is_sent_again_with_its_key_does_not_come_back(api, receipt):
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


def test_lists_and_searches_do_not_show_it(api, receipt, disposal):
    done(api.ingest({"decision_id": "loan-2"}))
    (only,) = done(api.get("/v1/decisions"))["items"]
    assert only["decision_id"] == "loan-2"
    assert done(api.get("/v1/decisions", action="denied"))["items"] == []


def test_reports_keep_their_counts_without_what_names_a_person(api):
    for number in range(7):
        name = f"loan-{number}"
        done(api.ingest({"decision_id": name, "system": {"name": "Scorer" if number else "Ms Rare's desk"}}))
        done(reconsider(api, name, reviewer_authority="credit officer" if number else "Ms Rare"))
    before = {g.name: g.reviews for g in reports.reconsiderations(api.organization.pk, "system")}
    assert before == {"Scorer": 6, "Ms Rare's desk": 1}
    dispose_of(api.organization, *(f"loan-{number}" for number in range(7)))
    after = {g.name: g.reviews for g in reports.reconsiderations(api.organization.pk, "system")}
    assert after == {"Scorer": 6, "not named": 1}
    authorities = {g.name for g in reports.reconsiderations(api.organization.pk, "authority")}
    assert authorities == {"credit officer", "not named"}
    assert not Reconsideration.objects.for_organization(api.organization).exists()


def test_a_word_that_only_the_reconsiderations_of_one_decision_share_does_not_stay(api, receipt):
    for _ in range(8):
        done(reconsider(api, reviewer_authority="Ms Rare"))
    dispose_of(api.organization)
    assert {row.reviewer_authority for row in Decision.with_disposed.all()} == {""}


def test_ingest_says_of_each_line_what_became_of_it(api, receipt, disposal):
    (line,) = services.ingest_lines(
        caller=callers.system(api.organization.pk), lines=[json.dumps(RECORD).encode()], source="test"
    )
    assert (line.status, line.is_new) == (Status.DISPOSED, False)
