"""Export of all records about one person, for that person: a page to read, and a file for machines.

It works on one family at a time, to bound the memory. Both files name the records that could not be read.
"""

import json
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import IO, Any

from django.template.loader import render_to_string
from django.utils import timezone

from accounts import audit
from accounts.authority import requires
from accounts.callers import Caller
from accounts.models import Organization
from accounts.roles import Permission
from config.http.timestamps import rfc3339
from custody import record_types
from custody.disposal import families
from custody.models import Disposal
from custody.record_types import Families
from custody.sealing import envelope
from retention import subjects
from retention.subjects import FamilyRetention

FORMAT = "decision-record-subject/1"
_BATCH = 50
_NUL = "\N{SYMBOL FOR NULL}"  # HTML cannot show U+0000


@dataclass(slots=True)
class SubjectExport:
    """The result of an export.

    Attributes:
        number: its id in the audit trail.
        missing: the records that could not be read, with the reason.
    """

    number: uuid.UUID
    families: int = 0
    missing: list[dict[str, str]] = field(default_factory=list)


@requires(Permission.EXPORT_SUBJECTS)
def export_subject(
    *,
    caller: Caller,
    reference: str,
    machine: IO[bytes],
    readable: IO[bytes],
    done: Callable[[int], None] = lambda families: None,
) -> SubjectExport:
    """Write all records about a person.

    Args:
        reference: the person's `subject.reference` in records, or their reference as recipient of a notice.
        machine: the file for JSON.
        readable: the file for a page in plain words.
        done: takes the number of families written since the last call.

    Raises:
        ReferenceUnusable
    """
    organization = Organization.objects.get(pk=caller.organization_id)
    roots = subjects.roots_about(organization.pk, reference)
    made = SubjectExport(uuid.uuid4(), len(roots))
    audit.record(  # without the reference, which is personal: only a holder of the file can link it to the number
        "subject.exported",
        actor=caller.actor,
        organization_id=organization.pk,
        object_kind="subject_export",
        object_id=made.number,
        families=len(roots),
    )
    head = {
        "format": FORMAT,
        "number": str(made.number),
        "organization": organization.name,
        "reference": reference,
        "made_at": rfc3339(timezone.now()),
    }
    page = _Page(readable, organization.name)
    page.write("begin", **head, count=len(roots))
    machine.write(_json(head)[:-1] + b', "families": [')
    for position, (root, retention) in enumerate(_retentions(organization.pk, roots)):
        records = families.export(Families(organization.pk, [root]))
        made.missing += _missing(records)
        machine.write((b",\n" if position else b"\n") + _json(_family(root, retention, records)))
        parts = [record_types.get(kind).readable(entry) for kind, entries in records.items() for entry in entries]
        page.write("family", number=position + 1, parts=parts, retention=retention)
        done(1)
    machine.write(b'\n], "missing": ' + _json(made.missing) + b"}\n")
    page.write("end", **head, missing=made.missing)
    return made


def _retentions(organization_id: uuid.UUID, roots: list[uuid.UUID]) -> Iterator[tuple[uuid.UUID, FamilyRetention]]:
    for start in range(0, len(roots), _BATCH):
        yield from subjects.retention_of(Families(organization_id, roots[start : start + _BATCH])).items()


def _missing(records: dict[str, list[dict[str, Any]]]) -> list[dict[str, str]]:
    return [
        {"record_id": entry["record_id"], "reason": entry["missing"]}
        for entries in records.values()
        for entry in entries
        if "missing" in entry
    ]


def _family(root: uuid.UUID, retention: FamilyRetention, records: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    return {
        "first_record_id": str(root),
        "records": records,
        "kept": {
            "since": rfc3339(retention.since),
            "policy": retention.policy and {"number": retention.policy.number, "days": retention.policy.days},
            "disposed_from": rfc3339(retention.disposed_from),
            "laws": [
                {
                    "source": law.floor.source,
                    "citation": law.floor.citation,
                    "days": law.floor.days,
                    "until": rfc3339(law.until),
                }
                for law in retention.laws
            ],
            "holds": list(retention.holds),
            "unfinished": list(retention.obstacles),
        },
        "disposals": [_disposal(row) for row in retention.disposals],
    }


def _disposal(disposal: Disposal) -> dict[str, Any]:
    return {
        "record_id": str(disposal.pk),
        "disposed_at": rfc3339(disposal.disposed_at),
        "policy": disposal.policy,
        "envelope": envelope.envelope(bytes(disposal.statement), bytes(disposal.signature), disposal.key_id),
    }


def _json(document: Any) -> bytes:
    return json.dumps(document, ensure_ascii=False, allow_nan=False).encode()


@dataclass(frozen=True, slots=True)
class _Page:
    """The page for people, written part by part."""

    file: IO[bytes]
    organization: str

    def write(self, part: str, **context: Any) -> None:
        text = render_to_string(f"retention/subject_{part}.html", {"organization": self.organization, **context})
        self.file.write(text.replace("\x00", _NUL).encode())
