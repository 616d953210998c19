"""With a key in a key management service, a record is queued at once, and signed, stored and provable soon after."""

import base64
import hashlib
import json
from datetime import timedelta

import pytest
from django.db import connection

from accounts import callers
from accounts.models import AuditEvent
from accounts.roles import Role
from config.http.request_threads import THREADS
from custody import selectors, services, signers, vaults
from custody.keys.keyrings import Purpose, keyring
from custody.models import Entry, Key, SealedObject, WaitingObject
from custody.sealing import verifier
from custody.services import reconcile, reconciler
from decisions.models import Decision
from notices.services import deliver_letters, seal_approved
from tests.conftest import Api
from tests.notices.conftest import RECORD as NOTICED
from tests.notices.conftest import approve, done, drafted, shown
from tests.reconsiderations.conftest import REVIEW, reconsider
from tests.support.unguarded import unguarded

pytestmark = pytest.mark.django_db

RAW = b'{"decision_id": "loan-1",  "amount": 1.50, "outcome": {"action": "denied", "reasons": ["Too much."]}}'
PATH = "/v1/decisions/loan-1"
RECEIPT = {"decision_id", "record_id", "kind", "received_at", "key_id", "envelope", "payload_salt", "log"}


def states():
    return sorted(Entry.objects.values_list("state", flat=True))


def verifies(api: Api, receipt: dict) -> bool:
    """Whether a receipt verifies under the key that the API lists, checked without our own verifier."""
    listed = api.get("/v1/custody/keys").json()["items"]
    (key,) = [key for key in listed if key["key_id"] == receipt["key_id"]]
    statement = base64.b64decode(receipt["envelope"]["payload"])
    signature = base64.b64decode(receipt["envelope"]["signatures"][0]["sig"])
    message = b"DSSEv1 28 application/vnd.in-toto+json %d %b" % (len(statement), statement)
    return signers.verifies(key["algorithm"], key["public_key_pem"], signature, message)


# ── one record ──


@pytest.mark.once
def test_ingest_answers_202_and_calls_no_key_service(api, queueing_for_each, customer):
    api.ingest({"decision_id": "first"})  # this call makes the epoch key
    customer.calls.clear()
    answer = api.ingest(RAW)
    assert answer.status_code == 202
    entry = Entry.objects.get(pk=answer.json()["record_id"])
    assert answer.json() == {"decision_id": "loan-1", "record_id": str(entry.pk), "custody": "queued"}
    assert customer.calls == []
    assert list(vaults.current().list(f"{queueing_for_each.id.hex}/records/")) == []


@pytest.mark.once
def test_a_queued_record_is_read_listed_and_not_yet_proved(api, queueing_for_each):
    api.ingest(RAW)
    assert api.get(f"{PATH}/record").content == RAW
    assert api.get(PATH).json()["custody"] == "queued"
    assert [item["custody"] for item in api.get("/v1/decisions").json()["items"]] == ["queued"]
    receipt = api.get(f"{PATH}/receipt")
    assert (receipt.status_code, receipt["Retry-After"]) == (202, "5")
    assert set(receipt.json()) == {"decision_id", "record_id", "custody"}


@pytest.mark.once
def test_the_job_signs_and_stores_it_and_its_receipt_verifies(api, queueing_for_each, each_vault):
    statement = statement_of(api.ingest(RAW))
    assert reconcile() == (1, 0)
    assert (states(), WaitingObject.objects.count()) == (["stored"], 0)
    receipt = api.get(f"{PATH}/receipt")
    assert receipt.status_code == 200
    assert set(receipt.json()) == RECEIPT
    assert base64.b64decode(receipt.json()["envelope"]["payload"]) == statement, (
        "records that build on it name this statement"
    )
    assert verifies(api, receipt.json())
    assert api.get(f"{PATH}/record").content == RAW
    assert len(list(vaults.current().list(f"{queueing_for_each.id.hex}/records/"))) == 1
    replay = api.ingest(RAW)
    assert (replay.status_code, replay.json()) == (200, receipt.json())


def statement_of(answer) -> bytes:
    return bytes(Entry.objects.get(pk=answer.json()["record_id"]).statement)


