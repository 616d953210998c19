"""Warnings of a dry run: parts of an acceptable record that the service will not understand as meant.

A warning repeats keys of the record, as the errors of ingest do, but no values.
"""

import uuid
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from django.utils import timezone

from config.errors import Invalid
from config.http import strict_json
from custody.record_types import Indexing
from custody.services import Submission
from decisions import misspellings, record_times, records

MAX_WARNINGS = 100
_MAX_PATH_CHARACTERS = 256
_INDEXED = {
    "decided_at": ("decided_at",),
    "action": ("outcome", "action"),
    "system_name": ("system", "name"),
    "system_version": ("system", "version"),
    "subject_reference": ("subject", "reference"),
}
"""Columns of the index, and the paths of the record that fill them."""


class RecordWarning(NamedTuple):
    """A warning about a record. `where` is a path of the record, "" for the whole."""

    kind: str
    where: str
    sentence: str


Check = Callable[[uuid.UUID, bytes], Iterable[RecordWarning]]
_CHECKS: list[Check] = []


def register_record_check(check: Check) -> None:
    """Call `check` at every dry run. Apps call this from their `ready()`.

    Args:
        check: takes the organization's id and the bytes of an acceptable record, and stores nothing.
    """
    _CHECKS.append(check)


def find(organization_id: uuid.UUID, submission: Submission) -> list[RecordWarning]:
    """Return the first `MAX_WARNINGS` warnings about a record, and a note if there are more."""
    warnings = list(islice(_all(organization_id, submission), MAX_WARNINGS + 1))
    more = RecordWarning("more", "", f"There are more warnings than these {MAX_WARNINGS}: fix some of them first.")
    return warnings if len(warnings) <= MAX_WARNINGS else [*warnings[:MAX_WARNINGS], more]


def with_hint(error: Invalid, raw: bytes) -> Invalid:
    """Return the refusal of a record, naming a probable misspelling of a missing `decision_id`."""
    if error.problems[0]["type"] != "missing":
        return error
    paths = (near.path for near in misspellings.find(strict_json.read(raw)) if near.meant == "decision_id")
    hint = next(paths, None)
    if hint is None:
        return error
    problem = error.problems[0]
    return Invalid([{**problem, "msg": f"{problem['msg']}; {_shortened(hint)} may be a misspelling of it"}])


def _all(organization_id: uuid.UUID, submission: Submission) -> Iterator[RecordWarning]:
    for near in misspellings.find(submission.content):
        sentence = f"{_shortened(near.path)} is not a field of the profile. Rename it if you mean {near.meant}."
        yield RecordWarning("misspelt", _shortened(near.path), sentence)
    for path, fault in record_times.find(submission.content):
        yield RecordWarning("time", _shortened(path), f"{_shortened(path)} {fault}")
    yield from _not_indexed(organization_id, submission)
    for check in _CHECKS:
        yield from check(organization_id, submission.payload)


def _not_indexed(organization_id: uuid.UUID, submission: Submission) -> Iterator[RecordWarning]:
    row = records.index_row(
        Indexing(
            record_id=uuid.UUID(int=0),
            organization_id=organization_id,
            kind=submission.kind,
            content=submission.content,
            received_at=timezone.now(),
            source=submission.source,
        )
    )
    for column, keys in _INDEXED.items():
        if not getattr(row, column):
            path = ".".join(keys)
            sentence = (
                f"{path} {_why_empty(submission.content, keys)}, so lists and filters do not find the record by it."
            )
            yield RecordWarning("not_indexed", path, sentence)


def _why_empty(content: dict[str, Any], keys: tuple[str, ...]) -> str:
    value: Any = content
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    if value is None:
        return "is missing"
    if not isinstance(value, str):
        return "is not a text"
    if not value.strip("\x00"):
        return "is empty"
    return "is not a time with an offset" if keys == ("decided_at",) else "has more than 256 characters"


def _shortened(path: str) -> str:
    return path if len(path) <= _MAX_PATH_CHARACTERS else f"{path[:_MAX_PATH_CHARACTERS]}…"
