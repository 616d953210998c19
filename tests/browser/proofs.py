"""Proof files of letters about records of every size, and forgeries of them."""

import base64
import copy
import hashlib
import json
import random
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from config.http import strict_json
from custody.sealing import envelope, fields

Letter = dict[str, Any]
SECTIONS = ("decision_summary", "main_factors", "role_of_automated_system", "inputs_used")
_KEYS = ("plain", "größe", "dotted.key", "", 'quo"te', "line\nbreak", "שם", "😀", "constructor", "__proto__", "0")
_VALUES = (
    "1e-7",
    "-0",
    "0.920",
    "9007199254740993",
    "1E+2",
    "true",
    "null",
    '"é"',
    '"\\u00e9"',
    '"\\ud83d\\ude00"',
    '""',
)
_MAX_CITED = 6


class Signer:
    """An organization's signing key, with its id and PEM as the page shows them."""

    def __init__(self) -> None:
        self.key = Ed25519PrivateKey.generate()
        public = self.key.public_key()
        self.id = hashlib.sha256(public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).hexdigest()
        self.pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()

    def sign(self, body: bytes) -> dict[str, Any]:
        return envelope.envelope(body, self.key.sign(envelope.pre_authentication_encoding(body)), self.id)


class Made(NamedTuple):
    """A letter's proof file, and the proof of a field that the letter does not cite, if there is one."""

    letter: Letter
    uncited: dict[str, Any] | None


def letter_about(size: int, signer: Signer, chance: random.Random) -> Made:
    """Return a letter about a record of `size` fields, as notices.services.sealing writes it."""
    leaves, salt_key = fields.leaves(_record(size, chance)), chance.randbytes(32)
    assert len(leaves) == size
    paths = [path for path, _ in leaves]
    cited = chance.sample(paths, min(size, _MAX_CITED))
    statement = envelope.statement(
        envelope.Commitments(
            record_id=uuid.uuid4(),
            organization_id=uuid.uuid4(),
            kind="decision",
            decision_ref=bytes(32),
            payload=bytes(32),
            fields_root=fields.commitment(leaves, salt_key),
            fields_count=size,
            ciphertext_sha256=bytes(32),
            ciphertext_size=1,
            kek_id="0",
            received_at=datetime(2026, 11, 2, 10, tzinfo=UTC),
            parents=[],
        )
    )
    left = [path for path in paths if path not in cited][:1]
    proofs = [_proof(disclosure) for disclosure in fields.disclose(leaves, salt_key, [*cited, *left])]
    content = {name: [] for name in SECTIONS}
    for path in cited:
        content[chance.choice(SECTIONS)].append({"statement": f"The value of {path} counted.", "source": path})
    letter = {
        "type": "decision-record-letter/1",
        "content": content,
        "sources": {path: path for path in cited},
        "field_proofs": proofs[: len(cited)],
        "envelope": signer.sign(statement),
    }
    return Made(letter, proofs[len(cited)] if left else None)


def file(letter: Letter) -> bytes:
    return strict_json.canonical(letter)


def _record(size: int, chance: random.Random) -> bytes:
    members = []
    for number in range(size):
        key = json.dumps(f"{chance.choice(_KEYS)}{number or ''}", ensure_ascii=chance.random() < 0.5)
        value = chance.choice(_VALUES)
        members.append(f"{key}:{value}" if chance.random() < 0.5 else f'{key}:{{"a.b":[{value}]}}')
    return f"{{{','.join(members)}}}".encode()


def _proof(shown: fields.Disclosure) -> dict[str, Any]:
    return {
        "path": shown.leaf[0],
        "scalar": shown.leaf[1],
        "salt": shown.salt.hex(),
        "index": shown.index,
        "audit_path": [node.hex() for node in shown.audit_path],
    }


# ── Forgeries: each changes one thing, and names the check that must fail even if the page's digest matches ──


@dataclass
class Forger:
    """A copy of a letter to forge. `signer` is the organization's key, `other` a foreign one."""

    letter: Letter
    proof: dict[str, Any]
    uncited: dict[str, Any] | None
    signer: Signer
    other: Signer

    @property
    def proofs(self) -> list[dict[str, Any]]:
        return self.letter["field_proofs"]

    @property
    def statement(self) -> dict[str, Any]:
        return json.loads(base64.b64decode(self.letter["envelope"]["payload"]))

    def restate(self, **fields: Any) -> None:
        """Change the fields commitment, but not the signature."""
        statement = self.statement
        statement["predicate"]["fields"] |= fields
        self.letter["envelope"]["payload"] = base64.b64encode(json.dumps(statement).encode()).decode()

    def rename(self, path: str) -> None:
        """Change the path of the proof and of its source."""
        sources = self.letter["sources"]
        source = next(source for source, cited in sources.items() if cited == self.proof["path"])
        self.proof["path"] = sources[source] = path


_FORGERIES: list[tuple[str, Callable[[Forger], Any]]] = []