@pytest.mark.once
def test_the_algorithm_is_that_of_the_key(api, organization, customer):
    for algorithm, called in (("EC_SIGN_ED25519", "ed25519"), ("EC_SIGN_P256_SHA256", "ecdsa-p256-sha256")):
        config = customer.key(Purpose.SIGNING, called, algorithm)
        owner = callers.system(organization.pk)
        services.rotate_key(caller=owner, purpose=Purpose.SIGNING, provider="gcp", config=config)
        api.ingest({"decision_id": called})
        reconcile()
        assert verifies(api, api.get(f"/v1/decisions/{called}/receipt").json())
    assert [key["algorithm"] for key in api.get("/v1/custody/keys").json()["items"]] == [
        "ed25519", "ed25519", "ecdsa-p256-sha256",
    ]  # fmt: skip


def test_a_replay_of_a_queued_record_is_202_and_other_content_409(api, queueing_for_each):
    first = api.ingest(RAW).json()
    respelled = json.dumps(json.loads(RAW, parse_float=str), indent=1).replace('"1.50"', "1.50").encode()
    for same in (RAW, respelled):
        answer = api.ingest(same)
        assert (answer.status_code, answer.json()) == (202, first)
    assert api.ingest({"decision_id": "loan-1"}).status_code == 409
    assert AuditEvent.objects.filter(verb="record.conflict").count() == 1
    assert Entry.objects.count() == WaitingObject.objects.count() == 1


@pytest.mark.once
def test_the_receipt_can_be_waited_for(api, queueing, monkeypatch):
    api.ingest(RAW)
    monkeypatch.setattr(selectors.time, "sleep", lambda seconds: reconcile())
    assert api.get(f"{PATH}/receipt", wait=5).status_code == 200


@pytest.mark.once
def test_a_receipt_is_waited_for_also_between_its_signature_and_the_vault(api, queueing, monkeypatch):
    api.ingest(RAW)
    with monkeypatch.context() as patched:
        patched.setattr(reconciler, "complete", lambda ready: set())
        reconcile()
    assert states() == ["reserved"]
    answer = api.get(f"{PATH}/receipt")
    assert answer.status_code == 503
    assert "has not reached its vault yet" in answer.json()["detail"]
    monkeypatch.setattr(selectors.time, "sleep", lambda seconds: reconcile(retry_now=True))
    assert api.get(f"{PATH}/receipt", wait=5).status_code == 200


@pytest.mark.once
def test_a_receipt_is_waited_for_no_longer_than_asked(api, queueing, monkeypatch):
    api.ingest(RAW)
    waited = []
    now = selectors.time.monotonic()
    monkeypatch.setattr(selectors.time, "monotonic", lambda: now + sum(waited))
    monkeypatch.setattr(selectors.time, "sleep", waited.append)
    assert api.get(f"{PATH}/receipt", wait=2).status_code == 202
    assert 1.9 < sum(waited) < 2.3
    for refused in ("21", "-1", "x"):
        assert api.get(f"{PATH}/receipt", wait=refused).status_code == 422


def test_a_process_keeps_a_thread_free_of_waiting():
    assert THREADS > selectors.WAITING_AT_ONCE


@pytest.mark.once
def test_a_limited_number_of_requests_wait_and_others_are_answered_at_once(api, queueing, monkeypatch):
    api.ingest(RAW)

    def sleep(seconds):
        raise AssertionError

    monkeypatch.setattr(selectors.time, "sleep", sleep)
    monkeypatch.setattr(selectors, "_waiters", selectors.BoundedSemaphore(1))
    with selectors._waiters:
        assert api.get(f"{PATH}/receipt", wait=20).status_code == 202


@pytest.mark.once
def test_queue_and_messages_have_no_word_of_the_record(api, queueing, monkeypatch):
    sent = []
    monkeypatch.setattr("config.celery._send", sent.append)
    api.ingest(RAW)
    reconsider(api)
    with connection.cursor() as cursor:
        for table in ("custody_waitingobject", "custody_entry", "custody_keyoutage", "custody_key"):
            cursor.execute(f"SELECT * FROM {table}")
            for row in cursor.fetchall():
                for value in row:
                    content = bytes(value) if isinstance(value, bytes | memoryview) else str(value).encode()
                    for word in (b"Too much", b"loan-1", REVIEW["rationale"].encode()):
                        assert word not in content, table


@pytest.mark.once
@pytest.mark.django_db(transaction=True)
def test_a_queued_record_wakes_a_worker_with_the_name_of_the_task_alone(api, queueing, monkeypatch):
    sent = []
    monkeypatch.setattr("custody.tasks.reconcile.apply_async", lambda *args, **options: sent.append((args, options)))
    api.ingest(RAW)
    assert sent == [((), {"expires": 5, "retry": False})]


