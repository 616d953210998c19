"""Problems that an advisory pack lists and lets pass."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from notices.checklist import Case, ElementResult, all_problems
from notices.untold import Untold
from notices.warnings.elements import Words
from notices.warnings.findings import Finding


def findings(
    case: Case, content: Mapping[str, Any], items: Sequence[ElementResult], left_out: Sequence[Untold] | None
) -> Iterator[Finding]:
    if case.pack.advisory:
        for problem in all_problems(case, Words(content, {}), items, left_out):
            if not problem.blocks(case.pack):
                yield Finding(problem.kind, problem.where, problem.sentence)
