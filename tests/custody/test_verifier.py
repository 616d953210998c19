"""The verifier believes only what a given key has signed, and reports each problem in a sentence."""

import base64
import copy
import json
import shutil
import subprocess
import sys
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from hypothesis import assume, given
from hypothesis import strategies as st

from custody import signers
from custody.disposal import disposal_statements
from custody.disposal.disposal_statements import Order
from custody.models import Entry
from custody.sealing import envelope, verifier
from custody.sealing.envelope import Commitments
from custody.sealing.sealer import payload_commitment
from tests.threads import HANGS_SECONDS

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
RECORD = b'{"decision_id": "loan-1", "outcome": {"action": "denied"}}'
SALT = bytes(range(32))
ORGANIZATION, OTHER = uuid.UUID(int=1), uuid.UUID(int=2)
ORDER = Order(policy=3, days=400, reason="Its days are over.", actor="system the service itself")


class Signer:
    """A signing key of an organization."""

    def __init__(self, secret: Any) -> None:
        self.secret, public = secret, secret.public_key()
        self.pem, self.key_id = signers.public_pem(public).encode(), signers.key_id(public)

    def sign(self, data: bytes) -> bytes:
        how = [ec.ECDSA(SHA256())] if isinstance(self.secret, ec.EllipticCurvePrivateKey) else []
        return self.secret.sign(data, *how)

    def envelope(self, body: bytes) -> dict[str, Any]:
        return envelope.envelope(body, self.sign(envelope.pre_authentication_encoding(body)), self.key_id)


ED25519 = Signer(Ed25519PrivateKey.from_private_bytes(bytes(32)))
STRANGER = Signer(Ed25519PrivateKey.from_private_bytes(bytes([1] * 32)))
P256 = Signer(ec.derive_private_key(7, ec.SECP256R1()))


def statement(record_id: int = 8, organization: uuid.UUID = ORGANIZATION, record: bytes = RECORD) -> bytes:
    return envelope.statement(
        Commitments(
            record_id=uuid.UUID(int=record_id),
            organization_id=organization,
            kind="decision",
            decision_ref=bytes(32),
            payload=payload_commitment(SALT, record),
            fields_root=bytes(32),
            fields_count=2,
            ciphertext_sha256=bytes(32),
            ciphertext_size=99,
            kek_id="00" * 32,
            received_at=NOW,
            parents=[],
        )
    )


def receipt(signer: Signer = ED25519, **statement_of: Any) -> dict[str, Any]:
    signed = statement(**statement_of)
    return {
        "decision_id": "loan-1",
        "record_id": json.loads(signed)["subject"][0]["name"].removeprefix("urn:uuid:"),
        "kind": "decision",
        "received_at": "2026-11-20T09:30:00.000000Z",
        "key_id": signer.key_id,
        "envelope": signer.envelope(signed),
        "payload_salt": SALT.hex(),
        "log": "pending",
    }


def disposal(signer: Signer = ED25519, **statement_of: Any) -> dict[str, Any]:
    """Return the disposal of the record of `receipt`, if both have the same statement."""
    signed = statement(**statement_of)
    payload = json.loads(signed)
    record_id = uuid.UUID(payload["subject"][0]["name"])
    organization_id = uuid.UUID(payload["predicate"]["organization"])
    entry = Entry(record_id=record_id, organization_id=organization_id, kind="decision", statement=signed)
    return {
        "record_id": str(record_id),
        "disposed_at": "2026-11-20T09:30:00.000000Z",
        "policy": ORDER.policy,
        "reason": ORDER.reason,
        "envelope": signer.envelope(disposal_statements.statement(entry, ORDER, NOW)),
    }


def disposed(made: dict[str, Any] | None = None, **changed: Any) -> dict[str, Any]:
    verdict = f"PROOF VALID, PAYLOAD DESTROYED under policy {ORDER.policy}"
    return {**receipt(), "payload_salt": None, "verdict": verdict, "disposal": made or disposal(), **changed}


