"""Verifier of the Decision-Record Service's receipts, which runs without the service.

    python verifier.py receipt.json [more.json ...] --keys keys.json [--key key.pem] [--record record.json] [--json]

This one file needs Python 3.11 or newer and `cryptography`. Get the list of public keys once, from a source you trust,
and keep it. The last line is the verdict:

PAYLOAD VERIFIED
    One of the keys signed the statement, and the record's bytes are the ones that it commits to.
PROOF VALID
    One of the keys signed the statement. No record was given to compare.
PROOF VALID, PAYLOAD DESTROYED under policy N
    The same, and one of the keys signed that the record was destroyed under version N of the retention policy.
ALL N RECEIPTS HOLD
    Several receipts were given, none of them fails, and no two contradict each other.
FAILED: ...
    The check that failed. Nothing after it was checked.

The operator holds the signing key and the clock. No verdict proves when a record came in, or that no other one exists:
time and completeness rest on the operator's word. Exit codes: 0 all hold, 1 a check failed, 2 wrong usage or a file
that cannot be read.

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
from datetime import UTC, datetime, timedelta
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
MAX_RECEIPT = 4 * 2**20  # bytes
CAVEAT = "time and completeness rest on the operator's word"
OVERLAP = timedelta(minutes=5)
"""A request that began before a rotation still signs with the retired key, and the clocks of machines differ."""
IDENTIFIED = ("decision", "reconsideration")
"""Kinds of record that have a decision_id."""

_UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_DIGEST = "[0-9a-f]{64}"
_TIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?Z"


class Failed(Exception):
    """A failed check, with a sentence that says why."""

    def __init__(self, check: str, sentence: str) -> None:
        super().__init__(sentence)
        self.check, self.sentence = check, sentence


class Key(NamedTuple):
    """Public key and, if a key list says so, the first and last moment of its use. The last is None while it lasts."""

    algorithm: str
    verify: Callable[[bytes, bytes], None]
    life: tuple[datetime, datetime | None] | None = None


class Signed(NamedTuple):
    """A statement whose signature has verified."""

    body: bytes
    document: dict[str, Any]
    key_id: str


class Statement(NamedTuple):
    """The claims of a record's statement."""

    signed: Signed
    record_id: str
    commitment: str
    organization: str
    kind: str
    received_at: str
    ciphertext: Any


@dataclass
class Report:
    """Result of checking one receipt: each check with its scope, and the verdict.

    Attributes:
        skipped: checks that were not made, with the reason.
        statement: None unless its signature verifies.
        decision_id: the receipt's decision_id.
    """

    passed: list[tuple[str, str]] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    failed: Failed | None = None
    verdict: str = ""
    statement: Statement | None = None
    decision_id: Any = None

    def lines(self) -> Iterator[str]:
        for check, scope in self.passed:
            yield f"ok      {check:10} {scope}"
        for check, reason in self.skipped:
            yield f"-       {check:10} {check} not compared: {reason}"
        if self.failed:
            yield f"FAILED  {self.failed.check:10} {self.failed.sentence}"
        yield self.verdict if self.failed else f"{self.verdict}; {CAVEAT}"

    def as_json(self) -> dict[str, Any]:
        checks = [{"check": check, "status": "ok", "detail": scope} for check, scope in self.passed]
        checks += [{"check": check, "status": "not compared", "detail": reason} for check, reason in self.skipped]
        if self.failed:
            checks.append({"check": self.failed.check, "status": "failed", "detail": self.failed.sentence})
        signed = self.statement
        return {
            "ok": self.failed is None,
            "verdict": self.verdict,
            "record_id": signed and signed.record_id,
            "received_at": signed and signed.received_at,
            "checks": checks,
        }


def verify(
    receipt: bytes,
    keys: Sequence[bytes],
    record: bytes | None = None,
    *,
    lists: Sequence[bytes] = (),
    now: datetime | None = None,
) -> Report:
    """Check a receipt from any source. It never raises.

    Args:
        receipt: the answer of `GET /v1/decisions/{decision_id}/receipt`.
        keys: trusted public keys, each as PEM.
        record: the bytes that should be the record, if there are any.
        lists: trusted lists of public keys, each as `GET /v1/custody/keys` answers it.
        now: aware; by default the time of this computer.
    """
    report = Report()
    try:
        report.verdict = _verdict(receipt, _all_keys(keys, lists), record, report, now or datetime.now(UTC))
    except Failed as failed:
        report.failed, report.verdict = failed, f"FAILED: {failed.check}"
    return report


