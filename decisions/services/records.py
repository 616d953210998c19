"""Ingest of decision records, for the API, the command line and the apps above."""

import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from accounts import audit
from accounts.authority import requires
from accounts.callers import Caller
from accounts.roles import Permission
from config.errors import DomainError, Invalid
from custody.selectors import Receipt
from custody.services import GroupStore, Status, StoreResult, Submission, store_records
from decisions import records

CHUNK = 100
"""Records in a bulk transaction: enough to share a commit, few enough to answer early."""
_CHUNK_BYTES = 2**20  # parsed, a record takes up to thirty times its size

INVALID = "invalid"
"""The status of a line that is no acceptable record. The other statuses are custody's."""


class RecordConflict(DomainError):
    """A record with this decision id and other content is in custody."""

    code = "record_conflict"
    sentence = (
        "A record of this decision_id with other content is in custody, and a record is never replaced. "
        "Nothing was stored. Give a new decision its own decision_id."
    )


@dataclass(frozen=True, slots=True)
class Acceptance:
    """A record in custody. `is_new` if this call stored it. There is no receipt while the record is queued."""

    decision_id: str
    record_id: uuid.UUID
    receipt: Receipt | None
    is_new: bool


@dataclass(frozen=True, slots=True)
class Line:
    """The result of one line of a bulk ingest. Lines count from 1. `detail` says why a line was not taken; for an
    invalid line it is a list of problems, as in a validation error. `is_new` if this call stored the record. A signed
    record has a `receipt`."""

    number: int
    status: Status | str
    decision_id: str | None = None
    record_id: uuid.UUID | None = None
    detail: str | list[Mapping[str, Any]] | None = None
    is_new: bool = False
    receipt: Receipt | None = None


@requires(Permission.INGEST_RECORDS)
def ingest(*, caller: Caller, raw: bytes, source: str) -> Acceptance:
    """Take one record into custody and the index. The same content again is answered with the first receipt.

    Args:
        raw: the record's exact bytes.
        source: the origin of the record, as lists filter it, such as `api`.

    Raises:
        Invalid: the bytes are no acceptable record; nothing is stored.
        RecordConflict: another record has this decision id; the attempt is in the audit trail.
        DisposedConflict: the record with this decision id was disposed of.
        Fault: the record is not known to be in custody now.
    """
    submission = records.submission(raw, source)
    (result,) = store_records(organization_id=caller.organization_id, submissions=[submission])
    return _acceptance(caller, submission, result)


@requires(Permission.INGEST_RECORDS)
async def ingest_in_group(*, caller: Caller, raw: bytes, source: str, store: GroupStore) -> Acceptance:
    """Take a new record into custody from an event loop.

    Raises:
        Undecided: the record is not new, or storing it failed. `ingest` decides.
        Invalid: the bytes are no acceptable record.
        Fault, django.db.Error: as `GroupStore.store`.
    """
    submission = records.submission(raw, source)
    return _acceptance(caller, submission, await store.store(caller.organization_id, submission))


def _acceptance(caller: Caller, submission: Submission, result: StoreResult) -> Acceptance:
    if result.fault:
        raise result.fault
    if result.status is Status.CONFLICT:
        _record_conflict(caller, result, submission.source)
        raise RecordConflict
    return Acceptance(submission.identity, result.record_id, result.receipt, result.is_new)


@requires(Permission.INGEST_RECORDS)
def ingest_lines(*, caller: Caller, lines: Iterable[bytes], source: str) -> Iterator[Line]:
    """Ingest many records, one JSON object a line, a chunk at a time. Blank lines are skipped.

    A refused line does not stop the lines after it.

    Yields:
        One `Line` for each line, in order: created, queued, replayed, conflict, disposed, unavailable or
        invalid.
    """
    numbered = ((number, line.rstrip(b"\r\n")) for number, line in enumerate(lines, start=1))
    present = ((number, line) for number, line in numbered if line.strip())
    for chunk in _chunks(present):
        yield from _ingest_chunk(caller, chunk, source)


def _chunks(numbered: Iterable[tuple[int, bytes]]) -> Iterator[list[tuple[int, bytes]]]:
    chunk: list[tuple[int, bytes]] = []
    size = 0
    for number, line in numbered:
        chunk.append((number, line))
        size += len(line)
        if len(chunk) == CHUNK or size >= _CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _ingest_chunk(caller: Caller, chunk: list[tuple[int, bytes]], source: str) -> Iterator[Line]:
    answers: dict[int, Line] = {}
    good: list[tuple[int, Submission]] = []
    for number, raw in chunk:
        try:
            good.append((number, records.submission(raw, source)))
        except Invalid as error:
            answers[number] = Line(number, INVALID, detail=error.problems)
    submissions = [submission for _, submission in good]
    results = store_records(organization_id=caller.organization_id, submissions=submissions) if good else []
    for (number, submission), outcome in zip(good, results, strict=True):
        if outcome.status is Status.CONFLICT:
            _record_conflict(caller, outcome, source)
        answers[number] = Line(
            number,
            outcome.status,
            submission.identity,
            outcome.record_id,
            _detail(outcome),
            outcome.is_new,
            outcome.receipt,
        )
    return (answers[number] for number, _ in chunk)


def _detail(result: StoreResult) -> str | None:
    if result.status is Status.CONFLICT:
        return "Another record of this decision_id is in custody; a record is never replaced."
    return result.fault.sentence if result.fault else None


def _record_conflict(caller: Caller, result: StoreResult, source: str) -> None:
    audit.record(
        "record.conflict",
        actor=caller.actor,
        organization_id=caller.organization_id,
        object_kind="record",
        object_id=result.record_id,
        source=source,
    )