def verify(document: Any, *keys: Signer, record: bytes | None = RECORD) -> verifier.Report:
    raw = document if isinstance(document, bytes) else json.dumps(document).encode()
    return verifier.verify(raw, [key.pem for key in keys or [ED25519]], record)


def resigned(signer: Signer = ED25519, **changed: Any) -> dict[str, Any]:
    """Return a receipt with a changed statement, under a valid signature."""
    document = {**json.loads(statement()), **changed}
    return {**receipt(signer), "envelope": signer.envelope(json.dumps(document).encode())}


@pytest.mark.parametrize("signer", [ED25519, P256], ids=["ed25519", "ecdsa"])
def test_a_record_is_verified_under_the_key_that_signed_it(signer: Signer):
    result = verify(receipt(signer), STRANGER, signer)
    assert (result.verdict, result.failed) == ("PAYLOAD VERIFIED", None)
    assert [check for check, _ in result.passed] == ["signature", "statement", "receipt", "payload", "identity"]


def test_without_the_record_the_proof_is_valid():
    result = verify(receipt(), record=None)
    assert result.verdict == "PROOF VALID"
    assert "payload" not in dict(result.passed)


@pytest.mark.parametrize("later", [ED25519, P256], ids=["the same key", "a later key"])
def test_a_destroyed_payload_is_proved_under_its_policy(later: Signer):
    result = verify(disposed(disposal(later)), ED25519, later, record=None)
    assert result.verdict == "PROOF VALID, PAYLOAD DESTROYED under policy 3"
    assert "2026-11-20T09:30:00.000000Z" in dict(result.passed)["disposal"]


def test_every_check_names_its_scope_and_the_last_line_is_the_verdict():
    lines = list(verify(receipt()).lines())
    assert len(lines) == 7
    assert all(line.startswith(("ok ", "- ")) and line.endswith(".") for line in lines[:-1])
    assert lines[-1] == f"PAYLOAD VERIFIED; {verifier.CAVEAT}"
    *passed, failed, verdict = verify(receipt(), record=RECORD + b" ").lines()
    assert len(passed) == 4
    assert failed.startswith("FAILED  payload ")
    assert verdict == "FAILED: payload"


def flipped(text: str) -> str:
    raw = bytearray(base64.b64decode(text))
    raw[-1] ^= 1
    return base64.b64encode(raw).decode()


def with_envelope(**changed: Any) -> dict[str, Any]:
    made = receipt()
    return {**made, "envelope": {**made["envelope"], **changed}}


def with_signature(**changed: Any) -> dict[str, Any]:
    made = receipt()["envelope"]["signatures"][0]
    return with_envelope(signatures=[{**made, **changed}])


SUBJECT = json.loads(statement())["subject"][0]
PREDICATE = json.loads(statement())["predicate"]

