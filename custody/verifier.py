"""Checks a receipt of the Decision-Record Service, without the service.

    python verifier.py receipt.json --key key.pem [--key older.pem ...] [--record record.json]

This one file needs Python 3.11 or newer and `cryptography`. Get the public keys once, from somebody you trust, and keep
them. The last line that it prints is the verdict:

PAYLOAD VERIFIED
    One of the keys signed the statement, and the record's bytes are the ones that it commits to.
PROOF VALID
    One of the keys signed the statement. No record was given to compare.
PROOF VALID, PAYLOAD DESTROYED under policy N
    The same, and one of the keys signed that the record was destroyed under version N of the retention policy.
FAILED: ...
    The check that failed. Nothing after it was looked at, and the exit code is 1.

Formats: docs/custody.md; DSSE v1 (github.com/secure-systems-lab/dsse), in-toto Statement v1 (github.com/in-toto).
"""

import argparse
import base64
import hashlib
import hmac
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP256R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_public_key

PAYLOAD_TYPE = "application/vnd.in-toto+json"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
CUSTODY = "urn:x-decision-record-service:custody:v1"
DISPOSAL = "urn:x-decision-record-service:disposal:v1"
LARGEST_RECEIPT = 4 * 2**20  # bytes

_UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_DIGEST = "[0-9a-f]{64}"
_TIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?Z"


class Failed(Exception):
    """A check failed: which one, and why, in a sentence."""

    def __init__(self, check: str, sentence: str) -> None:
        super().__init__(sentence)
        self.check, self.sentence = check, sentence


@dataclass
class Report:
    """What was checked, each with what it covers, and the verdict."""

    passed: list[tuple[str, str]] = field(default_factory=list)
    failed: Failed | None = None
    verdict: str = ""

    def lines(self) -> Iterator[str]:
        for check, scope in self.passed:
            yield f"ok      {check:10} {scope}"
        if self.failed:
            yield f"FAILED  {self.failed.check:10} {self.failed.sentence}"
        yield self.verdict


class Key(NamedTuple):
    algorithm: str
    verify: Callable[[bytes, bytes], None]


class Signed(NamedTuple):
    """A statement whose signature has verified."""

    body: bytes
    document: dict[str, Any]
    key_id: str


class Statement(NamedTuple):
    """What the statement of a record says."""

    signed: Signed
    record_id: str
    commitment: str
    organization: str
    kind: str
    received_at: str
    ciphertext: Any


def verify(receipt: bytes, keys: Sequence[bytes], record: bytes | None = None) -> Report:
    """Check a receipt, whoever it comes from. It never raises.

    Args:
        receipt: the answer of `GET /v1/decisions/{decision_id}/receipt`.
        keys: public keys that are trusted, each as PEM.
        record: the bytes that ought to be the record, if they are at hand.
    """
    report = Report()
    try:
        report.verdict = _verdict(receipt, _public_keys(keys), record, report.passed.append)
    except Failed as failed:
        report.failed, report.verdict = failed, f"FAILED: {failed.check}"
    return report


def _verdict(
    receipt: bytes, keys: Mapping[str, Key], record: bytes | None, passed: Callable[[tuple[str, str]], None]
) -> str:
    _require(len(receipt) <= LARGEST_RECEIPT, "receipt", "It is larger than any receipt.")
    document = _object(_parsed(receipt, "receipt", "The receipt"), "receipt", "The receipt")
    signed = _signed(document.get("envelope"), keys, "signature")
    passed(("signature", f"The key {signed.key_id} ({keys[signed.key_id].algorithm}) signed the statement."))
    statement = _statement(signed)
    about = f"record {statement.record_id}, of kind {statement.kind}, of organization {statement.organization}"
    passed(("statement", f"It is about {about}. By the clock of the service it came in at {statement.received_at}."))
    _require_same(document, statement)
    said = "Its record_id, kind, received_at and key_id are the signed ones. The record alone proves its decision_id."
    passed(("receipt", said))
    disposal = document.get("disposal")
    if disposal is not None:
        _require(
            document.get("payload_salt") is None,
            "disposal",
            "The receipt holds a payload_salt too, which a disposal destroys.",
        )
        number, scope = _disposal(disposal, statement, keys)
        passed(("disposal", scope))
        _require(record is None, "payload", "The record was destroyed, so no bytes can be compared with it any more.")
        return f"PROOF VALID, PAYLOAD DESTROYED under policy {number}"
    why = "The receipt has no payload_salt, and no disposal that says why."
    salt = _text(document, "payload_salt", _DIGEST, "payload", why)
    if record is None:
        return "PROOF VALID"
    _require_committed(record, salt, statement)
    passed(("payload", f"The record's {len(record)} bytes are the ones that the statement commits to."))
    if "decision_id" in document:
        _require_named(record, document["decision_id"])
        passed(("identity", "The record has the receipt's decision_id."))
    return "PAYLOAD VERIFIED"


