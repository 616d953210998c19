"""Warnings do not block approval, but need a person's eye. Under a law an approver acknowledges each."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from types import MappingProxyType
from typing import Any

from notices.checklist import MISSING, Case, ElementResult
from notices.localization.sentences import one_line
from notices.packs import Pack
from notices.untold import Untold
from notices.warnings import (
    advice,
    cited,
    consumer_report,
    decided_by,
    elements,
    enumerations,
    in_force,
    language,
    law,
    national_law,
    outcome,
    reasons,
    reviews,
    rights,
    times,
    values,
    withheld,
    wording,
)
from notices.warnings.findings import Finding

__all__ = ["MOST", "ApprovalWarning", "find", "problems"]

MOST = 1000
"""Warnings that are told of one notice. Nobody reads more."""
_RULES = (
    values.findings,  # first, with the next: sentences a person wrote
    cited.findings,
    times.findings,
    in_force.findings,
    national_law.findings,
    decided_by.findings,
    rights.findings,
    outcome.findings,
    reviews.findings,
    law.findings,
    enumerations.findings,
    consumer_report.findings,
    language.findings,
    withheld.findings,
    wording.findings,
)
_MORE = Finding("more", "", f"There is more to look at than these {MOST} warnings: mend some of it first.")


@dataclass(frozen=True, slots=True)
class ApprovalWarning:
    """`id` belongs to these words: whoever acknowledges it has seen them, and no others.

    `where` is the path of what it is about in the content, as in `main_factors.0`.
    """

    id: str
    sentence: str
    where: str

    @property
    def line(self) -> str:
        """As lists tell it; what is about the whole has no place."""
        return f"{self.where}: {self.sentence}" if self.where else self.sentence

    def as_json(self) -> dict[str, str]:
        return asdict(self)


def find(
    case: Case,
    content: Mapping[str, Any],
    not_applicable: Mapping[str, str] = MappingProxyType({}),
    items: Sequence[ElementResult] | None = None,
    left_out: Sequence[Untold] | None = None,
) -> list[ApprovalWarning]:
    """Return the warnings about a content: for the same record, pack, words and day always the same.

    Args:
        not_applicable: ids of elements that do not apply, each with the reason. Those that would block are warnings.
        items, left_out: as `checklist.check` and `checklist.untold_fields` give them; None computes them.
    """
    checked = elements.checked(case, content, not_applicable) if items is None else items
    findings = list(islice(_findings(case, content, checked, left_out), MOST + 1))
    return list(map(_warning, findings if len(findings) <= MOST else [*findings[:MOST], _MORE]))


def problems(pack: Pack, warnings: Sequence[ApprovalWarning]) -> list[str]:
    """Return what of the warnings blocks approval: that there are more than are listed. An advisory pack lets it pass.

    Args:
        warnings: as `find` gives them.
    """
    return [] if pack.advisory else [warning.sentence for warning in warnings[MOST:]]


def _findings(
    case: Case, content: Mapping[str, Any], checked: Sequence[ElementResult], left_out: Sequence[Untold] | None
) -> Iterator[Finding]:
    yield from advice.findings(case, content, checked, left_out)
    for rule in _RULES:
        yield from rule(case, content)
    missing = [item for item in checked if item.result == MISSING]
    yield from reasons.findings(case, content, [case.pack.element(item.id) for item in missing if item.blocks])
    yield from elements.findings(case, missing)
    yield from elements.waived(checked)


def _warning(finding: Finding) -> ApprovalWarning:
    sentence = one_line(finding.sentence)
    seen = "\n".join((finding.where, sentence, *finding.words))
    digest = hashlib.sha256(seen.encode(errors="surrogatepass")).hexdigest()
    return ApprovalWarning(f"{finding.kind}-{digest[:12]}", sentence, finding.where)
