"""Chains of reconsiderations: each is a separate sealed record that names the original, which does not change."""

import hashlib
import json
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from custody import selectors
from custody.models import Entry, Key
from custody.sealing import envelope, sealer
from tests.reconsiderations.conftest import RAW, REVIEW, reconsider, record_of, statement_of
from tests.statements import statements

pytestmark = pytest.mark.django_db


def claims(receipt):
    return json.loads(statement_of(receipt))["predicate"]


def digest_of(receipt):
    return hashlib.sha256(statement_of(receipt)).hexdigest()


def detail(api, decision_id="loan-1"):
    return api.get(f"/v1/decisions/{decision_id}").json()


def listed(api, decision_id="loan-1"):
    return next(row for row in api.get("/v1/decisions").json()["items"] if row["decision_id"] == decision_id)


# ── the record of a review ──


def test_the_record_has_reviewer_outcome_and_link_but_no_text(api, each_vault, original):
    recorded = reconsider(api).json()
    content = record_of(api, recorded["decision_id"])
    decided_at = content.pop("decided_at")
    assert original["received_at"] <= decided_at <= recorded["received_at"]
    assert content == {
        "decision_id": recorded["decision_id"],
        "reconsiders": {
            "decision_id": "loan-1",
            "record_id": original["record_id"],
            "statement_sha256": digest_of(original),
            "first_record_id": original["record_id"],
        },
        "requested_by": REVIEW["requested_by"],
        "outcome": {"result": "overturned", "action": "approved"},
        "approval": {"approver": REVIEW["reviewer"], "authority": REVIEW["reviewer_authority"]},
        "rationale": recorded["rationale"],
        "evidence_considered": recorded["evidence_considered"],
    }


def test_the_signed_statement_verifies_and_names_the_originals_as_parent(api, each_vault, original):
    recorded = reconsider(api).json()
    statement = statement_of(recorded)
    key = load_pem_public_key(Key.objects.get(key_id=recorded["key_id"]).public_pem.encode())
    signature = bytes(Entry.objects.get(pk=recorded["record_id"]).signature)
    key.verify(signature, envelope.pre_authentication_encoding(statement))
    assert claims(recorded)["kind"] == "reconsideration"
    assert claims(recorded)["parents"] == [digest_of(original)]
    assert claims(original)["parents"] == []
    payload = api.get(f"/v1/decisions/{recorded['decision_id']}/record").content
    salt = bytes.fromhex(recorded["payload_salt"])
    assert json.loads(statement)["subject"][0]["digest"] == {
        "hmac-sha256": sealer.payload_commitment(salt, payload).hex()
    }


def test_the_outcome_can_be_proved_without_the_other_fields(api, original):
    recorded = reconsider(api).json()
    entry = Entry.objects.get(pk=recorded["record_id"])
    (shown,) = selectors.disclosures(selectors.opened(entry), ["outcome.result"])
    assert shown.leaf == ("outcome.result", '"overturned"')


def test_a_review_does_not_change_the_original(api, each_vault, original):
    before = detail(api)
    for _ in range(2):
        assert reconsider(api).status_code == 201
    assert api.get("/v1/decisions/loan-1/record").content == RAW
    assert api.get("/v1/decisions/loan-1/receipt").json() == original
    assert api.ingest(RAW).status_code == 200, "sending it again is still a replay"
    changed = {name for name, value in detail(api).items() if value != before[name]}
    assert changed == {"current_action", "latest_reconsideration", "latest_outcome", "history"}


def test_two_equal_reviews_are_two_records(api, original):
    one, other = (reconsider(api).json() for _ in range(2))
    assert one["decision_id"] != other["decision_id"]
    assert one["rationale"]["commitment"] != other["rationale"]["commitment"]
    assert len(detail(api)["history"]) == 2


def test_an_ingested_record_cannot_pose_as_a_reconsideration(api, original):
    """An ingested record is a decision, and does not change the decision that it names."""
    recorded = reconsider(api, outcome="upheld", new_action=None).json()
    forged = record_of(api, recorded["decision_id"]) | {
        "decision_id": "forged",
        "outcome": {"action": "approved"},
    }
    assert api.ingest(forged).status_code == 201
    assert detail(api, "forged")["kind"] == "decision"
    assert [review["decision_id"] for review in detail(api)["history"]] == [recorded["decision_id"]]
    assert detail(api)["current_action"] == "denied"


# ── the chain ──


