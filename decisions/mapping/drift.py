"""Drift: fields and codes in new records that the confirmed mapping of their system does not explain.

Ingest pays nothing for it. A task looks through the newest records in custody, at most `MAX_RECORDS` of an organization
at a time. It sees new codes as well as new fields, and a draft of a record that it missed names them too.
"""

import time
import uuid
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import F, Max, Min, Sum
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts import mail
from config.errors import DomainError
from config.http import strict_json
from config.periodic import SLICE_SECONDS
from custody import selectors as custody
from decisions import records
from decisions.mapping import builtin, readings, selectors
from decisions.mapping.models import (
    MAX_UNKNOWN_PATH,
    Mapping,
    MappingVersion,
    MappingWatch,
    UnknownField,
    UnknownFieldMail,
)
from decisions.mapping.suggest import masked
from decisions.models import Decision
from decisions.record.profile import Profile
from decisions.record_warnings import RecordWarning
from decisions.selectors import record_of

MAX_RECORDS = 100
MAX_FIELDS = 200
"""Unknown fields of one record."""
KEPT_FOR = timedelta(days=90)
_MAX_NAMED = 50
_Key = tuple[int, str, str]
"""A mapping, and the path and problem of a field."""
_UNEXPLAINED = "a field that no one has explained"


class Unknown(NamedTuple):
    """A field or code that a mapping does not explain. `path` has `*` for positions, and `example` is masked."""

    path: str
    problem: str
    example: str


def unknown_fields(version: MappingVersion, profile: Profile) -> Iterator[Unknown]:
    """Yield the fields of a profile that its mapping does not explain: those of the outcome, and new fields beside
    explained ones."""
    holders = {path.rpartition(".")[0] for path in selectors.paths(version)} - {"", "events"}
    for scalar in profile.unmapped:
        if scalar.general.startswith("outcome.") or scalar.general.rpartition(".")[0] in holders:
            yield Unknown(scalar.general, _UNEXPLAINED, masked(str(scalar.value)))
    for field in profile.unknown:
        yield Unknown(field.general, field.problem, "")


def watch() -> None:
    """Look through the new records of organizations with a confirmed mapping, for a slice. Those that waited longest
    come first, so that a slow storage delays no one for ever."""
    mapped = MappingVersion.objects.unscoped("one worker watches the records of every organization")
    ids = set(mapped.exclude(confirmed_at=None).values_list("mapping__organization", flat=True))
    watches = MappingWatch.objects.unscoped("one worker watches the records of every organization")
    looked = dict(watches.values_list("organization", "looked_until"))
    ends = time.monotonic() + SLICE_SECONDS
    for organization_id in sorted(ids, key=lambda pk: (pk in looked, looked.get(pk))):
        if time.monotonic() > ends:
            break
        watch_organization(organization_id)
    forgotten = UnknownField.objects.unscoped("old counts of every organization")
    forgotten.filter(day__lt=(timezone.now() - KEPT_FOR).date()).delete()


def watch_organization(organization_id: uuid.UUID) -> None:
    """Count the unknown fields of the records that came in since the last look: of the newest MAX_RECORDS, as many as
    the storage gives within a slice."""
    since, until = _looked_until(organization_id), timezone.now()
    counts, shown = Counter[_Key](), dict[_Key, str]()
    for version, profile in _readings(organization_id, since, until):
        examples = {field[:2]: field.example for field in unknown_fields(version, profile) if _fits(field)}
        for field in list(examples)[:MAX_FIELDS]:
            counts[version.mapping_id, *field] += 1
            shown.setdefault((version.mapping_id, *field), examples[field])
    with transaction.atomic():
        if _advance(organization_id, since, until):
            for key, count in counts.items():
                _count(key, shown[key], count, until)


def of_mapping(mapping: Mapping) -> list[dict[str, Any]]:
    """Return the unknown fields of a mapping, the most frequent first: `path`, `problem`, `example`, the
    records in `total`, and the `first` and `last` day."""
    rows = UnknownField.objects.for_organization(mapping.organization_id).filter(mapping=mapping)
    fields = rows.values("path", "problem").annotate(
        example=Max("example"), total=Sum("records"), first=Min("day"), last=Max("day")
    )
    return list(fields.order_by("-total", "path"))