def conflicts(reports: Mapping[str, Report]) -> Iterator[str]:
    """Yield a sentence for each receipt that contradicts an earlier one. Receipts have the names given here."""
    by_record: dict[str, tuple[str, Statement]] = {}
    by_identity: dict[tuple[str, str], tuple[str, Statement]] = {}
    for name, report in reports.items():
        if (statement := report.statement) is None:
            continue
        first, earlier = by_record.setdefault(statement.record_id, (name, statement))
        if statement.signed.body != earlier.signed.body:
            content = "content" if statement.commitment != earlier.commitment else ""
            time = "time" if statement.received_at != earlier.received_at else ""
            parts = " and ".join(filter(None, (content, time))) or "statement"
            yield f"{first} and {name} are receipts of one record, {statement.record_id}, with different {parts}."
        if isinstance(report.decision_id, str):
            identity = statement.organization, report.decision_id
            first, earlier = by_identity.setdefault(identity, (name, statement))
            if statement.record_id != earlier.record_id:
                yield f"{first} and {name} are receipts of two records with one decision_id, {json.dumps(identity[1])}."


def _verdict(receipt: bytes, keys: Mapping[str, Key], record: bytes | None, report: Report, now: datetime) -> str:
    passed = report.passed.append
    _require(len(receipt) <= MAX_RECEIPT, "receipt", "It is larger than any receipt.")
    document = _object(_parsed(receipt, "receipt", "The receipt"), "receipt", "The receipt")
    signed = _signed(document.get("envelope"), keys, "signature")
    passed(("signature", f"The key {signed.key_id} ({keys[signed.key_id].algorithm}) signed the statement."))
    statement = _statement(signed)
    about = f"record {statement.record_id}, of kind {statement.kind}, of organization {statement.organization}"
    passed(("statement", f"It is about {about}. By the clock of the service it came in at {statement.received_at}."))
    report.statement, report.decision_id = statement, document.get("decision_id")
    received_at = _moment(statement.received_at, "time")
    _require_in_life(keys, signed.key_id, received_at, "receivedAt", now, "time")
    if keys[signed.key_id].life:
        passed(("time", "By the key list the key was in use at receivedAt."))
    else:
        report.skipped.append(("time", "no key list (--keys) says when the key was in use."))
    _require_same(document, statement)
    passed(
        (
            "receipt",
            "Its record_id, kind, received_at and key_id are the signed ones. Only the record proves its decision_id.",
        )
    )
    disposal = document.get("disposal")
    if disposal is not None:
        salted = document.get("payload_salt") is not None
        _require(not salted, "disposal", "The receipt holds a payload_salt too, which a disposal destroys.")
        number, disposed_at, scope = _disposal(disposal, statement, keys, now)
        _require(disposed_at >= received_at - OVERLAP, "disposal", "It is older than the record.")
        passed(("disposal", scope))
        verdict = _as_receipt_has_it(document, f"PROOF VALID, PAYLOAD DESTROYED under policy {number}")
        _require(record is None, "payload", "The record was destroyed, so no bytes can be compared with it any more.")
        report.skipped.append(("identity", "the record is destroyed."))
        return verdict
    why = "The receipt has no payload_salt, and no disposal that says why."
    salt = _text(document, "payload_salt", _DIGEST, "payload", why)
    _as_receipt_has_it(document, None)
    if record is None:
        report.skipped.append(("identity", "no record was given (--record)."))
        return "PROOF VALID"
    _require_committed(record, salt, statement)
    passed(("payload", f"The record's {len(record)} bytes are the ones that the statement commits to."))
    if "decision_id" in document or statement.kind in IDENTIFIED:
        _require_named(record, document.get("decision_id"))
        passed(("identity", "The record has the receipt's decision_id."))
    else:
        report.skipped.append(("identity", f"a record of kind {statement.kind} has no decision_id."))
    return "PAYLOAD VERIFIED"


def _as_receipt_has_it(document: Mapping[str, Any], verdict: str | None) -> str:
    """Return the verdict, unless the receipt names another one. Only a destroyed record's receipt may name one."""
    same = "verdict" not in document or document["verdict"] == verdict
    _require(same, "disposal", "The receipt names a verdict that nothing proves.")
    return verdict or ""


