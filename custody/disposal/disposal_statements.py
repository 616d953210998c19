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
from custody.sealing.envelope import STATEMENT_TYPE

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


def _ciphertext(signed: bytes) -> Any:
    """Return the ciphertext's digest and size; None if the statement is damaged, which must not stop a disposal."""
    try:
        return json.loads(signed)["predicate"]["ciphertext"]
    except (ValueError, KeyError, TypeError):
        return None