def _public_keys(pems: Sequence[bytes]) -> dict[str, Key]:
    """By their ids. How a key verifies is the key's own matter; nothing that a receipt says chooses it."""
    found = {}
    for pem in pems:
        try:
            public = load_pem_public_key(pem)
        except (ValueError, UnsupportedAlgorithm):
            raise Failed("key", "A key is no public key in PEM.") from None
        if isinstance(public, Ed25519PublicKey):
            key = Key("Ed25519", public.verify)
        elif isinstance(public, EllipticCurvePublicKey) and isinstance(public.curve, SECP256R1):
            key = Key("ECDSA P-256", _ecdsa(public))
        else:
            raise Failed("key", "A key is neither for Ed25519 nor for ECDSA on P-256.")
        der = public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        found[hashlib.sha256(der).hexdigest()] = key
    _require(bool(found), "key", "No key was given.")
    return found


def _ecdsa(public: EllipticCurvePublicKey) -> Callable[[bytes, bytes], None]:
    return lambda signature, data: public.verify(signature, data, ECDSA(SHA256()))


def _signed(envelope: Any, keys: Mapping[str, Key], check: str) -> Signed:
    """The statement of a DSSE envelope, once its signature has verified."""
    envelope = _object(envelope, check, "The envelope")
    _require(envelope.get("payloadType") == PAYLOAD_TYPE, check, f"The envelope's payloadType is not {PAYLOAD_TYPE}.")
    signature = _only(envelope.get("signatures"), check, "signature")
    key_id = _text(signature, "keyid", _DIGEST, check, "The signature names no key by its SHA-256.")
    _require(key_id in keys, check, f"It names the key {key_id}, which is none of those that were given.")
    body = _decoded(envelope.get("payload"), check, "The envelope's payload")
    message = b"DSSEv1 %d %b %d %b" % (len(PAYLOAD_TYPE), PAYLOAD_TYPE.encode(), len(body), body)
    try:
        keys[key_id].verify(_decoded(signature.get("sig"), check, "The signature"), message)
    except InvalidSignature:
        raise Failed(check, f"The signature does not verify under the key {key_id}.") from None
    document = _object(_parsed(body, check, "The statement"), check, "The statement")
    _require(document.get("_type") == STATEMENT_TYPE, check, f"The statement's _type is not {STATEMENT_TYPE}.")
    return Signed(body, document, key_id)


def _statement(signed: Signed) -> Statement:
    name, digest, predicate = _parts(signed, CUSTODY, "hmac-sha256", "statement")
    return Statement(
        signed=signed,
        record_id=name,
        commitment=digest,
        organization=predicate["organization"],
        kind=_text(predicate, "kind", "[a-z_]{1,32}", "statement", "It names no kind of record."),
        received_at=_text(predicate, "receivedAt", _TIME, "statement", "It does not say when the record came in."),
        ciphertext=predicate.get("ciphertext"),
    )


def _parts(signed: Signed, predicate_type: str, algorithm: str, check: str) -> tuple[str, str, dict[str, Any]]:
    """The record id and digest of a statement's one subject, and its predicate."""
    given = signed.document.get("predicateType")
    _require(given == predicate_type, check, f"Its predicateType is not {predicate_type}.")
    subject = _only(signed.document.get("subject"), check, "subject")
    name = _text(subject, "name", f"urn:uuid:{_UUID}", check, "Its subject is no record.")
    digests = _object(subject.get("digest"), check, "Its subject's digest")
    digest = _text(digests, algorithm, _DIGEST, check, f"Its subject has no digest by {algorithm}.")
    predicate = _object(signed.document.get("predicate"), check, "Its predicate")
    _text(predicate, "organization", _UUID, check, "It names no organization.")
    return name.removeprefix("urn:uuid:"), digest, predicate


def _require_same(document: Mapping[str, Any], statement: Statement) -> None:
    signed = {
        "record_id": statement.record_id,
        "kind": statement.kind,
        "received_at": statement.received_at,
        "key_id": statement.signed.key_id,
    }
    for name, value in signed.items():
        _require(document.get(name) == value, "receipt", f"Its {name} is not the one that was signed.")