@pytest.mark.once
def test_rotating_back_to_a_local_key_signs_what_is_queued_with_it_and_queues_no_more(api, queueing_for_each, customer):
    api.ingest(RAW)
    customer.status = 503
    for purpose in (Purpose.SIGNING, Purpose.WRAPPING):
        services.rotate_key(caller=callers.system(queueing_for_each.pk), purpose=purpose)
    assert api.ingest({"decision_id": "loan-2"}).status_code == 201
    assert reconcile() == (1, 0)
    assert states() == ["stored", "stored"]
    customer.status = 200
    receipt = api.get(f"{PATH}/receipt")
    assert verifies(api, receipt.json())
    report = verifier.verify(receipt.content, [], RAW, lists=[api.get("/v1/custody/keys").content])
    assert (report.verdict, report.skipped) == ("PAYLOAD VERIFIED", []), "queued before its key was made"


@pytest.mark.parametrize(("content", "conflicts"), [(1, 0), (2, 1)])
def test_an_object_in_the_vault_wins_over_other_queued_content_which_is_audited(
    api, filesystem_vault, queueing, content, conflicts
):
    """After a restore of an older database, which has lost an acknowledged record with its receipt."""
    api.ingest({"decision_id": "loan-1", "content": 1})
    reconcile()
    receipt = api.get(f"{PATH}/receipt").json()
    with unguarded():
        Decision.objects.all().delete()
        Entry.objects.all().delete()
    assert api.ingest({"decision_id": "loan-1", "content": content}).status_code == 202
    reconcile()
    assert api.get(f"{PATH}/receipt").json() == receipt
    assert AuditEvent.objects.filter(verb="record.conflict").count() == conflicts
    assert api.ingest({"decision_id": "loan-1", "content": content}).status_code == (409 if conflicts else 200)
    assert AuditEvent.objects.filter(verb="record.conflict").count() == 2 * conflicts


# ── a queued row is trusted only if this service has queued it ──


@pytest.mark.once
@pytest.mark.parametrize("change", ["statement", "signature", "key", "body"])
def test_a_forged_queued_row_is_neither_read_nor_signed(api, queueing, customer, change):
    api.ingest(RAW)
    entry, waiting = Entry.objects.get(), WaitingObject.objects.get()
    forged = bytes(entry.statement).replace(b'"kind":"decision"', b'"kind":"decisioN"')
    if change == "statement":
        with unguarded():
            Entry.objects.update(statement=forged)
    elif change == "signature":
        with unguarded():
            Entry.objects.update(signature=b"\0" * 32)
    elif change == "key":
        with unguarded():
            Entry.objects.update(statement=forged, key_id=keyring(queueing.id).signer.key_id, signature=b"")
    else:
        WaitingObject.objects.update(body=bytes(waiting.body).replace(b"DRS1", b"DRS2"))
    customer.calls.clear()
    assert api.get(f"{PATH}/record").status_code == 500
    assert reconcile() == (0, 1)
    assert (Entry.objects.get().state, WaitingObject.objects.count()) == ("queued", 1)
    if change != "body":
        assert "asymmetricSign" not in customer.calls


@pytest.mark.once
@pytest.mark.parametrize("state", ["reserved", "stored"])
def test_a_provisional_signature_does_not_pass_for_a_final_one(api, queueing, state):
    api.ingest(RAW)
    with unguarded():
        Entry.objects.update(state=state)
    for path in ("record", "receipt"):
        assert api.get(f"{PATH}/{path}").status_code in (500, 503)
    with pytest.raises(Exception, match="signing key"):
        selectors.statement_digest(Entry.objects.get())


@pytest.mark.once
def test_a_signed_record_does_not_pass_for_a_queued_one(api, queueing):
    api.ingest(RAW)
    reconcile()
    with unguarded():
        Entry.objects.update(state="queued")
    assert api.get(f"{PATH}/record").status_code == 500


# ── many, and from others ──


def test_bulk_lines_say_queued_and_their_replays_too(api, queueing, each_vault):
    lines = b'{"decision_id": "a"}\n{"decision_id": "a"}\nx\n{"decision_id": "a", "b": 1}\n{"decision_id": "c"}\n'
    answer = api.post("/v1/ingest/srf/batch", lines, "application/x-ndjson")
    answered = [json.loads(line) for line in answer.getvalue().splitlines()]
    assert [line["status"] for line in answered] == ["queued", "queued", "invalid", "conflict", "queued"]
    assert "is_new" not in answered[0]
    assert reconcile() == (2, 0)
    again = api.post("/v1/ingest/srf/batch", lines, "application/x-ndjson").getvalue().splitlines()
    assert [json.loads(line)["status"] for line in again] == ["replayed", "replayed", "invalid", "conflict", "replayed"]


