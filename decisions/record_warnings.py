"""What a dry run warns of: records that are taken as they are, and of which less is understood than was meant.

No value of the record is repeated; keys are, as in the errors of ingest.
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

MOST = 100
_LONGEST = 256
_INDEXED = {
    "decided_at": ("decided_at",),
    "action": ("outcome", "action"),
    "system_name": ("system", "name"),
    "system_version": ("system", "version"),
    "subject_reference": ("subject", "reference"),
}
"""Columns of the index that records fill, and from where."""


class RecordWarning(NamedTuple):
    """`where` is a path of the record, "" for the whole."""

    kind: str
    where: str
    sentence: str


Check = Callable[[uuid.UUID, bytes], Iterable[RecordWarning]]
_CHECKS: list[Check] = []


def register_record_check(check: Check) -> None:
    """Ask `check` whenever a record is tried; apps call this from their `ready()`.

    Args:
        check: takes the organization's id and the bytes of an acceptable record, and keeps nothing.
    """
    _CHECKS.append(check)


def find(organization_id: uuid.UUID, submission: Submission) -> list[RecordWarning]:
    """The first hundred warnings about a record."""
    found = list(islice(_all(organization_id, submission), MOST + 1))
    more = RecordWarning("more", "", f"There are more warnings than these {MOST}: mend some of them first.")
    return found if len(found) <= MOST else [*found[:MOST], more]


def explained(error: Invalid, raw: bytes) -> Invalid:
    """The refusal of a record without a `decision_id`, which names a key that is almost that."""
    if error.problems[0]["type"] != "missing":
        return error
    near = (each.path for each in misspellings.find(strict_json.read(raw)) if each.meant == "decision_id")
    hint = next(near, None)
    if hint is None:
        return error
    problem = error.problems[0]
    return Invalid([{**problem, "msg": f"{problem['msg']}; {_shortened(hint)} may be a misspelling of it"}])


def _all(organization_id: uuid.UUID, submission: Submission) -> Iterator[RecordWarning]:
    for near in misspellings.find(submission.content):
        sentence = f"{_shortened(near.path)} is no field of the profile; {near.meant} is. Rename it if that is meant."
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
        return "is no text"
    if not value.strip("\x00"):
        return "is empty"
    return "is no time with an offset" if keys == ("decided_at",) else "has more than 256 characters"


def _shortened(path: str) -> str:
    return path if len(path) <= _LONGEST else f"{path[:_LONGEST]}…"
