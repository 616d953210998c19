"""Signed statement of a record: an in-toto Statement v1 inside a DSSE v1 envelope.

It has no personal data and no clear identifier, so it can be kept and shown after the record itself is destroyed.
Sources: github.com/in-toto/attestation (spec/v1), github.com/secure-systems-lab/dsse (protocol.md).
"""

import base64
import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from config.http.timestamps import rfc3339

PAYLOAD_TYPE = "application/vnd.in-toto+json"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "urn:x-decision-record-service:custody:v1"


@dataclass(frozen=True, slots=True)
class Commitments:
    """The commitments of a statement. Digests are raw bytes, sizes are bytes, `parents` are statement SHA-256s."""

    record_id: uuid.UUID
    organization_id: uuid.UUID
    kind: str
    decision_ref: bytes
    payload: bytes
    fields_root: bytes
    fields_count: int
    ciphertext_sha256: bytes
    ciphertext_size: int
    kek_id: str
    received_at: datetime
    parents: Sequence[bytes]


def statement(commitments: Commitments) -> bytes:
    """Return the statement's bytes, exactly as they are signed and stored."""
    c = commitments
    document = {
        "_type": STATEMENT_TYPE,
        "subject": [{"name": c.record_id.urn, "digest": {"hmac-sha256": c.payload.hex()}}],
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "organization": str(c.organization_id),
            "kind": c.kind,
            "decisionRef": c.decision_ref.hex(),
            "fields": {"root": c.fields_root.hex(), "count": c.fields_count},
            "ciphertext": {"sha256": c.ciphertext_sha256.hex(), "size": c.ciphertext_size},
            "kekId": c.kek_id,
            "receivedAt": rfc3339(c.received_at),
            "parents": [parent.hex() for parent in c.parents],
        },
    }
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()


def pre_authentication_encoding(body: bytes) -> bytes:
    """Return DSSE's PAE, the message that is signed, so that type and body cannot be confused."""
    return b"DSSEv1 %d %b %d %b" % (len(PAYLOAD_TYPE), PAYLOAD_TYPE.encode(), len(body), body)


def envelope(body: bytes, signature: bytes, key_id: str) -> dict[str, Any]:
    """Return the DSSE envelope as a JSON object."""
    return {
        "payload": base64.b64encode(body).decode(),
        "payloadType": PAYLOAD_TYPE,
        "signatures": [{"keyid": key_id, "sig": base64.b64encode(signature).decode()}],
    }
