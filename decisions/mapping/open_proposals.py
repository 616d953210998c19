"""Proposals of a mapping from sample records, which a person completes until a version has their entries."""

import uuid
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Any

from django.db import transaction

from accounts.authority import requires
from accounts.callers import Caller
from accounts.roles import Permission
from config import leases
from config.celery import wake
from config.errors import DomainError
from decisions.mapping import readings, services
from decisions.mapping.models import Mapping, MappingProposal, MappingVersion
from decisions.mapping.suggest import Proposal, propose
from decisions.record.meanings import MAX_ENTRIES, Entry
from decisions.record.walk import Table

MIN_SAMPLES, MAX_SAMPLES = 20, 10_000
MAX_BYTES = 256 * 2**20
MAX_AT_ONCE = 200
"""Samples that a request reads. A worker reads more."""
_MAX_KEPT = 20  # proposals of an organization
_MAX_ATTEMPTS = 3
_LASTS = timedelta(minutes=5)
_STEP = 100  # samples between two reports of progress

Row = dict[str, Any]


class NoSamples(DomainError):
    """Custody has no readable record of the system."""

    code, status = "no_samples", 422
    sentence = "There is no record of this system in custody that can be read. Paste sample records instead."


class NoEntries(DomainError):
    """No field has a meaning yet."""

    code, status = "no_entries", 422
    sentence = "Say what at least one field means."


class TooManyEntries(DomainError):
    """More fields have a meaning than a mapping may have entries."""

    code, status = "too_many_entries", 422
    sentence = f"A mapping has at most {MAX_ENTRIES} entries. Leave out fields, or use * through the API."


@requires(Permission.MANAGE_NOTICES)
def start(
    *,
    caller: Caller,
    name: str,
    system_name: str,
    languages: Sequence[str],
    mapping: Mapping | None = None,
    samples: int = MAX_AT_ONCE,
    records: Sequence[dict[str, Any]] = (),
) -> MappingProposal:
    """Start a proposal from sample records, or from the newest records of a system in custody. A worker reads more than
    MAX_AT_ONCE.

    Args:
        mapping: the mapping that gets a new version, or None for a new mapping.

    Raises:
        NoSamples
    """
    proposals = MappingProposal.objects.for_organization(caller.organization_id)
    old = list(proposals.order_by("-pk").values_list("pk", flat=True)[_MAX_KEPT - 1 :])
    proposals.filter(pk__in=old).delete()
    columns = {"name": name, "system_name": system_name, "languages": list(languages), "mapping": mapping}
    proposal = MappingProposal(organization_id=caller.organization_id, samples=len(records) or samples, **columns)
    if records or samples <= MAX_AT_ONCE:
        read = records or list(readings.samples(caller.organization_id, system_name, samples, MAX_BYTES))
        if not read:
            raise NoSamples
        proposal.rows, proposal.samples_read = rows(read, _entries(newest_version(mapping))), len(read)
    proposal.save()
    if proposal.rows is None:
        wake("decisions.tasks.propose_mappings")
    return proposal


def work() -> None:
    """Fill the proposals that wait for a worker."""
    waiting = MappingProposal.objects.unscoped("a worker's queue").filter(rows__isnull=True, attempts__lt=_MAX_ATTEMPTS)
    for proposal in leases.claim_each(waiting, lasts=_LASTS, seconds=_LASTS.total_seconds()):
        samples = readings.samples(proposal.organization_id, proposal.system_name, proposal.samples, MAX_BYTES)
        try:
            listed = rows(_with_progress(proposal, samples), _entries(newest_version(proposal.mapping)))
            leases.complete(proposal, rows=listed, samples_read=proposal.samples_read)
        except leases.LeaseLost:
            continue


def has_failed(proposal: MappingProposal) -> bool:
    """Whether no worker could fill a proposal."""
    return proposal.rows is None and proposal.attempts >= _MAX_ATTEMPTS