def warnings(organization_id: uuid.UUID, payload: bytes) -> Iterator[RecordWarning]:
    """Yield the fields of a record that its mapping does not explain, for a dry run."""
    record = strict_json.read(payload, number=Decimal)
    if version := readings.version_for(organization_id, record):
        for field in unknown_fields(version, builtin.read(record, selectors.table(version)).profile):
            sentence = f"{field.path} has {field.problem}. Say in the mapping {version.mapping.name} what it means."
            yield RecordWarning("unknown_field", field.path, sentence)


def forget(mapping: Mapping) -> None:
    """Delete the counts of a mapping, because a new version may explain its fields."""
    UnknownField.objects.for_organization(mapping.organization_id).filter(mapping=mapping).delete()


def remind() -> None:
    """Mail today's unknown fields to the owners of mappings, once a day each."""
    today = timezone.now().date()
    rows = UnknownField.objects.unscoped("one worker mails the owners of every organization").filter(day=today)
    due = [UnknownFieldMail(mapping_id=pk, day=today) for pk in rows.values_list("mapping", flat=True).distinct()]
    UnknownFieldMail.objects.bulk_create(due, ignore_conflicts=True)
    waiting = UnknownFieldMail.objects.unscoped("one worker mails the owners of every organization")
    mail.deliver(waiting.filter(day=today), _send)


def _send(row: UnknownFieldMail) -> mail.Outcome:
    version = row.mapping.versions.exclude(confirmed_at=None).latest("number")
    fields = of_mapping(row.mapping)
    if not (version.author_mail and fields):
        return mail.NOT_SENT
    subject = _("New fields in records of %(mapping)s") % {"mapping": " ".join(row.mapping.name.split())}
    context = {"mapping": row.mapping, "fields": fields[:_MAX_NAMED], "more": max(0, len(fields) - _MAX_NAMED)}
    mail.send("unknown_fields", to=version.author_mail, subject=subject, context=context)
    return mail.Outcome(sent=True)


def _readings(
    organization_id: uuid.UUID, since: datetime | None, until: datetime
) -> Iterator[tuple[MappingVersion, Profile]]:
    """Yield the profile of each new record that has a mapping. Records that cannot be read are left out."""
    rows = Decision.objects.for_organization(organization_id).filter(kind=records.KIND, received_at__lte=until)
    rows = rows.filter(received_at__gt=since) if since else rows
    ends = time.monotonic() + SLICE_SECONDS
    for row in rows.select_related("record").order_by("-received_at", "-record")[:MAX_RECORDS]:
        if time.monotonic() > ends:
            return
        try:
            record = strict_json.read(custody.opened(record_of(row)).payload, number=Decimal)
        except DomainError:
            continue
        if version := readings.version_for(organization_id, record, row.source):
            yield version, builtin.read(record, selectors.table(version)).profile


def _looked_until(organization_id: uuid.UUID) -> datetime | None:
    row = MappingWatch.objects.for_organization(organization_id).first()
    return row.looked_until if row else None


def _advance(organization_id: uuid.UUID, since: datetime | None, until: datetime) -> bool:
    """Note how far the records were looked at. Return False if another worker has looked at them meanwhile."""
    rows = MappingWatch.objects.for_organization(organization_id)
    if since:
        return bool(rows.filter(looked_until=since).update(looked_until=until))
    return MappingWatch.objects.get_or_create(organization_id=organization_id, defaults={"looked_until": until})[1]


def _fits(field: Unknown) -> bool:
    return len(field.path) <= MAX_UNKNOWN_PATH and "\x00" not in field.path


def _count(key: _Key, example: str, count: int, now: datetime) -> None:
    mapping_id, path, problem = key
    rows = UnknownField.objects.unscoped("the counts of a mapping that the caller has read")
    row, is_new = rows.get_or_create(
        mapping_id=mapping_id,
        day=now.date(),
        path=path,
        problem=problem,
        defaults={"example": example, "records": count},
    )
    if not is_new:
        rows.filter(pk=row.pk).update(records=F("records") + count)