def forgeries(made: Made, signer: Signer, other: Signer, chance: random.Random) -> Iterator[tuple[str, str, Letter]]:
    """Yield name, failing check and forged letter of every forgery that this letter allows."""
    number = chance.randrange(len(made.letter["field_proofs"]))
    for check, forge in _FORGERIES:
        letter = copy.deepcopy(made.letter)
        forge(Forger(letter, letter["field_proofs"][number], made.uncited, signer, other))
        if letter != made.letter:
            yield forge.__name__, check, letter


def _must_fail(check: str) -> Callable[..., Any]:
    return lambda forge: _FORGERIES.append((check, forge))


@_must_fail("fields")
def salt(forger: Forger) -> None:
    forger.proof["salt"] = _flipped(forger.proof["salt"])


@_must_fail("fields")
def scalar(forger: Forger) -> None:
    forger.proof["scalar"] += " "


@_must_fail("fields")
def path(forger: Forger) -> None:
    forger.rename(forger.proof["path"] + "x")


@_must_fail("fields")
def path_that_begins_in_the_salt(forger: Forger) -> None:
    """Move the path's first letter to the end of the salt: the hashed bytes stay the same."""
    forger.proof["salt"] += forger.proof["path"][0].encode().hex()
    forger.rename(forger.proof["path"][1:])


@_must_fail("fields")
def index_that_wraps_around(forger: Forger) -> None:
    forger.proof["index"] -= 2**32


@_must_fail("fields")
def index_as_text(forger: Forger) -> None:
    forger.proof["index"] = str(forger.proof["index"])


@_must_fail("fields")
def sibling(forger: Forger) -> None:
    siblings = forger.proof["audit_path"]
    siblings[-1:] = [_flipped(last) for last in siblings[-1:]]


@_must_fail("fields")
def fewer_siblings(forger: Forger) -> None:
    del forger.proof["audit_path"][-1:]


@_must_fail("fields")
def more_siblings(forger: Forger) -> None:
    forger.proof["audit_path"].append("0" * 64)


@_must_fail("fields")
def the_same_proof_twice(forger: Forger) -> None:
    forger.proofs.append(forger.proof)


@_must_fail("fields")
def our_statement_of_another_kind(forger: Forger) -> None:
    statement = {**forger.statement, "predicateType": "urn:another"}
    forger.letter["envelope"] = forger.signer.sign(json.dumps(statement).encode())


@_must_fail("fields")
def our_signature_of_another_type(forger: Forger) -> None:
    body = json.dumps(forger.statement).encode()
    signature = forger.signer.key.sign(b"DSSEv1 10 text/plain %d %b" % (len(body), body))
    forged = envelope.envelope(body, signature, forger.signer.id)
    forger.letter["envelope"] = {**forged, "payloadType": "text/plain"}


@_must_fail("statements")
def no_proof(forger: Forger) -> None:
    forger.proofs.remove(forger.proof)


@_must_fail("statements")
def proof_of_a_field_that_is_not_cited(forger: Forger) -> None:
    if forger.uncited:
        forger.proofs.append(forger.uncited)


@_must_fail("statements")
def no_source(forger: Forger) -> None:
    forger.letter["sources"].popitem()


@_must_fail("statements")
def source_that_every_object_has(forger: Forger) -> None:
    section = next(items for items in forger.letter["content"].values() if items)
    section[0]["source"] = "toString"


@_must_fail("statements")
def file_of_another_kind(forger: Forger) -> None:
    forger.letter["type"] = "decision-record-letter/2"


@_must_fail("signature")
def root(forger: Forger) -> None:
    forger.restate(root="0" * 64)


@_must_fail("signature")
def count(forger: Forger) -> None:
    forger.restate(count=2**31)


@_must_fail("signature")
def signature(forger: Forger) -> None:
    (signed,) = forger.letter["envelope"]["signatures"]
    bits = bytearray(base64.b64decode(signed["sig"]))
    bits[40] ^= 1
    signed["sig"] = base64.b64encode(bits).decode()


@_must_fail("signature")
def payload_type(forger: Forger) -> None:
    forger.letter["envelope"]["payloadType"] += "x"


@_must_fail("signature")
def signature_of_another_key(forger: Forger) -> None:
    forger.letter["envelope"] = forger.other.sign(json.dumps(forger.statement).encode())


@_must_fail("signature")
def signature_of_another_key_in_our_name(forger: Forger) -> None:
    forged = forger.other.sign(json.dumps(forger.statement).encode())
    forged["signatures"][0]["keyid"] = forger.signer.id
    forger.letter["envelope"] = forged


@_must_fail("signature")
def no_signature(forger: Forger) -> None:
    forger.letter["envelope"]["signatures"] = []


@_must_fail("signature")
def no_envelope(forger: Forger) -> None:
    forger.letter["envelope"] = None


def _flipped(hexadecimal: str) -> str:
    return f"{int(hexadecimal, 16) ^ 1:064x}"