HOSTILE: dict[str, tuple[Any, str]] = {
    "nothing": (b"", "receipt"),
    "no text": (b"\xff", "receipt"),
    "a list": ([receipt()], "receipt"),
    "a number of many digits": (b'{"log": ' + b"1" * 5000 + b"}", "receipt"),
    "not a number": (b'{"log": NaN}', "receipt"),
    "a name twice": (json.dumps(receipt()).encode()[:-1] + b', "record_id": "other"}', "receipt"),
    "very deep": (b"[" * 200_000 + b"]" * 200_000, "receipt"),
    "huge": (b'{"log": "' + b" " * verifier.MAX_RECEIPT + b'"}', "receipt"),
    "no envelope": ({**receipt(), "envelope": None}, "signature"),
    "another payloadType": (with_envelope(payloadType="application/json"), "signature"),
    "a payload that is no text": (with_envelope(payload=7), "signature"),
    "a payload that is not base64": (with_envelope(payload="é*"), "signature"),
    "no signature": (with_envelope(signatures=[]), "signature"),
    "two signatures": (with_envelope(signatures=receipt()["envelope"]["signatures"] * 2), "signature"),
    "a signature that is a text": (with_envelope(signatures=["MEQ="]), "signature"),
    "a key that was not given": (receipt(STRANGER), "signature"),
    "a key that has a path for its name": (with_signature(keyid="../../key.pem"), "signature"),
    "another key's name": (with_signature(keyid=P256.key_id), "signature"),
    "a signature cut short": (with_signature(sig="MEQ="), "signature"),
    "a flipped signature": (with_signature(sig=flipped(receipt()["envelope"]["signatures"][0]["sig"])), "signature"),
    "a flipped statement": (with_envelope(payload=flipped(receipt()["envelope"]["payload"])), "signature"),
    "a statement of another type": (resigned(_type="https://in-toto.io/Statement/v0.1"), "signature"),
    "another statement's signature": (with_envelope(payload=receipt(record_id=9)["envelope"]["payload"]), "signature"),
    "a disposal in place of a statement": ({**receipt(), "envelope": disposal()["envelope"]}, "statement"),
    "no subject": (resigned(subject=[]), "statement"),
    "two subjects": (resigned(subject=[SUBJECT, SUBJECT]), "statement"),
    "a subject that is no record": (resigned(subject=[{**SUBJECT, "name": "pkg:x"}]), "statement"),
    "a plain digest": (resigned(subject=[{**SUBJECT, "digest": {"sha256": "00" * 32}}]), "statement"),
    "no organization": (resigned(predicate={**PREDICATE, "organization": None}), "statement"),
    "a kind that would write on the terminal": (resigned(predicate={**PREDICATE, "kind": "\x1b[2J"}), "statement"),
    "a time that is none": (resigned(predicate={**PREDICATE, "receivedAt": "lately"}), "statement"),
    "another record's statement": ({**receipt(record_id=9), "record_id": receipt()["record_id"]}, "receipt"),
    "another kind": ({**receipt(), "kind": "notice"}, "receipt"),
    "another time": ({**receipt(), "received_at": "2020-01-01T00:00:00.000000Z"}, "receipt"),
    "another key": ({**receipt(), "key_id": P256.key_id}, "receipt"),
    "no salt and no disposal": ({**receipt(), "payload_salt": None}, "payload"),
    "a salt of another length": ({**receipt(), "payload_salt": "00" * 16}, "payload"),
    "another salt": ({**receipt(), "payload_salt": "00" * 32}, "payload"),
    "another record": (receipt(record=RECORD + b" "), "payload"),
    "another decision_id": ({**receipt(), "decision_id": "loan-2"}, "identity"),
    "a decision_id that is a list": ({**receipt(), "decision_id": ["loan-1"]}, "identity"),
    "no decision_id": ({key: value for key, value in receipt().items() if key != "decision_id"}, "identity"),
    "a signed time that is in no calendar": (
        resigned(predicate={**PREDICATE, "receivedAt": "2026-02-30T09:30:00.000000Z"}),
        "time",
    ),
    "a verdict that no disposal proves": (
        {**receipt(), "verdict": "PROOF VALID, PAYLOAD DESTROYED under policy 3"},
        "disposal",
    ),
    "a verdict of another policy": (disposed(verdict="PROOF VALID, PAYLOAD DESTROYED under policy 4"), "disposal"),
    "a disposal that tells its envelope alone": (disposed({"envelope": disposal()["envelope"]}), "disposal"),
    "a salt and a disposal": (disposed(payload_salt=SALT.hex()), "disposal"),
    "a disposal that is a text": (disposed(disposal="PROOF VALID"), "disposal"),
    "a disposal without its statement": (disposed(disposal={"policy": 3}), "disposal"),
    "a disposal by a key that was not given": (disposed(disposal(STRANGER)), "disposal"),
    "a record's statement in place of a disposal": (
        disposed({**disposal(), "envelope": receipt()["envelope"]}),
        "disposal",
    ),
    "a disposal of another record": (disposed(disposal(record_id=9)), "disposal"),
    "a disposal of another statement": (disposed(disposal(record=b"{}")), "disposal"),
    "another organization's disposal": (disposed(disposal(organization=OTHER)), "disposal"),
    "a disposal that tells another policy": (disposed({**disposal(), "policy": 4}), "disposal"),
    "a disposal that tells a policy of another type": (disposed({**disposal(), "policy": True}), "disposal"),
    "a disposal that tells another reason": (disposed({**disposal(), "reason": "It was asked for."}), "disposal"),
    "a disposal that tells another time": (disposed({**disposal(), "disposed_at": "2020-01-01"}), "disposal"),
    "bytes that cannot be compared any more": (disposed(), "payload"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_receipt_fails_with_a_sentence(name: str):
    document, check = HOSTILE[name]
    result = verify(document, ED25519, P256)
    assert result.failed is not None
    assert (result.failed.check, result.verdict) == (check, f"FAILED: {check}")
    assert result.failed.sentence.endswith(".")
    assert result.failed.sentence.isprintable()


def disposal_saying(**changed: Any) -> dict[str, Any]:
    signed = json.loads(base64.b64decode(disposal()["envelope"]["payload"]))
    return {
        "envelope": ED25519.envelope(json.dumps({**signed, "predicate": {**signed["predicate"], **changed}}).encode())
    }


@pytest.mark.parametrize("policy", [None, {}, {"number": "3"}, {"number": 0}, {"number": True}, {"number": 10**400}])
def test_a_signed_disposal_under_no_policy_proves_nothing(policy: Any):
    result = verify(disposed(disposal_saying(policy=policy)), record=None)
    assert result.verdict == "FAILED: disposal"


@pytest.mark.parametrize("changed", [{"organization": str(OTHER)}, {"ciphertext": None}, {"kind": "notice"}], ids=str)
def test_a_signed_disposal_that_contradicts_the_record_proves_nothing(changed: Any):
    assert verify(disposed(disposal_saying(**changed)), record=None).verdict == "FAILED: disposal"


def test_an_impossible_comparison_is_named():
    skipped = dict(verify(receipt(), record=None).skipped)
    assert set(skipped) == {"time", "identity"}
    assert "identity not compared: " in "\n".join(verify(receipt(), record=None).lines())
    assert "identity not compared: " in "\n".join(verify(disposed(), record=None).lines())


def pem(secret: Any) -> bytes:
    return secret.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


@pytest.mark.parametrize(
    "key",
    [
        b"",
        b"\xff",
        pem(rsa.generate_private_key(public_exponent=65537, key_size=1024)),
        pem(ec.generate_private_key(ec.SECP384R1())),
        ED25519.secret.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
    ],
    ids=["nothing", "no text", "RSA", "another curve", "a secret"],
)
def test_only_a_public_key_for_signing_is_accepted(key: bytes):
    result = verifier.verify(json.dumps(receipt()).encode(), [ED25519.pem, key], RECORD)
    assert result.verdict == "FAILED: key"


def test_without_a_key_nothing_is_verified():
    assert verifier.verify(json.dumps(receipt()).encode(), [], RECORD).verdict == "FAILED: key"


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)) | st.just(2**70),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=5,
)
LEFT_OPEN = {("log",), ("decision_id",)}
"""Values that no signature covers. A test above covers the decision_id."""


