"""Results of checking a notice against its record, stored as bytes."""

import zlib
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pydantic import TypeAdapter

from decisions.mapping.builtin import Proposal
from notices import checklist, deadlines, untold, warnings
from notices.checklist import Case, Citation, ElementResult, Revision
from notices.deadlines import Deadline
from notices.readability import Readabilities, readability_of
from notices.untold import Untold
from notices.warnings import ApprovalWarning

MAX_PROPOSALS = 100
"""Proposals that an answer or a page shows."""


@dataclass(frozen=True, slots=True)
class Proposed:
    """A proposed entry of a mapping, with the question that a person answers before confirming it."""

    path: str
    entry: dict[str, Any] | None
    why: str
    question: str

    @classmethod
    def of(cls, proposal: Proposal) -> "Proposed":
        return cls(proposal.field.path, proposal.entry, proposal.why, proposal.question)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The parts of a check that answers and pages show."""

    elements: list[ElementResult]
    citations: list[Citation]
    problems: list[str]
    warnings: list[ApprovalWarning]
    untold: list[Untold]
    proposals: list[Proposed]
    """Proposed entries for the fields that no one has explained."""
    deadlines: list[Deadline]
    """Deadlines of the pack, soonest first."""
    readability: Readabilities


def check(case: Case, revision: Revision, *, is_open: bool = True) -> CheckResult:
    """Check a revision. The longest records take seconds of CPU.

    Args:
        is_open: whether the notice can still change. A finished notice has its warnings in the approval.
    """
    content = revision.content
    items, left_out = checklist.check(case, revision), checklist.untold_fields(case, content)
    listed = warnings.find(case, content, revision.not_applicable, items, left_out) if is_open else []
    return CheckResult(
        elements=items,
        citations=checklist.citations(case.facts, content, revision.cited),
        problems=[*checklist.problems(case, revision, items, left_out), *warnings.problems(case.pack, listed)],
        warnings=listed,
        untold=left_out[: untold.MOST],
        proposals=[Proposed.of(item) for item in case.facts.proposals[:MAX_PROPOSALS]] if is_open else [],
        deadlines=deadlines.compute(case.pack, case.facts, received_at=case.received_at),
        readability=readability_of(content, case.pack, str(content["language"])),
    )


def holds_until(case: Case) -> datetime | None:
    """Return when the result of a check expires: at the next deadline that an element names."""
    due = (checklist.deadline_of(case, element) for element in case.pack.elements if element.check == "sent_before")
    ahead = [deadline.due_at for deadline in due if deadline and deadline.due_at >= datetime.now(UTC)]
    return min(ahead, default=None)


_ADAPTER = TypeAdapter(CheckResult)


def packed(result: CheckResult) -> bytes:
    """Return a result as bytes, because a text column of PostgreSQL cannot hold NUL. Numbers of the record become text,
    as answers and pages show them."""
    return zlib.compress(_ADAPTER.dump_json(result), 1)


def unpacked(result: bytes) -> CheckResult:
    """Return the result from the bytes of `packed`."""
    return _ADAPTER.validate_json(zlib.decompress(result))