def _all_keys(pems: Sequence[bytes], lists: Sequence[bytes]) -> dict[str, Key]:
    """Return all keys by their ids. The key decides how it verifies: no receipt chooses an algorithm."""
    keys = dict(map(_public_key, pems))
    for raw in lists:
        items = _object(_parsed(raw, "key", "The key list"), "key", "The key list").get("items")
        if not isinstance(items, list):
            raise Failed("key", "The key list has no items.")
        for item in items:
            entry = _object(item, "key", "An item of the key list")
            pem = _text(entry, "public_key_pem", r"[\x09-\x7e]{1,10000}", "key", "A key of the list has no PEM.")
            key_id, key = _public_key(pem.encode())
            _require(entry.get("key_id") == key_id, "key", "A key of the list has another key's id.")
            begins, ends = _time_in(entry, "created_at"), None
            if entry.get("valid_from") is not None:
                begins = min(begins, _time_in(entry, "valid_from"))
            if entry.get("retired_at") is not None:
                ends = _time_in(entry, "retired_at")
            known = keys.get(key_id)
            unequal = known is not None and known.life not in (None, (begins, ends))
            _require(not unequal, "key", f"Two lists differ in when the key {key_id} was in use.")
            keys[key_id] = key._replace(life=(begins, ends))
    _require(bool(keys), "key", "No key was given.")
    return keys


def _public_key(pem: bytes) -> tuple[str, Key]:
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
    return hashlib.sha256(der).hexdigest(), key


def _ecdsa(public: EllipticCurvePublicKey) -> Callable[[bytes, bytes], None]:
    return lambda signature, data: public.verify(signature, data, ECDSA(SHA256()))


def _signed(envelope: Any, keys: Mapping[str, Key], check: str) -> Signed:
    """Return the statement of a DSSE envelope, after verifying its signature."""
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
    """Return the record id and digest of a statement's only subject, and its predicate."""
    given = signed.document.get("predicateType")
    _require(given == predicate_type, check, f"Its predicateType is not {predicate_type}.")
    subject = _only(signed.document.get("subject"), check, "subject")
    name = _text(subject, "name", f"urn:uuid:{_UUID}", check, "Its subject is no record.")
    digests = _object(subject.get("digest"), check, "Its subject's digest")
    digest = _text(digests, algorithm, _DIGEST, check, f"Its subject has no digest by {algorithm}.")
    predicate = _object(signed.document.get("predicate"), check, "Its predicate")
    _text(predicate, "organization", _UUID, check, "It names no organization.")
    return name.removeprefix("urn:uuid:"), digest, predicate


def _require_in_life(keys: Mapping[str, Key], key_id: str, at: datetime, name: str, now: datetime, check: str) -> None:
    """Require that the key was in use at a time, according to its key list."""
    life = keys[key_id].life
    if life is None:
        return
    begins, ends = life
    until = f"to {ends:%Y-%m-%dT%H:%M:%SZ}" if ends else "on"
    inside = begins - OVERLAP <= at <= (ends or now) + OVERLAP
    sentence = f"The key {key_id} was in use from {begins:%Y-%m-%dT%H:%M:%SZ} {until}, and {name} is outside of that."
    _require(inside, check, sentence)


def _require_same(document: Mapping[str, Any], statement: Statement) -> None:
    signed = {
        "record_id": statement.record_id,
        "kind": statement.kind,
        "received_at": statement.received_at,
        "key_id": statement.signed.key_id,
    }
    for name, value in signed.items():
        _require(document.get(name) == value, "receipt", f"Its {name} is not the signed one.")


def _disposal(disposal: Any, statement: Statement, keys: Mapping[str, Key], now: datetime) -> tuple[int, datetime, str]:
    """Return the number of the retention policy, the time of destruction, and a sentence about the proof."""
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
    signed_values = {"record_id": record_id, "disposed_at": at, "policy": number, "reason": predicate.get("reason")}
    for name, value in signed_values.items():
        same = name in document and (type(document[name]), document[name]) == (type(value), value)
        _require(same, "disposal", f"Its {name} is not the signed one.")
    disposed_at = _moment(at, "disposal")
    _require_in_life(keys, signed.key_id, disposed_at, "disposedAt", now, "disposal")
    by = f"The key {signed.key_id} ({keys[signed.key_id].algorithm})"
    return number, disposed_at, f"{by} signed that this record was destroyed at {at}, under policy {number}."


def _require_committed(record: bytes, salt: str, statement: Statement) -> None:
    digest = hmac.new(bytes.fromhex(salt), record, hashlib.sha256).hexdigest()
    same = hmac.compare_digest(digest, statement.commitment)
    _require(same, "payload", "The record, or the payload_salt, is not the signed one.")


def _require_named(record: bytes, decision_id: Any) -> None:
    _require(decision_id is not None, "identity", "The receipt has no decision_id to compare with the record's.")
    content = _object(_parsed(record, "identity", "The record"), "identity", "The record")
    same = isinstance(decision_id, str) and content.get("decision_id") == decision_id
    _require(same, "identity", "The receipt's decision_id is not that of the record.")


def _require(condition: bool, check: str, sentence: str) -> None:
    if not condition:
        raise Failed(check, sentence)


