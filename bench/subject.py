"""What is ingested: one organization's key, and a record that each request sends under a new decision id."""

import json
from dataclasses import dataclass
from pathlib import Path

from django.core.management import call_command

from accounts import audit, callers, services
from accounts.roles import Role
from custody.bulk_insert import NewRecord
from custody.keys import keyring
from custody.services.store import _new_record, _Place, _seal_all
from decisions.services.records import _submission

PLACEHOLDER = "DECISION_ID"


def record() -> bytes:
    """A decision record of 4 KB with 106 fields, as a credit system sends it; DECISION_ID stands for its id."""
    events = {
        f"event_{e}": {f"field_{j}": round(0.123 * j + e, 3) if j % 2 else f"a text value {j} " * 4 for j in range(9)}
        for e in range(11)
    }
    document = {
        "decision_id": PLACEHOLDER,
        "decided_at": "2026-11-01T10:00:00Z",
        "subject": {"reference": "applicant 12"},
        "system": {"name": "scorer", "version": "3"},
        "events": events,
        "outcome": {"action": "denied"},
    }
    return json.dumps(document).encode()


@dataclass(frozen=True)
class Subject:
    """A key's token, the record and the file it lies in, and the rows that ingest makes of it."""

    token: str
    record: bytes
    file: Path
    rows: NewRecord

    @classmethod
    def create(cls, directory: Path) -> "Subject":
        call_command("migrate", verbosity=0)
        organization = services.create_organization(name="Bench", owner_email="b@bench.example", actor=audit.SYSTEM)
        _, token = services.create_api_key(caller=callers.system(organization.id), name="bench", role=Role.EDITOR)
        body = record()
        (directory / "record.json").write_bytes(body)
        submission = _submission(body, "api")
        keys = keyring(organization.id)
        (sealed,) = _seal_all(keys, [submission])
        return cls(
            token,
            body,
            directory / "record.json",
            _new_record(sealed, submission, _Place.of_new_records(keys)),
        )
