"""Signed statement of a disposal: the record, the policy, the reason, the actor and the time, and no content.

It is an in-toto Statement v1 like a record's own (`custody.sealing.envelope`). Its subject is the record, named by the
SHA-256 of the record's statement, which stays and still verifies.
"""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from config.http.timestamps import rfc3339
from custody.models import Disposal, Entry
from custody.sealing import envelope, statements
from custody.sealing.envelope import STATEMENT_TYPE
from custody.sealing.sealer import Damaged

PREDICATE_TYPE = "urn:x-decision-record-service:disposal:v1"


@dataclass(frozen=True, slots=True)
class Order:
    """The reason of a disposal.

    Attributes:
        policy: number of the retention policy.
        days: days after which that policy disposes of records.
        reason: a sentence without any content of a record.
        actor: the one who ran it, in the audit trail's spelling.
    """

    policy: int
    days: int
    reason: str
    actor: str


def statement(entry: Entry, order: Order, disposed_at: datetime) -> bytes:
    """Return the statement's bytes, exactly as they are signed and stored."""
    signed = bytes(entry.statement)
    document = {
        "_type": STATEMENT_TYPE,
        "subject": [{"name": entry.record_id.urn, "digest": {"sha256": hashlib.sha256(signed).hexdigest()}}],
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "organization": str(entry.organization_id),
            "kind": entry.kind,
            "ciphertext": _ciphertext(signed),
            "policy": {"number": order.policy, "days": order.days},
            "reason": order.reason,
            "actor": order.actor,
            "disposedAt": rfc3339(disposed_at),
        },
    }
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()


def order(disposal: Disposal) -> Order:
    """Return the order that a disposal's statement gives."""
    predicate = json.loads(bytes(disposal.statement))["predicate"]
    return Order(predicate["policy"]["number"], predicate["policy"]["days"], predicate["reason"], predicate["actor"])


def verified(disposal: Disposal) -> Disposal:
    """Return the disposal, after verifying that one of the organization's keys signed it and that its columns match.
    Raises Damaged."""
    entry = disposal.record
    signed = bytes(disposal.statement)
    statements.require_signed(entry.organization_id, disposal.key_id, bytes(disposal.signature), signed)
    document = json.loads(signed)
    (subject,), predicate = document["subject"], document["predicate"]
    record = (entry.record_id.urn, hashlib.sha256(bytes(entry.statement)).hexdigest())
    if (subject["name"], subject["digest"]["sha256"]) != record:
        raise Damaged(because="the disposal is of another record")
    signed_columns = (str(entry.organization_id), disposal.policy, rfc3339(disposal.disposed_at))
    if (predicate["organization"], predicate["policy"]["number"], predicate["disposedAt"]) != signed_columns:
        raise Damaged(because="the row of the disposal differs from its statement")
    return disposal


def as_json(disposal: Disposal) -> dict[str, Any]:
    """Return a disposal as the API shows it."""
    return {
        "record_id": str(disposal.pk),
        "disposed_at": rfc3339(disposal.disposed_at),
        "policy": disposal.policy,
        "reason": order(disposal).reason,
        "envelope": envelope.envelope(bytes(disposal.statement), bytes(disposal.signature), disposal.key_id),
    }


def verdict(disposal: Disposal) -> dict[str, Any]:
    """Return the members that a receipt has because of a `verified` disposal."""
    return {
        "verdict": f"PROOF VALID, PAYLOAD DESTROYED under policy {disposal.policy}",
        "disposal": as_json(disposal),
    }


def _ciphertext(signed: bytes) -> Any:
    """Return the ciphertext's digest and size; None if the statement is damaged, which must not stop a disposal."""
    try:
        return json.loads(signed)["predicate"]["ciphertext"]
    except (ValueError, KeyError, TypeError):
        return None