def places(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [path, *(place for key, child in children for place in places(child, (*path, key)))]


def changed_at(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    made = copy.deepcopy(document)
    holder = made
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    return made


@pytest.mark.parametrize(("document", "record"), [(receipt(), RECORD), (disposed(), None)], ids=["kept", "disposed"])
@given(data=st.data())
def test_no_changed_value_is_believed_or_ends_in_a_traceback(document: Any, record: Any, data: Any):
    path = data.draw(st.sampled_from([place for place in places(document) if place not in LEFT_OPEN]))
    changed = changed_at(document, path, data.draw(ANYTHING))
    assume(changed != document)
    result = verify(changed, record=record)
    assert result.failed is not None
    assert all(line.isprintable() for line in result.lines())


def _essence(raw: bytes, document: Any) -> Any:
    """Return what its signatures cover of a receipt, which may leave its verdict out."""
    try:
        read = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    if not isinstance(read, dict):
        return None
    names = [name for name in document if (name,) not in LEFT_OPEN]
    return {name: read.get(name, document["verdict"] if name == "verdict" else None) for name in names}


@pytest.mark.parametrize(("document", "record"), [(receipt(), RECORD), (disposed(), None)], ids=["kept", "disposed"])
@given(data=st.data())
def test_no_receipt_without_a_part_or_a_byte_is_believed(document: Any, record: Any, data: Any):
    raw = json.dumps(document).encode()
    start = data.draw(st.integers(0, len(raw) - 1))
    stop = data.draw(st.integers(start, min(len(raw), start + 200)))
    changed = raw[:start] + data.draw(st.binary(max_size=3)) + raw[stop:]
    assume(_essence(changed, document) != _essence(raw, document))
    report = verify(changed, record=record)
    assert report.failed is not None
    assert all(line.isprintable() for line in report.lines())


@given(body=st.binary(max_size=200) | ANYTHING.map(lambda value: json.dumps(value).encode()))
def test_no_statement_of_a_trusted_key_ends_in_a_traceback(body: bytes):
    made = {**receipt(), "envelope": ED25519.envelope(body)}
    assert verify(made).failed is not None
    assert verify(disposed({**disposal(), "envelope": ED25519.envelope(body)}), record=None).failed is not None


@given(data=st.data())
def test_no_value_in_a_signed_statement_ends_in_a_traceback(data: Any):
    signed = json.loads(base64.b64decode(disposal()["envelope"]["payload"]))
    path = data.draw(st.sampled_from(places(signed)))
    body = json.dumps(changed_at(signed, path, data.draw(ANYTHING))).encode()
    result = verify(disposed({"envelope": ED25519.envelope(body)}), record=None)
    assert all(line.isprintable() for line in result.lines())


@given(junk=st.binary(max_size=500))
def test_no_bytes_in_place_of_receipt_key_or_record_end_in_a_traceback(junk: bytes):
    assert verify(junk).failed is not None
    assert verify(receipt(), record=junk).failed is not None
    assert verifier.verify(json.dumps(receipt()).encode(), [junk], RECORD).failed is not None
    assert verifier.verify(json.dumps(receipt()).encode(), [], RECORD, lists=[junk]).failed is not None


class Desk:
    """An empty directory with the verifier, on a machine without the project."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        shutil.copy(verifier.__file__, directory)
        self.write("receipt.json", json.dumps(receipt()).encode())
        self.write("key.pem", ED25519.pem)
        self.write("record.json", RECORD)

    def write(self, name: str, content: bytes) -> None:
        (self.directory / name).write_bytes(content)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-I", "verifier.py", *arguments]
        return subprocess.run(command, cwd=self.directory, capture_output=True, text=True, timeout=HANGS_SECONDS)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_the_single_file_verifies_without_the_project(desk: Desk):
    done = desk.run("receipt.json", "--key", "key.pem", "--record", "record.json")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == f"PAYLOAD VERIFIED; {verifier.CAVEAT}"


def test_the_single_file_exits_with_1_if_a_check_fails(desk: Desk):
    desk.write("record.json", RECORD.replace(b"denied", b"granted"))
    done = desk.run("receipt.json", "--key", "key.pem", "--record", "record.json")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.splitlines()[-1] == "FAILED: payload"


def test_the_single_file_takes_several_keys(desk: Desk):
    desk.write("older.pem", P256.pem)
    desk.write("receipt.json", json.dumps(disposed(disposal(P256))).encode())
    done = desk.run("receipt.json", "--key", "older.pem", "--key", "key.pem")
    assert done.stdout.splitlines()[-1] == f"PROOF VALID, PAYLOAD DESTROYED under policy 3; {verifier.CAVEAT}"


@pytest.mark.parametrize("arguments", [("none.json", "--key", "key.pem"), ("receipt.json", "--key", ".")], ids=str)
def test_an_unreadable_file_is_named(desk: Desk, arguments: tuple[str, ...]):
    done = desk.run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Cannot read ")
    assert len(done.stderr.splitlines()) == 1
