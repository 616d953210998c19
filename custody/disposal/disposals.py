"""Signed disposals, as answers and pages show them."""

import hashlib
import json
from typing import Any

from config.http.timestamps import rfc3339
from custody.models import Disposal
from custody.sealing import envelope, statements
from custody.sealing.sealer import Damaged


def as_json(disposal: Disposal) -> dict[str, Any]:
    """Return a disposal as the API shows it."""
    return {
        "record_id": str(disposal.pk),
        "disposed_at": rfc3339(disposal.disposed_at),
        "policy": disposal.policy,
        "reason": reason(disposal),
        "envelope": envelope.envelope(bytes(disposal.statement), bytes(disposal.signature), disposal.key_id),
    }


def verdict(disposal: Disposal) -> dict[str, Any]:
    """Return the members that a receipt has because of a `verified` disposal."""
    return {
        "verdict": f"PROOF VALID, PAYLOAD DESTROYED under policy {disposal.policy}",
        "disposal": as_json(disposal),
    }


def reason(disposal: Disposal) -> str:
    """Return the signed reason."""
    return str(json.loads(bytes(disposal.statement))["predicate"]["reason"])


def state(disposal: Disposal) -> str:
    """Return the progress of a disposal in a word or two."""
    if disposal.finished_at:
        return "finished"
    return "problem" if disposal.problem else "under way"


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
