"""A receipt proves a record to people who trust neither this service nor its code."""

import base64
import copy
import hashlib
import hmac
import json

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import SSlibKey

from custody import selectors
from custody.models import Entry
from custody.sealing import fields
from decisions import samples

pytestmark = [pytest.mark.django_db, pytest.mark.once]

SAMPLES = samples.synthetic_records()
RAW = SAMPLES[0]


def public_key(api, key_id):
    (pem,) = [key["public_key_pem"] for key in api.get("/v1/custody/keys").json()["items"] if key["key_id"] == key_id]
    return serialization.load_pem_public_key(pem.encode())


def statement(receipt):
    return json.loads(base64.b64decode(receipt["envelope"]["payload"]))


def check_as_an_outsider(receipt: dict, payload: bytes, key) -> None:
    """Return what an outsider needs: the receipt, the record's bytes, the public key, and the two public formats."""
    envelope = receipt["envelope"]
    body = base64.b64decode(envelope["payload"], validate=True)
    kind = envelope["payloadType"].encode()
    signed = b"DSSEv1 " + b" ".join([str(len(kind)).encode(), kind, str(len(body)).encode(), body])
    key.verify(base64.b64decode(envelope["signatures"][0]["sig"], validate=True), signed)
    (subject,) = json.loads(body)["subject"]
    expected = hmac.new(bytes.fromhex(receipt["payload_salt"]), payload, hashlib.sha256).hexdigest()
    assert subject == {"name": "urn:uuid:" + receipt["record_id"], "digest": {"hmac-sha256": expected}}


def test_an_outsider_verifies_the_receipt_with_a_few_lines(api, subtests):
    for raw in SAMPLES:
        receipt = api.ingest(raw).json()
        with subtests.test(receipt["decision_id"]):
            check_as_an_outsider(receipt, raw, public_key(api, receipt["key_id"]))


def test_a_receipt_requested_later_is_the_first_one(api, each_vault):
    receipt = api.ingest(RAW).json()
    later = api.get(f"/v1/decisions/{receipt['decision_id']}/receipt").json()
    assert later == receipt
    check_as_an_outsider(later, RAW, public_key(api, later["key_id"]))


def test_securesystemslib_verifies_the_envelope(api):
    receipt = api.ingest(RAW).json()
    key = SSlibKey.from_crypto(public_key(api, receipt["key_id"]), keyid=receipt["key_id"])
    assert key.scheme == "ed25519"
    envelope = Envelope.from_dict(receipt["envelope"])
    assert envelope.payload_type == "application/vnd.in-toto+json"
    assert envelope.verify([key], 1) == {receipt["key_id"]: key}


