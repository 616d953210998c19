"""The subject of ingest: an organization's key, and a record that each request sends under a new decision id."""

import json
from dataclasses import dataclass, replace
from pathlib import Path

from django.core.management import call_command

from accounts import audit, callers, services
from accounts.roles import Role
from custody import vaults
from custody.keys.keyrings import keyring
from custody.models import Installation
from custody.rows.bulk_insert import NewRecord
from custody.rows.new_records import Place, new_record, seal_all
from custody.vaults import storage_targets
from decisions import records

PLACEHOLDER = "DECISION_ID"
OWNER = "b@bench.example"


def record(text: str = "a text value {} " * 4) -> bytes:
    """Return a decision record of 4 KB with 106 fields, as from a credit system. DECISION_ID is its placeholder id."""
    events = {
        f"event_{e}": {f"field_{j}": round(0.123 * j + e, 3) if j % 2 else text.replace("{}", str(j)) for j in range(9)}
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


ESCAPED = record('a "größerer" Wert {},\nin mehr als zwei Zeilen')
"""A record of the same size, with texts full of characters that `json.dumps` escapes."""


@dataclass(frozen=True)
class Subject:
    """A key's token, the record, its file, and its rows as ingest makes them."""

    token: str
    record: bytes
    file: Path
    rows: NewRecord

    @classmethod
    def create(cls, directory: Path) -> "Subject":
        call_command("migrate", verbosity=0)
        organization = services.create_organization(name="Bench", owner_email=OWNER, actor=audit.SYSTEM)
        _, token = services.create_api_key(caller=callers.system(organization.id), name="bench", role=Role.EDITOR)
        body = record()
        (directory / "record.json").write_bytes(body)
        submission = records.submission(body, "api")
        keys = keyring(organization.id)
        (sealed,) = seal_all(keys, [submission])
        return cls(
            token,
            body,
            directory / "record.json",
            new_record(sealed, submission, Place.of_new_records(keys)),
        )

    @property
    def escaped(self) -> "Subject":
        """Return the same key with a record of escaped texts."""
        file = self.file.with_name("escaped.json")
        file.write_bytes(ESCAPED)
        return replace(self, record=ESCAPED, file=file)

    def of_organizations(self, count: int) -> "Subject":
        """Return the same record with the keys of `count` new organizations. Each request uses a random key."""
        tokens = []
        for number in range(count):
            organization = services.create_organization(
                name=f"Bench {number}", owner_email=f"{number}@bench.example", actor=audit.SYSTEM
            )
            caller = callers.system(organization.id)
            tokens.append(services.create_api_key(caller=caller, name="bench", role=Role.EDITOR)[1])
            keyring(organization.id)
        return replace(self, token=",".join(tokens))

    def with_storage(self, provider: str, **configuration: str) -> "Subject":
        """Return the same record, sent by a new organization with its own storage."""
        organization = services.create_organization(
            name=f"Bench {provider}", owner_email=f"{provider}@bench.example", actor=audit.SYSTEM
        )
        _, token = services.create_api_key(caller=callers.system(organization.id), name="bench", role=Role.EDITOR)
        target = storage_targets.use_own(organization.id, provider, configuration)
        installation, _ = Installation.objects.get_or_create(only=True)
        vaults.of(target.pk).mark(installation.uid)
        return replace(self, token=token)