def _disposal(disposal: Any, statement: Statement, keys: Mapping[str, Key]) -> tuple[int, str]:
    """The number of the policy under which the record was destroyed, and what that proves."""
    document = _object(disposal, "disposal", "The disposal")
    signed = _signed(document.get("envelope"), keys, "disposal")
    record_id, digest, predicate = _parts(signed, DISPOSAL, "sha256", "disposal")
    _require(record_id == statement.record_id, "disposal", "It is the disposal of another record.")
    same = digest == hashlib.sha256(statement.signed.body).hexdigest()
    _require(same, "disposal", "It is the disposal of another statement about this record.")
    same = predicate["organization"] == statement.organization
    _require(same, "disposal", "It was signed for another organization.")
    same = (predicate.get("kind"), predicate.get("ciphertext")) == (statement.kind, statement.ciphertext)
    _require(same, "disposal", "Its kind or ciphertext is not that of the record.")
    number = _object(predicate.get("policy"), "disposal", "Its policy").get("number")
    if type(number) is not int or not 0 < number < 2**31:
        raise Failed("disposal", "It names no policy.")
    at = _text(predicate, "disposedAt", _TIME, "disposal", "It does not say when the record was destroyed.")
    told = {"record_id": record_id, "disposed_at": at, "policy": number, "reason": predicate.get("reason")}
    for name, value in told.items():
        same = name not in document or (type(document[name]), document[name]) == (type(value), value)
        _require(same, "disposal", f"Its {name} is not the signed one.")
    by = f"The key {signed.key_id} ({keys[signed.key_id].algorithm})"
    return number, f"{by} signed that this record was destroyed at {at}, under policy {number}."


def _require_committed(record: bytes, salt: str, statement: Statement) -> None:
    digest = hmac.new(bytes.fromhex(salt), record, hashlib.sha256).hexdigest()
    same = hmac.compare_digest(digest, statement.commitment)
    _require(same, "payload", "The record, or the payload_salt, is not the one that was signed.")


def _require_named(record: bytes, decision_id: Any) -> None:
    content = _object(_parsed(record, "identity", "The record"), "identity", "The record")
    same = isinstance(decision_id, str) and content.get("decision_id") == decision_id
    _require(same, "identity", "The receipt's decision_id is not that of the record.")


def _require(condition: bool, check: str, sentence: str) -> None:
    if not condition:
        raise Failed(check, sentence)


def _text(node: Mapping[str, Any], name: str, pattern: str, check: str, otherwise: str) -> str:
    value = node.get(name)
    if not isinstance(value, str) or not re.fullmatch(pattern, value):
        raise Failed(check, otherwise)
    return value


def _only(values: Any, check: str, what: str) -> dict[str, Any]:
    """The one object of a list."""
    if not isinstance(values, list) or len(values) != 1:
        raise Failed(check, f"It needs exactly one {what}.")
    return _object(values[0], check, f"The {what}")


def _object(value: Any, check: str, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Failed(check, f"{what} is not there, or no JSON object.")
    return value


def _decoded(value: Any, check: str, what: str) -> bytes:
    try:
        return base64.b64decode(value.encode("ascii"), validate=True)
    except (AttributeError, ValueError):
        raise Failed(check, f"{what} is not in base64.") from None


def _parsed(data: bytes, check: str, what: str) -> Any:
    """JSON that all parsers read alike."""
    try:
        return json.loads(data.decode(), object_pairs_hook=_unique, parse_constant=_no_constant)
    except _Twofold as twofold:
        raise Failed(check, f"{what} can be read in two ways: {twofold}.") from None
    except (ValueError, RecursionError):
        raise Failed(check, f"{what} is no JSON.") from None


class _Twofold(Exception):
    pass


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Twofold("a name appears twice in one object")
    return found


def _no_constant(name: str) -> None:
    raise _Twofold(f"{name} is no number of JSON")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description="Check a receipt of the Decision-Record Service. The last line is the verdict; the exit code is 1 "
        "if a check fails."
    )
    parser.add_argument("receipt", type=Path, help="as GET /v1/decisions/{decision_id}/receipt answers it")
    parser.add_argument("--key", type=Path, action="append", required=True, help="a public key that you trust, as PEM")
    parser.add_argument("--record", type=Path, help="the bytes that ought to be the record")
    given = parser.parse_args(arguments)
    try:
        keys = [path.read_bytes() for path in given.key]
        record = given.record.read_bytes() if given.record else None
        report = verify(read_receipt(given.receipt), keys, record)
    except OSError as error:
        sys.stderr.write(f"Cannot read {error.filename}: {error.strerror}.\n")
        return 1
    sys.stdout.write("".join(f"{line}\n" for line in report.lines()))
    return 1 if report.failed else 0


def read_receipt(path: Path) -> bytes:
    """No more of a file than shows that it is too large. Raises OSError."""
    with path.open("rb") as file:
        return file.read(LARGEST_RECEIPT + 1)


if __name__ == "__main__":
    sys.exit(main())