@pytest.mark.parametrize("part", ["payload", "sig"])
def test_any_flipped_bit_of_statement_or_signature_fails_both_verifiers(api, part):
    receipt = api.ingest(RAW).json()
    key = public_key(api, receipt["key_id"])
    theirs = SSlibKey.from_crypto(key, keyid=receipt["key_id"])
    holder = receipt["envelope"] if part == "payload" else receipt["envelope"]["signatures"][0]
    original = base64.b64decode(holder[part])
    for bit in range(0, len(original) * 8, 7):
        changed = bytearray(original)
        changed[bit // 8] ^= 1 << bit % 8
        holder[part] = base64.b64encode(changed).decode()
        with pytest.raises(InvalidSignature):
            check_as_an_outsider(receipt, RAW, key)
        with pytest.raises(VerificationError):
            Envelope.from_dict(copy.deepcopy(receipt["envelope"])).verify([theirs], 1)


def test_a_changed_record_does_not_match_its_receipt(api):
    receipt = api.ingest(RAW).json()
    key = public_key(api, receipt["key_id"])
    for changed in (RAW.replace(b"denied", b"denies", 1), RAW + b" ", RAW[:-1]):
        with pytest.raises(AssertionError):
            check_as_an_outsider(receipt, changed, key)


def test_another_organizations_key_does_not_verify_the_receipt(api, other_api):
    receipt, theirs = api.ingest(RAW).json(), other_api.ingest(RAW).json()
    assert theirs["key_id"] != receipt["key_id"]
    with pytest.raises(InvalidSignature):
        check_as_an_outsider(receipt, RAW, public_key(other_api, theirs["key_id"]))


def test_the_key_id_is_the_sha256_of_the_public_key(api):
    receipt = api.ingest(RAW).json()
    der = public_key(api, receipt["key_id"]).public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    assert receipt["key_id"] == receipt["envelope"]["signatures"][0]["keyid"] == hashlib.sha256(der).hexdigest()


def test_the_statement_is_an_in_toto_statement_about_the_received_record(api, organization):
    receipt = api.ingest(RAW).json()
    signed = statement(receipt)
    assert signed["_type"] == "https://in-toto.io/Statement/v1"
    assert set(signed) == {"_type", "subject", "predicateType", "predicate"}
    predicate = signed["predicate"]
    assert predicate["organization"] == str(organization.id)
    assert predicate["kind"] == receipt["kind"] == "decision"
    assert predicate["receivedAt"] == receipt["received_at"]
    assert predicate["parents"] == []
    assert predicate["fields"]["count"] == len(fields.leaves(RAW))


@pytest.mark.parametrize("raw", [RAW, b'{"decision_id": "' + b"i" * 256 + b'"}'], ids=["a sample", "the longest id"])
def test_the_statement_is_small_and_names_no_person(api, raw):
    receipt = api.ingest(raw).json()
    body = base64.b64decode(receipt["envelope"]["payload"])
    assert len(body) <= 1200
    assert json.loads(raw)["decision_id"].encode() not in body
    for _, spelling in fields.leaves(raw):
        if len(spelling) > 10:
            assert spelling.strip('"').encode() not in body


def test_equal_records_of_two_organizations_share_nothing_comparable(api, other_api):
    one, other = statement(api.ingest(RAW).json()), statement(other_api.ingest(RAW).json())
    assert one["subject"][0]["digest"] != other["subject"][0]["digest"]
    assert one["predicate"]["decisionRef"] != other["predicate"]["decisionRef"]
    assert one["predicate"]["fields"]["root"] != other["predicate"]["fields"]["root"]
    assert one["predicate"]["ciphertext"]["sha256"] != other["predicate"]["ciphertext"]["sha256"]


def test_every_field_of_a_record_can_be_proved_alone_against_the_signed_statement(api, subtests):
    for raw in SAMPLES:
        receipt = api.ingest(raw).json()
        with subtests.test(receipt["decision_id"]):
            signed = statement(receipt)["predicate"]["fields"]
            root, count = bytes.fromhex(signed["root"]), signed["count"]
            entry = Entry.objects.get(pk=receipt["record_id"])
            leaves = fields.leaves(raw)
            assert len(leaves) == count
            proofs = selectors.disclosures(selectors.opened(entry), [path for path, _ in leaves])
            assert [proof.leaf for proof in proofs] == leaves
            assert all(proof.verifies(root=root, count=count) for proof in proofs)


def test_the_fields_behind_an_outcome_can_be_proved(api):
    """If a sample names the path of a factor, a notice would show only that field."""
    proved = 0
    for raw in SAMPLES:
        receipt = api.ingest(raw).json()
        signed = statement(receipt)["predicate"]["fields"]
        factors = json.loads(raw)["outcome"].get("principal_factors", [])
        scalars = {path for path, _ in fields.leaves(raw)}
        paths = scalars.intersection(factor["path"] for factor in factors if "path" in factor)
        entry = Entry.objects.get(pk=receipt["record_id"])
        for proof in selectors.disclosures(selectors.opened(entry), sorted(paths)):
            assert proof.verifies(root=bytes.fromhex(signed["root"]), count=signed["count"])
            proved += 1
    assert proved > len(SAMPLES)


def test_a_disclosure_names_the_path_that_the_record_does_not_have(api):
    entry = Entry.objects.get(pk=api.ingest(RAW).json()["record_id"])
    with pytest.raises(KeyError, match=r"outcome\.mood"):
        selectors.disclosures(selectors.opened(entry), ["outcome.action", "outcome.mood"])