def test_a_decision_without_reviews_has_no_history(api, original):
    shown = detail(api)
    assert (shown["history"], shown["latest_reconsideration"], shown["latest_outcome"]) == ([], None, None)
    assert shown["current_action"] == shown["action"] == "denied"


def test_a_reconsideration_of_a_reconsideration_keeps_the_chain(api, each_vault, original):
    first = reconsider(api, outcome="upheld", new_action=None).json()
    second = reconsider(api, first["decision_id"], outcome="overturned").json()
    third = reconsider(api, second["decision_id"], outcome="modified", new_action="approved in part").json()
    assert claims(third)["parents"] == [digest_of(second)]
    link = record_of(api, third["decision_id"])["reconsiders"]
    assert (link["decision_id"], link["first_record_id"]) == (second["decision_id"], original["record_id"])
    chain = [
        (first["decision_id"], "loan-1", "upheld", None),
        (second["decision_id"], first["decision_id"], "overturned", "approved"),
        (third["decision_id"], second["decision_id"], "modified", "approved in part"),
    ]
    for member in ("loan-1", *(decision_id for decision_id, *_ in chain)):
        history = detail(api, member)["history"]
        assert [(h["decision_id"], h["reconsiders"], h["outcome"], h["new_action"]) for h in history] == chain
        assert {(h["reviewer"], h["reviewer_authority"]) for h in history} == {("A. Reviewer", "credit officer")}
    assert detail(api, second["decision_id"])["reconsiders"] == first["decision_id"]
    assert detail(api, second["decision_id"])["first_record_id"] == original["record_id"]
    assert detail(api)["reconsiders"] is detail(api)["first_record_id"] is None


@pytest.mark.parametrize("show", [detail, listed])
def test_the_outcome_is_of_the_latest_review_and_the_action_of_the_latest_change(api, original, show):
    overturned = reconsider(api).json()["decision_id"]
    upheld = reconsider(api, overturned, outcome="upheld", new_action=None).json()["decision_id"]
    shown = show(api)
    assert shown["action"] == "denied"
    assert shown["current_action"] == "approved"
    assert shown["latest_outcome"] == "upheld"
    assert shown["latest_reconsideration"] == upheld


def test_chains_of_different_decisions_are_separate(api, other_api, original):
    for sender in (api, other_api):
        sender.ingest({"decision_id": "loan-2", "outcome": {"action": "denied"}})
    other_api.ingest(RAW)
    reconsider(api)
    assert detail(api, "loan-2")["history"] == detail(other_api)["history"] == []
    assert detail(other_api)["current_action"] == "denied"
    assert other_api.get("/v1/decisions", kind="reconsideration").json()["items"] == []


def test_lists_can_be_filtered_to_reconsiderations(api, original):
    recorded = reconsider(api).json()
    (row,) = api.get("/v1/decisions", kind="reconsideration").json()["items"]
    assert (row["decision_id"], row["source"], row["action"]) == (recorded["decision_id"], "api", "approved")
    assert row["decided_at"] is not None


def test_history_and_latest_agree_even_for_reviews_of_one_moment(api, original):
    with time_machine.travel(datetime.now(UTC) + timedelta(hours=1), tick=False):
        for number in range(8):
            reconsider(api, outcome=f"outcome {number}")
        shown, row = detail(api), listed(api)
    latest = shown["history"][-1]["decision_id"]
    assert shown["latest_reconsideration"] == row["latest_reconsideration"] == latest
    assert shown["latest_outcome"] == row["latest_outcome"]


@pytest.mark.parametrize("length", [256, 257, 5000])
def test_a_new_action_of_any_accepted_length_is_the_current_action(api, original, length):
    answer = reconsider(api, new_action="x" * length)
    assert answer.status_code == 422 or detail(api)["current_action"] == "x" * length


def queries(api, path):
    with statements() as captured:
        assert api.get(path).status_code == 200
    return len(captured)


def test_a_list_takes_the_same_queries_with_and_without_reconsiderations(api, original):
    for number in range(5):
        api.ingest({"decision_id": f"loan-{number}"})
    without = queries(api, "/v1/decisions")
    for number in range(5):
        reconsider(api, f"loan-{number}")
    assert queries(api, "/v1/decisions") == without


def test_a_detail_takes_the_same_queries_for_any_history(api, original):
    reconsider(api)
    with_one = queries(api, "/v1/decisions/loan-1")
    for _ in range(5):
        reconsider(api)
    assert queries(api, "/v1/decisions/loan-1") == with_one