def rows(samples: Iterable[dict[str, Any]], entries: Sequence[Entry]) -> list[Row]:
    """Return a row for each field of sample records, those with a question first.

    Args:
        entries: the entries of the mapping so far. A field that one covers needs no proposal.
    """
    table, covered = Table(entries), dict[str, str]()
    proposals = propose(_noting(samples, table, covered))
    listed = [
        _row(proposal, covered.get(proposal.field.path, ""))
        for proposal in proposals
        if "\x00" not in proposal.field.path  # PostgreSQL cannot store it
    ]
    return sorted(listed, key=lambda row: not (row["question"] and not row["covered_by"]))


def newest_version(mapping: Mapping | None) -> MappingVersion | None:
    """Return the newest version of a mapping, or None without a mapping."""
    return mapping.versions.order_by("-number").first() if mapping else None


def current(proposal: MappingProposal, newest: MappingVersion | None) -> list[Entry]:
    """Return the current entries: those of the mapping's newest version, and until a version is saved also the
    proposed ones that leave no question open."""
    entries = {entry.path: entry for entry in _entries(newest)}
    if not proposal.is_saved:
        for row in proposal.rows or []:
            if row["entry"] and not row["question"] and not row["covered_by"]:
                entries[row["path"]] = Entry.model_validate(row["entry"])
    return list(entries.values())


@requires(Permission.MANAGE_NOTICES)
def save(*, caller: Caller, proposal: MappingProposal, entries: Sequence[Entry]) -> MappingVersion:
    """Save entries as a version that waits for its confirmation.

    Raises:
        NameTaken
        NoEntries
        TooManyEntries
    """
    if not entries:
        raise NoEntries
    if len(entries) > MAX_ENTRIES:
        raise TooManyEntries
    with transaction.atomic():
        if proposal.mapping:
            version = services.propose(caller=caller, mapping=proposal.mapping, entries=entries)
        else:
            selects = {"system_name": proposal.system_name}
            version = services.create(caller=caller, name=proposal.name, entries=entries, **selects)
        explained = {entry.path for entry in entries}
        proposal.mapping, proposal.is_saved = version.mapping, True
        proposal.unexplained = sum(not is_explained(row, explained) for row in proposal.rows or [])
        proposal.save(update_fields=["mapping", "is_saved", "unexplained"])
    return version


def is_explained(row: Row, paths: Collection[str]) -> bool:
    """Whether one of the entries with these paths covers a field."""
    return row["path"] in paths or row["covered_by"] in paths


def newest_sample(organization_id: uuid.UUID, system_name: str) -> dict[str, Any] | None:
    """Return the newest record of a system in custody, or None."""
    return next(readings.samples(organization_id, system_name, 1, MAX_BYTES), None) if system_name else None


def _entries(newest: MappingVersion | None) -> list[Entry]:
    return [Entry.model_validate(entry) for entry in newest.entries] if newest else []


def _noting(samples: Iterable[dict[str, Any]], table: Table, covered: dict[str, str]) -> Iterator[dict[str, Any]]:
    """Yield samples, and note in `covered` the fields that an entry covers, each with the path of the entry."""
    for record in samples:
        for scalar in table.walk(record):
            if scalar.entry:
                covered[scalar.general] = scalar.entry.path
        yield record


def _with_progress(proposal: MappingProposal, samples: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield samples, and report after every _STEP how many were read. Raises LeaseLost."""
    for count, record in enumerate(samples, start=1):
        proposal.samples_read = count
        if count % _STEP == 0:
            leases.renew(proposal, lasts=_LASTS, samples_read=count)
        yield record


def _row(proposal: Proposal, covered_by: str) -> Row:
    field = proposal.field
    return {
        "path": field.path,
        "records": field.records,
        "kind": field.kind,
        "examples": [example.replace("\x00", "") for example in field.examples],
        "codes": [code for code in proposal.codes if "\x00" not in code],
        "why": proposal.why,
        "question": proposal.question.replace("\x00", ""),
        "entry": proposal.entry,
        "covered_by": covered_by,
    }
