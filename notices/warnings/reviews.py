"""Letters about the outcome of a review that leave out why, or what holds now."""

from collections.abc import Iterator, Mapping
from typing import Any

from decisions.record import outcomes
from notices.checklist import Case
from notices.packs.automation import reconsiders
from notices.warnings.findings import Finding, statements

_RESULT = "outcome.result"


def findings(case: Case, content: Mapping[str, Any]) -> Iterator[Finding]:
    if not reconsiders(case.facts.get):
        return
    if not any(statements(content, "main_factors")) and not _pack_asks_why(case):
        sentence = "The letter does not say why the review ended so: write the reviewer's reasons into main_factors."
        yield Finding("review_without_reasons", "main_factors", sentence)
    is_changed = outcomes.kind(case.facts.get(_RESULT)) in ("modified", "overturned")
    cited = (statement.source for statement in statements(content, "decision_summary"))
    if is_changed and not any(source.startswith("outcome.") and source != _RESULT for source in cited):
        sentence = (
            "The review changed the decision, and the letter does not say what holds now: write it into "
            "decision_summary. A record tells it in outcome.action or outcome.changes."
        )
        yield Finding("review_without_change", "decision_summary", sentence)


def _pack_asks_why(case: Case) -> bool:
    """Whether an element of the pack, which has its own finding, asks for the reasons."""
    return any(
        element.where == "main_factors" and element.check == "cited" and not element.paths
        for element in case.pack.elements
        if element.applies_to(case.facts.get)
    )
