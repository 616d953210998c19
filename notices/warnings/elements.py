"""Elements of the pack that are missing and do not block: guidance, a law not in force yet, a letter too late.

And those that would block, of which somebody said that they do not apply.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from notices.checklist import Case, ElementResult, check
from notices.warnings.findings import Finding

_NOT_MET = {"sent_before": "too late", **dict.fromkeys(("forbidden_phrase", "max_items", "readers_language"), "no")}
"""What is not simply missing."""
_LONGEST_REASON = 300


@dataclass(frozen=True, slots=True)
class Words:
    """A content as a revision that was not saved."""

    content: Mapping[str, Any]
    not_applicable: Mapping[str, str]
    cited: Mapping[str, str] = field(default_factory=dict)


def checked(case: Case, content: Mapping[str, Any], not_applicable: Mapping[str, str]) -> list[ElementResult]:
    return check(case, Words(content, not_applicable))


def findings(case: Case, items: Iterable[ElementResult]) -> Iterator[Finding]:
    """
    Args:
        items: those that are missing.
    """
    for item in items:
        element = case.pack.element(item.id)
        if not item.blocks and not element.advice:
            sentence = f"{item.label}: {_NOT_MET.get(element.check, 'missing')} ({item.citation})."
            yield Finding("missing_element", item.where, sentence, (item.id,))


def waived(items: Iterable[ElementResult]) -> Iterator[Finding]:
    """What the law asks for, and one person alone said that it does not here."""
    for item in items:
        if item.reason and item.blocks:
            told = item.reason if len(item.reason) <= _LONGEST_REASON else f"{item.reason[:_LONGEST_REASON]}…"
            sentence = f"{item.label} ({item.citation}) is said not to apply, so the letter need not have it: “{told}”."
            yield Finding("waived_element", item.where, sentence, (item.id, item.reason))
