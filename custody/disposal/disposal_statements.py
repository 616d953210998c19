"""The signed statement of a disposal: which record was destroyed, by which policy, why, by whom and when, and nothing
that the record said.

An in-toto Statement v1 like a record's own (`custody.sealing.envelope`). Its subject is the record, by the SHA-256 of
the record's statement, which stays and still verifies.
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
    """Why records are disposed of.

    Attributes:
        policy: the number of the retention policy.
        days: after how many days, by that policy.
        reason: a sentence that says nothing of any record.
        actor: who ran it, as the audit trail names them.
    """

    policy: int
    days: int
    reason: str
    actor: str


def statement(entry: Entry, order: Order, disposed_at: datetime) -> bytes:
    """The statement's bytes: the exact octets that are signed and stored."""
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
    """What a disposal says of why."""
    said = json.loads(bytes(disposal.statement))["predicate"]
    return Order(said["policy"]["number"], said["policy"]["days"], said["reason"], said["actor"])


def _ciphertext(signed: bytes) -> Any:
    """The ciphertext's digest and size; None of a damaged statement, which is no reason to keep the record."""
    try:
        return json.loads(signed)["predicate"]["ciphertext"]
    except (ValueError, KeyError, TypeError):
        return None
