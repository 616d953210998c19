"""Collecting what concerns one person, as they may have it: a file to read, and one for machines.

A family at a time, so that it takes no more memory where there are many. What cannot be read is named in both files.
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
from custody import envelope, families, record_types
from custody.models import Disposal
from custody.record_types import Families
from retention import subjects
from retention.subjects import Kept

FORMAT = "decision-record-subject/1"
_BATCH = 50
_NUL = "\N{SYMBOL FOR NULL}"  # no page can show the character itself


@dataclass(slots=True)
class SubjectExport:
    """What was collected.

    Attributes:
        number: by which the audit trail names it.
        missing: what could not be read, with the reason.
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
    """Write what is kept about a person.

    Args:
        reference: as the organization calls the person in `subject.reference` of records, or as recipient of a notice.
        machine: where all of it goes, as JSON.
        readable: where it goes as a page in plain words.
        done: is told how many families were written since the last call.

    Raises:
        ReferenceUnusable
    """
    organization = Organization.objects.get(pk=caller.organization_id)
    roots = subjects.roots_about(organization.pk, reference)
    made = SubjectExport(uuid.uuid4(), len(roots))
    audit.record(  # the reference is a person's: the number alone leads to it, for whoever has the file
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
    for position, (root, kept) in enumerate(_kept(organization.pk, roots)):
        records = families.export(Families(organization.pk, [root]))
        made.missing += _missing(records)
        machine.write((b",\n" if position else b"\n") + _json(_family(root, kept, records)))
        parts = [record_types.get(kind).readable(each) for kind, found in records.items() for each in found]
        page.write("family", number=position + 1, parts=parts, kept=kept)
        done(1)
    machine.write(b'\n], "missing": ' + _json(made.missing) + b"}\n")
    page.write("end", **head, missing=made.missing)
    return made


def _kept(organization_id: uuid.UUID, roots: list[uuid.UUID]) -> Iterator[tuple[uuid.UUID, Kept]]:
    for start in range(0, len(roots), _BATCH):
        yield from subjects.kept(Families(organization_id, roots[start : start + _BATCH])).items()


def _missing(records: dict[str, list[dict[str, Any]]]) -> list[dict[str, str]]:
    return [
        {"record_id": each["record_id"], "reason": each["missing"]}
        for found in records.values()
        for each in found
        if "missing" in each
    ]


def _family(root: uuid.UUID, kept: Kept, records: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    return {
        "first_record_id": str(root),
        "records": records,
        "kept": {
            "since": rfc3339(kept.since),
            "policy": kept.policy and {"number": kept.policy.number, "days": kept.policy.days},
            "disposed_from": rfc3339(kept.disposed_from),
            "laws": [
                {
                    "source": law.floor.source,
                    "citation": law.floor.citation,
                    "days": law.floor.days,
                    "until": rfc3339(law.until),
                }
                for law in kept.laws
            ],
            "holds": list(kept.holds),
            "unfinished": list(kept.obstacles),
        },
        "disposals": [_disposal(each) for each in kept.disposals],
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
    """The page that people read, a part at a time."""

    file: IO[bytes]
    organization: str

    def write(self, part: str, **context: Any) -> None:
        text = render_to_string(f"retention/subject_{part}.html", {"organization": self.organization, **context})
        self.file.write(text.replace("\x00", _NUL).encode())