def _text(node: Mapping[str, Any], name: str, pattern: str, check: str, otherwise: str) -> str:
    value = node.get(name)
    # linear: callers pass patterns of bounded length
    if not isinstance(value, str) or not re.fullmatch(pattern, value):
        raise Failed(check, otherwise)
    return value


def _moment(text: str, check: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise Failed(check, "A time is not in the calendar.") from None


def _time_in(entry: Mapping[str, Any], name: str) -> datetime:
    return _moment(_text(entry, name, _TIME, "key", f"A key of the list has no {name}."), "key")


def _only(values: Any, check: str, what: str) -> dict[str, Any]:
    """Return the only object of a list."""
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
    """Parse JSON, and refuse what parsers read differently."""
    try:
        return json.loads(data.decode(), object_pairs_hook=_unique, parse_constant=_no_constant)
    except _Twofold as twofold:
        raise Failed(check, f"{what} can be read in two ways: {twofold}.") from None
    except (ValueError, RecursionError):
        raise Failed(check, f"{what} is no JSON.") from None


class _Twofold(Exception):
    pass


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _Twofold("a name appears twice in one object")
    return members


def _no_constant(name: str) -> None:
    raise _Twofold(f"{name} is no number of JSON")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description="Check receipts of the Decision-Record Service. The last line is the verdict.",
        epilog="Exit codes: 0 all hold, 1 a check failed, 2 wrong usage or a file that cannot be read.",
    )
    parser.add_argument("receipt", type=Path, nargs="+", help="as GET /v1/decisions/{decision_id}/receipt answers it")
    keys_help = "a list of public keys that you trust, as GET /v1/custody/keys answers it"
    parser.add_argument("--keys", type=Path, action="append", default=[], help=keys_help)
    parser.add_argument("--key", type=Path, action="append", default=[], help="a public key that you trust, as PEM")
    record_help = "the bytes that ought to be the record: one for each receipt, in the same order"
    parser.add_argument("--record", type=Path, action="append", default=[], help=record_help)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args(arguments)
    if not (given.keys or given.key):
        parser.error("give --keys, --key or both")
    try:
        lists = [path.read_bytes() for path in given.keys]
        keys = [path.read_bytes() for path in given.key]
        reports = verify_files(given.receipt, keys, given.record, lists=lists)
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{reading_error(error)}\n")
        return 2
    holds, lines = summary(reports, as_json=given.json)
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 0 if holds else 1


def reading_error(error: OSError | ValueError) -> str:
    return f"Cannot read {error.filename}: {error.strerror}." if isinstance(error, OSError) else f"{error}"


def verify_files(
    receipts: Sequence[Path], keys: Sequence[bytes], records: Sequence[Path], *, lists: Sequence[bytes] = ()
) -> dict[str, Report]:
    """Check several receipts, and return their reports by file.

    Raises:
        OSError: a file cannot be read.
        ValueError: the number of records is neither 0 nor that of the receipts, or a file is given twice.
    """
    if records and len(records) != len(receipts):
        raise ValueError("Give as many records as receipts, in the same order, or none.")
    if len(set(receipts)) != len(receipts):
        raise ValueError("Give each receipt once.")
    contents: Sequence[bytes | None] = [path.read_bytes() for path in records] or [None] * len(receipts)
    return {
        str(path): verify(read_receipt(path), keys, content, lists=lists)
        for path, content in zip(receipts, contents, strict=True)
    }


def summary(reports: Mapping[str, Report], *, as_json: bool = False) -> tuple[bool, list[str]]:
    """Return whether all receipts hold and no two contradict each other, with lines that say so."""
    contradictions = list(conflicts(reports))
    failed = sum(report.failed is not None for report in reports.values())
    holds = not failed and not contradictions
    if len(reports) == 1:
        (lines,) = (list(report.lines()) for report in reports.values())
    else:
        lines = [line for name, report in reports.items() for line in (f"{name}:", *report.lines())]
        lines += [f"FAILED  conflict   {sentence}" for sentence in contradictions]
        verdict = "FAILED: conflict" if contradictions else f"FAILED: {failed} of {len(reports)} receipts"
        lines.append(f"ALL {len(reports)} RECEIPTS HOLD; {CAVEAT}" if holds else verdict)
    if not as_json:
        return holds, lines
    receipts = [{"file": name, **report.as_json()} for name, report in reports.items()]
    document = {"ok": holds, "verdict": lines[-1], "receipts": receipts, "conflicts": contradictions}
    return holds, [json.dumps(document, indent=2)]


def read_receipt(path: Path) -> bytes:
    """Return a file's bytes, or just enough of them to show that it is too large. Raises OSError."""
    with path.open("rb") as file:
        return file.read(MAX_RECEIPT + 1)


if __name__ == "__main__":
    sys.exit(main())