@pytest.mark.once
def test_a_queued_line_has_no_receipt_until_it_is_signed(api, queueing):
    for status in ("queued", "replayed"):
        answer = api.post("/v1/ingest/srf/batch?receipts=true", b'{"decision_id": "a"}', "application/x-ndjson")
        line = json.loads(answer.getvalue())
        assert (line["status"], "receipt" in line) == (status, status == "replayed")
        reconcile()


def test_a_review_of_a_queued_decision_is_queued_and_builds_on_its_later_statement(api, queueing):
    api.ingest(RAW)
    answer = reconsider(api)
    assert answer.status_code == 202
    assert set(answer.json()) == {"decision_id", "reconsiders", "rationale", "evidence_considered", "to_be_told"}
    assert reconcile() == (2, 0)
    decision = base64.b64decode(api.get(f"{PATH}/receipt").json()["envelope"]["payload"])
    review = api.get(f"/v1/decisions/{answer.json()['decision_id']}/receipt").json()
    statement = json.loads(base64.b64decode(review["envelope"]["payload"]))
    assert statement["predicate"]["parents"] == [hashlib.sha256(decision).hexdigest()]
    assert verifies(api, review)


def test_a_repeated_review_that_is_queued_gets_the_same_answer(api, queueing):
    api.ingest(RAW)
    body, headers = json.dumps(REVIEW).encode(), {"HTTP_IDEMPOTENCY_KEY": "one"}
    path = f"{PATH}/reconsideration"
    first = api.client.post(path, body, content_type="application/json", **headers)
    again = api.client.post(path, body, content_type="application/json", **headers)
    assert (first.status_code, again.status_code) == (202, 202)
    assert again.json() == first.json()
    assert Decision.objects.count() == 2


@pytest.mark.once
def test_a_notice_waits_for_the_signature_of_its_decision_and_its_letter_for_its_own(api, queueing):
    api.ingest(NOTICED)
    notice = drafted(api)
    approved = done(approve(api, notice))
    assert approved["custody_record_id"] is None
    assert seal_approved() == 0
    reconcile()
    assert seal_approved() == 1
    letter = f"/v1/notices/{notice['notice_id']}/letter"
    assert (api.get(letter).status_code, Entry.objects.get(kind="notice").state) == (503, "queued")
    reconcile()
    proof = json.loads(api.get(letter, format="proof").content)
    decision = api.get("/v1/decisions/loan-1/receipt").json()
    assert proof["envelope"] == decision["envelope"]
    assert verifies(api, decision)
    assert shown(api, notice)["custody_record_id"]


@pytest.mark.once
def test_a_mail_of_a_letter_waits_until_the_notice_is_signed(api, queueing, mailoutbox, clock):
    api.ingest(NOTICED)
    notice = drafted(api)
    done(approve(api, notice))
    reconcile()
    seal_approved()
    sent = {"channel": "email", "address": "reader@home.example"}
    assert api.post(f"/v1/notices/{notice['notice_id']}/deliveries", json.dumps(sent).encode()).status_code == 201
    assert (deliver_letters(), len(mailoutbox)) == (0, 0)
    reconcile()
    clock.pass_by(timedelta(minutes=2))
    assert (deliver_letters(), len(mailoutbox)) == (1, 1)


@pytest.mark.once
def test_other_organizations_are_not_queued(api, other_api, queueing):
    assert other_api.ingest(RAW).status_code == 201
    assert api.ingest(RAW).status_code == 202
    assert SealedObject.objects.count() == 1
    assert set(Key.objects.filter(organization=other_api.organization).values_list("provider", flat=True)) == {"local"}


@pytest.mark.once
def test_the_back_office_says_that_the_receipt_of_a_queued_record_follows(api, queueing, signed_in):
    record = api.ingest(RAW).json()["record_id"]
    address = f"/admin/decisions/decision/{record}/receipt/"
    browser = signed_in(Role.AUDITOR)
    answer = browser.get(address)
    assert (answer.status_code, "waits for its signature" in answer.content.decode()) == (409, True)
    reconcile()
    assert browser.get(address).json()["record_id"] == record
