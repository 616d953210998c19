"""The verifier refuses times outside of a key's life, and contradictory receipts."""

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from custody.sealing import verifier
from tests.custody.test_verifier import (
    ED25519,
    NOW,
    P256,
    PREDICATE,
    RECORD,
    Desk,
    Signer,
    disposal,
    disposed,
    receipt,
    resigned,
    verify,
)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def key_list(*signers: Signer, **changed: Any) -> bytes:
    """Return the answer of `GET /v1/custody/keys`, with keys created a day before NOW."""
    life = {"created_at": "2026-11-19T09:30:00.000000Z", "retired_at": None}
    items = [{"key_id": key.key_id, "public_key_pem": key.pem.decode(), **life, **changed} for key in signers]
    return json.dumps({"items": items}).encode()


def verify_listed(document: Any, *lists: bytes, record: bytes | None = RECORD, now: datetime = NOW) -> verifier.Report:
    return verifier.verify(json.dumps(document).encode(), [], record, lists=lists, now=now)


DAY = timedelta(days=1)


def back_dated(years: int = 6) -> dict[str, Any]:
    at = NOW.replace(year=NOW.year - years)
    moment = f"{at:%Y-%m-%dT%H:%M:%S}.000000Z"
    return {**resigned(predicate={**PREDICATE, "receivedAt": moment}), "received_at": moment}


def test_a_time_outside_the_life_of_its_key_is_refused():
    inside = verify_listed(receipt(), key_list(ED25519))
    assert (inside.verdict, inside.skipped) == ("PAYLOAD VERIFIED", [])
    assert verify(back_dated()).verdict == "PAYLOAD VERIFIED", "a key in PEM has no life"
    assert verify_listed(back_dated(), key_list(ED25519)).verdict == "FAILED: time"
    retired = key_list(ED25519, retired_at="2026-11-20T09:20:00.000000Z")
    assert verify_listed(receipt(), retired).verdict == "FAILED: time"
    assert verify_listed(receipt(), key_list(ED25519), now=NOW - DAY / 2).verdict == "FAILED: time"


def test_keys_may_overlap_and_a_queued_record_may_be_older_than_its_key():
    retired = key_list(ED25519, retired_at="2026-11-20T09:28:00.000000Z")
    assert verify_listed(receipt(), retired).failed is None
    younger = {"created_at": "2026-11-20T12:00:00.000000Z", "valid_from": "2026-11-20T09:00:00.000000Z"}
    assert verify_listed(receipt(), key_list(ED25519, **younger)).failed is None


def test_a_disposal_is_refused_outside_the_life_of_its_key():
    lists = key_list(ED25519), key_list(P256, retired_at="2026-11-20T09:00:00.000000Z")
    document = disposed(disposal(P256))
    assert verify_listed(document, lists[0], key_list(P256), record=None).failed is None
    assert verify_listed(document, *lists, record=None).verdict == "FAILED: disposal"


BROKEN_LISTS: dict[str, bytes] = {
    "no JSON": b"[",
    "no items": b"{}",
    "items of texts": b'{"items": ["key"]}',
    "no keys": key_list(),
    "no PEM": key_list(ED25519, public_key_pem=None),
    "another key's id": key_list(ED25519, key_id=P256.key_id),
    "no time": key_list(ED25519, created_at=None),
    "a time in no calendar": key_list(ED25519, retired_at="2026-13-01T00:00:00Z"),
}


@pytest.mark.parametrize("name", BROKEN_LISTS)
def test_a_broken_key_list_fails_with_a_sentence(name: str):
    assert verify_listed(receipt(), BROKEN_LISTS[name]).verdict == "FAILED: key"


def test_two_lists_that_differ_in_the_life_of_a_key_fail():
    other = key_list(ED25519, retired_at="2026-11-21T00:00:00Z")
    assert verify_listed(receipt(), key_list(ED25519), other).verdict == "FAILED: key"


def test_opposite_receipts_of_one_id_are_a_conflict(desk: Desk):
    opposite = RECORD.replace(b"denied", b"granted")
    desk.write("keys.json", key_list(ED25519))
    desk.write("opposite.json", json.dumps(receipt(record=opposite)).encode())
    desk.write("opposite-record.json", opposite)
    records = ["--record", "record.json", "--record", "opposite-record.json"]
    done = desk.run("receipt.json", "opposite.json", "--keys", "keys.json", *records)
    assert done.returncode == 1
    conflict, verdict = done.stdout.splitlines()[-2:]
    assert verdict == "FAILED: conflict"
    assert "receipt.json and opposite.json" in conflict
    assert conflict.endswith("with different content.")
    assert done.stdout.count("PAYLOAD VERIFIED") == 2


def test_two_records_or_two_times_of_one_id_are_a_conflict():
    reports = {name: verify(made) for name, made in {"a": receipt(), "b": receipt(record_id=9)}.items()}
    assert [report.failed for report in reports.values()] == [None, None]
    (sentence,) = verifier.conflicts(reports)
    assert sentence == 'a and b are receipts of two records with one decision_id, "loan-1".'
    (sentence,) = verifier.conflicts({"a": verify(receipt()), "b": verify(back_dated())})
    assert sentence.endswith("with different time.")
    assert not list(verifier.conflicts({"a": verify(receipt()), "b": verify(disposed(), record=None)}))


def test_several_receipts_are_reported_as_json(desk: Desk):
    other = receipt(record_id=9)
    desk.write("other.json", json.dumps({**other, "decision_id": "loan-2"}).encode())
    done = desk.run("receipt.json", "other.json", "--key", "key.pem", "--json")
    document = json.loads(done.stdout)
    assert (done.returncode, document["ok"], document["conflicts"]) == (0, True, [])
    assert document["verdict"] == f"ALL 2 RECEIPTS HOLD; {verifier.CAVEAT}"
    assert [(receipt["file"], receipt["verdict"]) for receipt in document["receipts"]] == [
        ("receipt.json", "PROOF VALID"),
        ("other.json", "PROOF VALID"),
    ]
    skipped = [check["check"] for check in document["receipts"][0]["checks"] if check["status"] == "not compared"]
    assert skipped == ["time", "identity"]
